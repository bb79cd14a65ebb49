"""Largest resident sets of processes that run a program, compared."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from required import require

__all__ = ["growth_kib", "peak_kib"]

ALONE = {"POLARS_MAX_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""Threads have buffers and heaps of their own; how many come into being depends on the load [mallopt(3)]."""
FIRST = """
import ctypes, re, sys
from pathlib import Path
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: the kernel would merge pages when it has time
"""
LAST = """
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak_kib(program: str, *arguments: str) -> int:
    """Return the largest resident set of a process that runs this. (`ru_maxrss` would hold that of its parent.)"""
    read = Path("/proc/self/status").exists()
    require("linux", None if read else "the largest resident set is read from /proc")
    path = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", FIRST + program + LAST, *arguments]
    environment = {**os.environ, **ALONE, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout)


def growth_kib(few: Callable[[], int], many: Callable[[], int], limit: float) -> int:
    """Measure how much more many take than few; at most three times, until it is below the limit.

    What is kept is there each time; pages that the kernel counts late, or gives sooner, aren't.
    """
    for _ in range(3):
        grown = many() - few()
        if grown < limit:
            break
    return grown
