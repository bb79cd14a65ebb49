"""Full directories for temporary files, and ones that can't hold programs: one line, exit 2, and nothing is left."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell.kernel.guest import GUEST
from kernels import one_flow
from required import require_programs, require_root

WITHIN = """
import tempfile
tempfile._candidate_tempdir_list = lambda: [tempfile._os.environ["TMPDIR"]]
from dumbbell.__main__ import main
main()
"""
"""The command line on a host whose only directory for temporary files is $TMPDIR."""

Ended = Callable[..., list[str]]


@pytest.fixture
def ended(tmp_path: Path) -> Ended:
    """Run with small directories for temporary files and for shared memory; returns the lines of stderr."""
    require_root()
    require_programs("unshare")
    place = tmp_path / "temporary"
    place.mkdir()

    def run(*options: str, directory: str, memory: str, filled: bool = False, duration: str = "1 s") -> list[str]:
        file = tmp_path / "scenario.toml"
        captures = {"capture": ["sender", "bottleneck", "receiver"]}
        file.write_text(one_flow("small", duration, rate="20 Mbit/s", limit="60 packets", **captures).to_toml())
        command = [sys.executable, "-c", WITHIN, "run", str(file), "--out", str(tmp_path / "out"), *options]
        steps = [
            f"mount -t tmpfs -o {directory} tmpfs {place}",
            f"mount -t tmpfs -o {memory} tmpfs /dev/shm",
            f"{{ {'cat /dev/zero' if filled else 'true'} > {place}/other 2> /dev/null || true; }}",
            f"export TMPDIR={place}",
            '{ "$@"; code=$?; }',
            f"rm {place}/other",
            f"ls -A {place}",
            "exit $code",
        ]
        within = ["unshare", "--mount", "sh", "-c", " && ".join(steps), "sh", *command]
        done = subprocess.run(within, capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr
        assert done.stdout == ""  # nothing is left
        printed: str = done.stderr
        return printed.splitlines()

    return run


UML = ("--backend", "uml")
LINK = ("--backend", "kernel", "-o", "emulation=link", "-o", "calibration=off")


@pytest.mark.usefixtures("require_uml")
def test_a_full_directory_is_refused_in_virtual_time(ended: Ended) -> None:
    line = ended(*UML, directory="size=64k", memory="size=64k", filled=True)[-1]
    assert line.startswith("error: No usable temporary directory found in")
    assert line.endswith("a run needs one with space ($TMPDIR chooses it)")


@pytest.mark.usefixtures("require_link_emulation")
def test_a_full_directory_is_refused_on_the_host(ended: Ended) -> None:
    assert "No usable temporary directory" in ended(*LINK, directory="size=64k", memory="size=64k", filled=True)[-1]


@pytest.mark.usefixtures("require_uml")
@pytest.mark.parametrize("size", [100 << 10, GUEST.stat().st_size + (100 << 10) if GUEST.exists() else 0])
def test_a_directory_that_fills_up_is_one_line_in_virtual_time(ended: Ended, size: int) -> None:
    """At the copy of the guest, and at the captures."""
    *_, before, line = ["", *ended(*UML, directory=f"size={size}", memory="size=1g")]
    assert line.startswith("error: back end 'uml', repetition 0: ")
    assert line.endswith(": No space left on device: a run needs space there (or in $TMPDIR)")
    assert before == ""


@pytest.mark.usefixtures("require_link_emulation")
def test_a_directory_that_fills_up_is_one_line_on_the_host(ended: Ended) -> None:
    *_, line = ended(*LINK, directory="size=100k", memory="size=1g")
    assert line.startswith("error: back end 'kernel', repetition 0: ")
    assert line.endswith(": No space left on device: a run needs space there (or in $TMPDIR)")


@pytest.mark.usefixtures("require_uml")
@pytest.mark.parametrize(
    ("directory", "memory"), [("noexec", "noexec"), ("noexec", "size=64k"), ("size=20m", "noexec")]
)
def test_a_guest_needs_executable_memory(ended: Ended, directory: str, memory: str) -> None:
    (line,) = ended(*UML, directory=directory, memory=memory)
    assert "neither /dev/shm nor" in line
    assert "must not be mounted noexec ($TMPDIR chooses another directory)" in line
