"""Runs of the command line that tests begin and end, the processes that they leave, and programs of another user."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dumbbell import Scenario

__all__ = ["DUMBBELL", "INTERRUPTIBLE", "begun", "commands_with", "given_to_nobody"]

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


def given_to_nobody(place: Path, program: Path, copied: Path) -> dict[str, Any]:
    """Give a folder to an ordinary user, who may run a copy of a program; returns what `subprocess` needs for it."""
    program.write_bytes(copied.read_bytes())
    program.chmod(0o755)
    nobody = 65534
    for path in (place, *place.rglob("*")):
        os.chown(path, nobody, nobody)
    for path in place.parents:  # pytest's own folders are for root's eyes only
        if path.name.startswith(("pytest-", "popen-", "test_")):
            path.chmod(0o755)
    return {"user": nobody, "group": nobody, "extra_groups": []}
