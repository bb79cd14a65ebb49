"""Folders of runs under way, and what is left of runs that were killed.

A run's files lie in a folder of the system's directory for temporary files, named after the process that it belongs
to. All else that a run makes (processes, namespaces, interfaces) ends with that process: the kernel sees to it. What
a kill may leave are the folder, and a process of the virtual machine that stands still because its tracer is gone.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HOST_PREFIX", "UML_PREFIX", "Folder", "Left", "clean", "left_behind"]

UML_PREFIX = "dumbbell-uml-"
"""Of the folders of virtual machines; the number of the process that made it follows."""
HOST_PREFIX = "dumbbell-kernel-"
"""Of the folders of runs on the host's own kernel."""


@dataclass(frozen=True)
class Left:
    """A folder whose process is gone, and the processes that still work in it."""

    place: Path
    processes: tuple[int, ...]


class Folder:
    """A new folder of this process; it is removed when nobody refers to it any more, at exit at the latest."""

    def __init__(self, prefix: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        """Removes it now."""


def left_behind() -> list[Left]:
    """Find what runs have left whose process was killed before it could clean up."""
    found = []
    for prefix in (UML_PREFIX, HOST_PREFIX):
        for place in sorted(Path(tempfile.gettempdir()).glob(f"{prefix}*")):
            owner = place.name.removeprefix(prefix).partition("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                found.append(Left(place, tuple(_working_in(place))))
    return found


def clean() -> list[Left]:
    """Remove what `left_behind` finds; gives what that was."""
    found = left_behind()
    for left in found:
        for pid in left.processes:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        until = time.monotonic() + 5
        while time.monotonic() < until and any(_works_in(pid, left.place) for pid in left.processes):
            time.sleep(0.01)
        shutil.rmtree(left.place, ignore_errors=True)
    return found


def _working_in(place: Path) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*"):
        if _works_in(int(entry.name), place):
            yield int(entry.name)


def _works_in(pid: int, place: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(place.resolve())
    except OSError:
        return False
