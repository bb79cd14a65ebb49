"""Runs of the command line that tests begin and end, and the processes that they leave."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dumbbell import Scenario

__all__ = ["DUMBBELL", "INTERRUPTIBLE", "begun", "commands_with"]

DUMBBELL = [sys.executable, "-m", "dumbbell"]
INTERRUPTIBLE = ["env", "--default-signal=INT", *DUMBBELL]
"""Children of a background job inherit its ignored SIGINT."""


@contextmanager
def begun(
    folder: Path, given: Scenario, *options: str, errors: IO[str] | int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """Begin a run of a scenario, which is written into a folder; it is killed at the end."""
    (folder / "begun.toml").write_text(given.to_toml(), encoding="utf-8")
    command = [*INTERRUPTIBLE, "run", str(folder / "begun.toml"), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def commands_with(text: str) -> list[str]:
    """List the processes with this text in their command; one that has ended has none."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if text in (entry / "cmdline").read_text(errors="replace").replace("\0", " "):
                found.append(entry.name)
        except OSError:
            continue
    return found
