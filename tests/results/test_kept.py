"""A sweep that ends early, by a full disk or a signal, states what is kept, and the same command continues."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dumbbell

FULL = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from dumbbell.__main__ import main
sys.argv[1:] = ["run", sys.argv[2], "--repetitions", "20", "--trace", "--out", sys.argv[3]]
main()
"""
"""Writes results where files are bounded: the system refuses a write with an error as on a full disk."""


@pytest.mark.parametrize("size", [3_000, 25_000])  # the first series is larger; some runs fit
def test_a_write_that_fails_is_one_line(base_file: Path, size: int) -> None:
    out = base_file.parent / "out"
    command = [sys.executable, "-c", FULL, str(size), str(base_file), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    (line,) = done.stderr.splitlines()
    found = re.fullmatch(
        rf"error: {out}: can't be written: .+: (\d+) of 20 runs kept in {out}: the same command continues", line
    )
    assert found, line
    assert done.returncode == 2
    assert len(dumbbell.Results.load(out)) == int(found[1])
    assert (int(found[1]) > 0) == (size > 20_000)


SIGNALED = """
import os, sys
from dumbbell.__main__ import main
from dumbbell.results.running import runner

kept = runner._Making._keep
left, number = [3], int(sys.argv.pop())

def keep(self, finished):
    kept(self, finished)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), number)

runner._Making._keep = keep
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_message_and_the_runs(base_file: Path, number: int, code: int) -> None:
    out = base_file.parent / "out"
    arguments = ["run", str(base_file), "--repetitions", "20", "--jobs", "1", "--out", str(out), str(int(number))]
    done = subprocess.run([sys.executable, "-c", SIGNALED, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code
    lines = [line for line in done.stderr.splitlines() if "kept in" in line or line.startswith("error")]
    assert lines[:-1] == (["error: interrupted"] if number == signal.SIGINT else [])
    found = re.fullmatch(rf"(\d+) of 20 runs kept in {out}: the same command continues", lines[-1])
    assert found
    # A signal between the end of a run and its count is possible.
    assert len(dumbbell.Results.load(out)) - int(found[1]) in (0, 1)
