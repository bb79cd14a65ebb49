"""Folders of runs, and the remains of runs that were killed.

A run's files lie in a folder of the system's directory for temporary files, named after the process that the run
belongs to. Everything else that a run makes (processes, namespaces, interfaces) is removed by the kernel when that
process ends. A kill may leave the folder, and a stopped process of the virtual machine whose tracer has died.
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
"""Name of a virtual machine's folder; the number of the process that made it follows."""
HOST_PREFIX = "dumbbell-kernel-"
"""Likewise for a run on the host's own kernel."""


@dataclass(frozen=True)
class Left:
    """A folder whose process has ended.

    Attributes
    ----------
    place : Path
        The folder.
    processes : tuple of int
        Processes whose working directory it still is.
    """

    place: Path
    processes: tuple[int, ...]


class Folder:
    """A new folder of this process. It is removed when the object is collected, at exit at the latest."""

    def __init__(self, prefix: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-")).resolve()
        self.remove = weakref.finalize(self, _remove, self.path)
        """Kills the processes that work in the folder and removes it, now."""


def captures(folder: Folder, plan: dict[str, Any]) -> dict[str, Callable[[Path], None]]:
    """Return, for each capture point, a function that copies its capture file to a path.

    The functions keep the folder alive.
    """
    points = plan.get("capture", {}).get("points", [])
    return {point["name"]: partial(_copy, folder, f"capture-{n}.pcapng") for n, point in enumerate(points)}


def _copy(folder: Folder, name: str, to: Path) -> None:
    shutil.copyfile(folder.path / name, to)


def left_behind() -> list[Left]:
    """Return the folders of runs whose process was killed before it could clean up."""
    base = Path(tempfile.gettempdir()).resolve()
    places: dict[Path, list[int]] = {
        place: [] for prefix in (UML_PREFIX, HOST_PREFIX) for place in base.glob(f"{prefix}*")
    }
    for pid, place in _at_work():
        if place.parent == base:
            places.setdefault(place, []).append(pid)
    return [Left(place, tuple(pids)) for place, pids in sorted(places.items()) if _is_orphaned(place)]


def clean() -> list[Left]:
    """Remove the folders that `left_behind` finds; returns them."""
    found = left_behind()
    for left in found:
        _remove(left.place)
    return found


def _remove(place: Path) -> None:
    """Kill the processes that work in a folder, and remove it."""
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
    """Yield each process whose working directory is a run's folder, with the folder; it may be deleted already."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            where = Path(str((entry / "cwd").readlink()).removesuffix(" (deleted)"))
        except OSError:
            continue
        if where.name.startswith((UML_PREFIX, HOST_PREFIX)):
            yield int(entry.name), where
