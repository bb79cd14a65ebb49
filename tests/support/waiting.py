"""Waits of tests: for an event, on a machine with any load. The deadline only ends a test that hangs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["DEADLINE_S", "cpu_s", "is_alive", "wait_until", "working_in"]

DEADLINE_S = 300.0


def wait_until(event: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until an event has happened; a process that ends before it fails the test."""
    until = time.monotonic() + DEADLINE_S
    while not event():
        ended = process is not None and process.poll() is not None
        assert not ended or event(), f"the process has ended before it, with {process and process.returncode}"
        assert time.monotonic() < until, f"it hasn't happened for {DEADLINE_S:g} s"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return True if a process exists that has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def cpu_s(*pids: int) -> float:
    """Return the CPU time of processes that exist, in seconds."""
    found = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime, stime [proc_pid_stat(5)]
    return found


def working_in(folder: str) -> list[int]:
    """Return the processes whose working directory has this text in its path."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if folder in str((entry / "cwd").readlink()):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
