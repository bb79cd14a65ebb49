"""Folders of runs: those of killed runs are removed, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dumbbell.common import run_folders
from dumbbell.common.run_folders import (
    HOST_PREFIX,
    MARKER,
    UML_PREFIX,
    Folder,
    _locked_file,
    clean,
    is_locked,
    left_behind,
)
from dumbbell.exceptions import BackendError
from kernels import one_flow
from required import require_programs, require_root

PROGRAM = Path(sys.executable).resolve()
MAKES = """
import sys
from pathlib import Path
from dumbbell.common.run_folders import UML_PREFIX, Folder
folder = Folder(UML_PREFIX, Path(sys.executable).resolve())
print(folder.path, flush=True)
sys.stdin.read()
"""
"""A process with a folder; it ends when its stdin does."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for temporary files of this test alone."""
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    tempfile.tempdir = None


def holder() -> tuple[subprocess.Popen[str], Path]:
    """Start a process that has a folder."""
    process = subprocess.Popen([sys.executable, "-c", MAKES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def killed() -> Path:
    """Return the folder of a killed process."""
    process, folder = holder()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return folder


def ended(program: str, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; children of a background job inherit its ignored SIGINT."""
    command = ["env", "--default-signal=INT", sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_folders_of_killed_processes_are_removed() -> None:
    folder = killed()
    (folder / "result.json").write_text("{}")
    assert [left.place for left in left_behind()] == [folder]
    assert [left.place for left in clean()] == [folder]
    assert not folder.exists()
    assert clean() == []


def test_folders_of_living_processes_stay() -> None:
    process, theirs = holder()
    mine = Folder(HOST_PREFIX, PROGRAM)
    assert clean() == []
    assert mine.path.is_dir()
    assert theirs.is_dir()
    mine.remove()
    process.communicate()
    assert not mine.path.exists()
    assert not theirs.exists()


def test_living_processes_of_another_process_namespace_are_seen() -> None:
    """There the numbers of processes differ: the owner's number is nobody's, or another process's."""
    require_root()
    require_programs("unshare")
    process, theirs = holder()
    within = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-m", "dumbbell", "clean"]
    done = subprocess.run(within, capture_output=True, text=True, check=True)
    assert theirs.is_dir(), done.stdout + done.stderr
    process.communicate()


def test_folders_that_only_look_alike_stay(place: Path) -> None:
    orphan = killed()
    mark = (orphan / MARKER).read_text()
    names = [f"{HOST_PREFIX}99999-notes", f"{UML_PREFIX}{2**22 + 1}-x", f"{UML_PREFIX}copy", f"{UML_PREFIX}text"]
    for name in names:
        (place / name).mkdir()
    (place / f"{UML_PREFIX}copy" / MARKER).write_text(mark)  # of another folder
    (place / f"{UML_PREFIX}text" / MARKER).write_text("not ours")
    # A FIFO blocked every run of every user: reading it waits for a writer.
    fifos = [place / f"{HOST_PREFIX}5-x" / MARKER, place / f"{HOST_PREFIX}6-x{MARKER}"]
    for fifo in fifos:
        fifo.parent.mkdir(exist_ok=True)
        os.mkfifo(fifo)
    assert not is_locked(fifos[0].parent)
    linked = place / f"{UML_PREFIX}link"
    linked.symlink_to(orphan)
    assert [left.place for left in clean()] == [orphan]
    assert all((place / name).is_dir() for name in names)
    assert linked.is_symlink()
    assert all(fifo.is_fifo() for fifo in fifos)


def test_other_users_folders_stay() -> None:
    require_root()
    folder = killed()
    os.chown(folder, 65534, 65534)
    os.chown(folder / MARKER, 65534, 65534)
    assert clean() == []
    assert folder.is_dir()


def test_only_processes_of_the_run_are_killed() -> None:
    folder = killed()
    require_programs("sleep")
    stranger = subprocess.Popen(["sleep", "1000"], cwd=folder)
    ours = subprocess.Popen([PROGRAM, "-c", "import sys; sys.stdin.read()"], cwd=folder, stdin=subprocess.PIPE)
    assert [left.processes for left in left_behind()] == [(ours.pid,)]
    clean()
    ours.communicate()
    assert ours.returncode == -signal.SIGKILL
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()
    assert not folder.exists()


def test_the_marker_is_locked_before_it_has_its_name(place: Path) -> None:
    folder = Folder(UML_PREFIX, PROGRAM)
    about = json.loads((folder.path / MARKER).read_text())
    identity = PROGRAM.stat()
    assert about == {"folder": folder.path.name, "programs": [[identity.st_dev, identity.st_ino]]}
    assert [p.name for p in folder.path.iterdir()] == [MARKER]
    assert (folder.path / MARKER).stat().st_mode & 0o777 == 0o600
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.remove()
    assert list(place.iterdir()) == []


READS_PACKETS = """
import os, signal, sys
import dumbbell
from dumbbell.capture import analyze

scenario, out, end = sys.argv[1:]
if not os.path.exists(out):
    dumbbell.run(scenario, out=out)
captures = dumbbell.Results.load(out).captures(0)
for _ in range(2):
    assert analyze([captures["sender"]]).packets.collect().height > 0
if end == "fails":
    raise SystemExit(3)
if end != "ends":
    os.kill(os.getpid(), getattr(signal, end))
"""


def test_packets_of_captures_are_removed_with_the_program_or_by_the_next_one(place: Path) -> None:
    scenario = one_flow("captured", "1 s", rate="1 Mbit/s", limit="10 packets", capture=["sender"])
    (place / "s.toml").write_text(scenario.to_toml())
    ends = {"ends": 0, "fails": 3, "SIGINT": -signal.SIGINT, "SIGKILL": -signal.SIGKILL, "SIGTERM": -signal.SIGTERM}
    for end, code in ends.items():
        done = ended(READS_PACKETS, place / "s.toml", place / "out", end)
        assert done.returncode == code, done.stderr
        left = [p.name for p in place.glob("dumbbell-*")]
        # The packets of one analysis, and of the other.
        assert len(left) == (2 if end in ("SIGKILL", "SIGTERM") else 0)
    assert len(clean()) == 2


IN_LAB = """
import os, signal, sys
from dumbbell.common.run_folders import LAB_PREFIX, directory
from dumbbell.studies.labs import own_runs

class Seen:
    def __init__(self, assigned, folder):
        assert folder.parent == directory() and folder.name.startswith(LAB_PREFIX)
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))

class Module:
    @staticmethod
    def figures(runs):
        return {}

class Lab:
    class lab:
        module = "there"

own_runs.import_module = lambda name: Module
own_runs.OwnRuns = Seen
own_runs.figures_of(Lab)
"""
"""A lab that is ended while its figures are computed."""


def test_folders_of_killed_labs_are_removed(place: Path) -> None:
    for which in ("SIGINT", "SIGKILL"):
        done = ended(IN_LAB, which)
        assert done.returncode == -getattr(signal, which), done.stderr
    assert [left.place.name.startswith("dumbbell-lab-") for left in clean()] == [True]
    assert not list(place.glob("dumbbell-lab-*"))


HAS_FILES = """
import os, signal, sys
from dumbbell import Scenario
from dumbbell.scenario.worker_copy import WorkerCopy

scenario = Scenario.load(sys.argv[1])
assert scenario.cells.properties.problems == []
made = WorkerCopy.with_contents(scenario).scenario()
assert made.places.stored["rates.trace"].read_text() == "1\\n"
os.kill(os.getpid(), getattr(signal, sys.argv[2]))
"""
"""A worker on another machine that ends with the files of a scenario."""


def test_the_files_of_workers_are_removed_with_them_or_by_the_next_one(place: Path) -> None:
    (place / "rates.trace").write_text("1\n")
    text = one_flow("files", "1 s", rate="1 Mbit/s", limit="10 packets").to_toml()
    (place / "s.toml").write_text(text.replace('rate = "1 Mbit/s"', 'rate = { trace = "rates.trace" }', 1))
    for which, left in (("SIGINT", 0), ("SIGKILL", 1), ("SIGKILL", 1)):
        done = ended(HAS_FILES, place / "s.toml", which)
        assert done.returncode == -getattr(signal, which), done.stderr
        # The second worker that is killed has removed the folder of the first.
        assert len(list(place.glob("dumbbell-*"))) == left
    assert [found.place.name.startswith("dumbbell-files-") for found in clean()] == [True]


KILLED_AT = """
import os, signal, sys
from pathlib import Path
from dumbbell.common.run_folders import HOST_PREFIX, Folder

def kill(event, arguments):
    global left
    if event in ("open", "os.mkdir", "os.rename", "os.link") and "dumbbell-kernel-" in str(arguments):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

left = int(sys.argv[1])
sys.addaudithook(kill)
Folder(HOST_PREFIX)
print("made")
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
"""Kills itself before one of the steps in which a folder is made; prints if it comes to the end."""


def test_a_kill_at_any_step_of_making_a_folder_leaves_nothing_that_clean_does_not_remove(place: Path) -> None:
    ends: list[str] = []
    while not ends or ends[-1] == "":
        done = ended(KILLED_AT, len(ends))
        assert done.returncode == -signal.SIGKILL, done.stderr
        ends.append(done.stdout)
        there = list(place.iterdir())
        assert len(clean()) == (1 if there else 0)
        assert list(place.iterdir()) == [], f"killed before step {len(ends)}"
    assert len(ends) > 3  # the name, the folder, the move


def test_a_marker_of_a_living_process_beside_its_folder_stays(place: Path) -> None:
    beside = place / f"{HOST_PREFIX}1-00000000{MARKER}"
    lock = _locked_file(beside, json.dumps({"folder": beside.name.removesuffix(MARKER), "programs": []}).encode())
    assert clean() == []
    assert beside.exists()
    os.close(lock)
    assert [left.place.name for left in clean()] == [f"{HOST_PREFIX}1-00000000"]
    assert not beside.exists()


def test_a_missing_or_full_directory_is_one_sentence(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place / "absent"))
    with pytest.raises(BackendError, match=r"absent.*: No such file or directory: a run needs a folder there"):
        Folder(UML_PREFIX, PROGRAM)


def test_captures_clean_once(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[None] = []
    monkeypatch.setattr(run_folders, "clean", lambda: called.append(None))
    run_folders.clean_once.cache_clear()
    for _ in range(3):
        run_folders.clean_once()
    assert called == [None]
    run_folders.clean_once.cache_clear()
