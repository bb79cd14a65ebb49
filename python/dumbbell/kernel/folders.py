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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["HOST_PREFIX", "UML_PREFIX", "Folder", "Left", "captures", "clean", "left_behind"]

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
        self.path = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-")).resolve()
        self.remove = weakref.finalize(self, _remove, self.path)
        """Ends what still works in it, and removes it, now."""


def captures(folder: Folder, plan: dict[str, Any]) -> dict[str, Callable[[Path], None]]:
    """Give what copies a run's captures from its folder, which lives as long as that does."""
    points = plan.get("capture", {}).get("points", [])
    return {point["name"]: partial(_copy, folder, f"capture-{n}.pcapng") for n, point in enumerate(points)}


def _copy(folder: Folder, name: str, to: Path) -> None:
    shutil.copyfile(folder.path / name, to)


def left_behind() -> list[Left]:
    """Find what runs have left whose process was killed before it could clean up."""
    base = Path(tempfile.gettempdir()).resolve()
    places: dict[Path, list[int]] = {
        place: [] for prefix in (UML_PREFIX, HOST_PREFIX) for place in base.glob(f"{prefix}*")
    }
    for pid, place in _at_work():
        if place.parent == base:
            places.setdefault(place, []).append(pid)
    return [Left(place, tuple(pids)) for place, pids in sorted(places.items()) if _is_orphaned(place)]


def clean() -> list[Left]:
    """Remove what `left_behind` finds; gives what that was."""
    found = left_behind()
    for left in found:
        _remove(left.place)
    return found


def _remove(place: Path) -> None:
    """End the processes that work in a folder, and remove it."""
    until = time.monotonic() + 5
    while (pids := [pid for pid, where in _at_work() if where == place]) and time.monotonic() < until:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.005)
    shutil.rmtree(place, ignore_errors=True)


def _is_orphaned(place: Path) -> bool:
    owner = place.name.removeprefix(UML_PREFIX).removeprefix(HOST_PREFIX).partition("-")[0]
    return owner.isdigit() and not Path(f"/proc/{owner}").exists()


def _at_work() -> Iterator[tuple[int, Path]]:
    """List the processes that work in folders of runs, with the folder; it may be gone already."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            where = Path(str((entry / "cwd").readlink()).removesuffix(" (deleted)"))
        except OSError:
            continue
        if where.name.startswith((UML_PREFIX, HOST_PREFIX)):
            yield int(entry.name), where
