"""Building and finding the virtual-time kernel, all but the compilation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from begun_runs import INTERRUPTIBLE

from dumbbell.exceptions import BackendError
from dumbbell.kernel import build, find, installed
from dumbbell.kernel.uml import patch, source, store, tools
from dumbbell.kernel.uml.build_folder import clean_builds
from dumbbell.kernel.uml.patch import EDITS, Edit
from required import require, require_programs
from waiting import is_alive, wait_until


def a_kernel(cache: Path, version: str, key: str) -> Path:
    place = cache / "kernel" / f"{version}-{key}"
    place.mkdir(parents=True)
    (place / "linux").write_text("#!/bin/sh\n")
    (place / "linux").chmod(0o755)
    (place / "kernel.json").write_text(json.dumps({"version": version, "key": key}))
    return place / "linux"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path))
    monkeypatch.setattr(store, "SYSTEM", tmp_path / "nowhere")
    return tmp_path


def test_the_newest_kernel_of_this_configuration_is_taken(cache: Path) -> None:
    with pytest.raises(BackendError, match="dumbbell kernel build"):
        find()
    a_kernel(cache, "6.12.99", store.key())
    newest = a_kernel(cache, "6.12.117", store.key())
    a_kernel(cache, "6.12.200", "of another")
    broken = a_kernel(cache, "6.12.150", store.key())
    broken.chmod(0o644)
    cut = a_kernel(cache, "6.12.160", store.key())
    about = {"version": "6.12.160", "key": store.key(), "bytes": cut.stat().st_size + 1}
    cut.with_name("kernel.json").write_text(json.dumps(about))
    assert [k.version for k in installed()] == ["6.12.117", "6.12.99"]
    assert find().path == newest
    # An existing kernel isn't built again.
    assert build().path == newest


def test_the_key_is_a_hash_of_configuration_and_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.key()
    changed = (*EDITS[:-1], Edit(EDITS[-1].path, EDITS[-1].anchor, EDITS[-1].replacement + "\n"))
    monkeypatch.setattr(store, "EDITS", changed)
    assert store.key() != before


def test_an_edit_needs_its_anchor_exactly_once(tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    edit = (Edit("f.c", "one;", "two;"),)
    for text, found in (("no;", 0), ("one; one;", 2)):
        file.write_text(text)
        with pytest.raises(BackendError, match=rf"f\.c: 'one;' occurs {found} times"):
            patch.apply(tmp_path, edit)
        assert file.read_text() == text
    file.write_text("int a; one; int b;")
    patch.apply(tmp_path, edit)
    assert file.read_text() == "int a; two; int b;"


def test_missing_tools_are_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    there = {tool for tool in tools.TOOLS if tool not in ("flex", "bc")} | {"apt-get"}
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name in there else None)
    monkeypatch.setattr(tools, "_compiles", lambda: False)
    with pytest.raises(BackendError, match="flex, bc, libc6-dev: run `apt-get install flex bc libc6-dev` as root"):
        build()
    assert not list(cache.iterdir())


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(BackendError, match="x86-64 only, this is aarch64"):
        build()


def test_a_source_of_another_series_is_refused(tmp_path: Path) -> None:
    tree = tmp_path / "linux-6.1.5"
    (tree / "arch" / "um").mkdir(parents=True)
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 5\nEXTRAVERSION =\n")
    assert source.version_of(tree) == "6.1.5"
    archive = tmp_path / "linux.tar"
    assert os.system(f"tar -C {tmp_path} -cf {archive} linux-6.1.5") == 0
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(BackendError, match=r"Linux 6\.1\.5 given: 6\.12 is needed"):
        source.obtain(into, archive, into)
    with pytest.raises(BackendError, match="no such file"):
        source.obtain(into, tmp_path / "absent.tar.xz", into)


BUILDS = """
import subprocess, sys
from pathlib import Path
from dumbbell.kernel.uml.build_folder import build_folder, die_with_parent
with build_folder(Path(sys.argv[1])) as work:
    (work / "tree").write_text("1.3 GB")
    child = subprocess.Popen(["sleep", "1000"], preexec_fn=die_with_parent)
    print(work, child.pid, flush=True)
    sys.stdin.read()
"""


def test_a_killed_build_leaves_neither_folder_nor_process(tmp_path: Path) -> None:
    require_programs("sleep")

    def begun() -> tuple[subprocess.Popen[str], Path, int]:
        command = [sys.executable, "-c", BUILDS, str(tmp_path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        folder, child = process.stdout.readline().split()
        return process, Path(folder), int(child)

    killed, left, child = begun()
    killed.kill()
    killed.communicate()
    assert left.is_dir()
    wait_until(lambda: not is_alive(child))
    # The next build removes what the killed one left, but not what another one uses.
    other, used, _ = begun()
    assert not left.exists()
    third, _, _ = begun()
    assert used.is_dir()
    for process in (other, third):
        process.communicate()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def slow_tar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `tar` into the path that begins to unpack and doesn't end; returns the file for its process number."""
    programs, began = tmp_path / "programs", tmp_path / "began"
    programs.mkdir()
    script = f"""#!/bin/sh
while [ "$1" != -C ]; do shift; done
touch "$2/unpacked"
echo $$ > {began}.new
mv {began}.new {began}
exec sleep 1000
"""
    (programs / "tar").write_text(script)
    (programs / "tar").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return began


@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_ended_build_leaves_nothing_that_clean_does_not_remove(
    which: signal.Signals, slow_tar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("uml", tools.unsupported() or (tools.remedy(tools.missing()) if tools.missing() else None))
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    source_file = tmp_path / "linux.tar"
    source_file.touch()
    command = [*INTERRUPTIBLE, "kernel", "build", "--again", "--source", str(source_file)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_until(slow_tar.exists, process)
    unpacking = int(slow_tar.read_text())
    place = tmp_path / "cache" / "kernel"
    assert [p.name for p in place.glob(".build-*/*")].count("unpacked") == 1
    process.send_signal(which)
    _, printed = process.communicate()
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[which]
    assert "Traceback" not in printed
    wait_until(lambda: not is_alive(unpacking))
    if which == signal.SIGKILL:
        (left,) = place.iterdir()
        done = subprocess.run([sys.executable, "-m", "dumbbell", "clean"], capture_output=True, text=True, check=True)
        assert f"removed {left}" in done.stderr
    assert list(place.iterdir()) == []


def test_a_build_that_is_killed_before_it_has_a_lock_is_removed_too(tmp_path: Path) -> None:
    (tmp_path / ".build-new").mkdir()
    (tmp_path / ".build-with").mkdir()
    (tmp_path / ".build-with" / "tree").touch()
    (tmp_path / "6.12.1-key").mkdir()
    assert clean_builds(tmp_path) == [tmp_path / ".build-new", tmp_path / ".build-with"]
    assert [p.name for p in tmp_path.iterdir()] == ["6.12.1-key"]
    assert clean_builds(tmp_path / "absent") == []
