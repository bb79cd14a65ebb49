"""Folders of runs, and the remains of runs that were killed.

A run's files lie in a folder of the system's directory for temporary files. Everything else that a run makes
(processes, namespaces, interfaces) is removed by the kernel when the run's process ends. A kill may leave the folder,
and a stopped process of the virtual machine whose tracer has died.

Each folder has a marker, which the process of the run keeps locked [flock(2)]. The lock ends with that process,
however it ends, and every PID namespace sees it. A folder is removed only if its marker is this user's and isn't
locked. The marker is made first, beside the folder, and then moved into it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from dumbbell.exceptions import BackendError

try:
    import fcntl
except ImportError:  # Windows has no back end that makes folders
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "CAPTURE_PREFIX",
    "FILES_PREFIX",
    "HOST_PREFIX",
    "LAB_PREFIX",
    "PREFIXES",
    "UML_PREFIX",
    "Folder",
    "Left",
    "captures",
    "clean",
    "clean_once",
    "directory",
    "is_locked",
    "left_behind",
    "qlogs",
]

UML_PREFIX = "dumbbell-uml-"
"""Name of a virtual machine's folder; the number of the process that made it and random characters follow."""
HOST_PREFIX = "dumbbell-kernel-"
"""Likewise for a run on the host's own kernel."""
CAPTURE_PREFIX = "dumbbell-capture-"
"""Likewise for the packets of a capture that is analyzed."""
LAB_PREFIX = "dumbbell-lab-"
"""Likewise for the runs of a lab."""
FILES_PREFIX = "dumbbell-files-"
"""Likewise for the files of a scenario that another machine has sent."""
PREFIXES = (UML_PREFIX, HOST_PREFIX, CAPTURE_PREFIX, LAB_PREFIX, FILES_PREFIX)
MARKER = ".dumbbell-run"
"""The marker's name: a JSON object with the folder's own name and the programs of the run, as device and inode."""

FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""For opening a marker: a link isn't followed, and a FIFO, which another user may have made, doesn't block."""

Program = tuple[int, int]
"""Device and inode of an executable."""


@dataclass(frozen=True)
class Left:
    """A folder whose run has ended without removing it.

    Attributes
    ----------
    place : Path
        The folder.
    processes : tuple of int
        Processes of the run that still work in it.
    """

    place: Path
    processes: tuple[int, ...]


class Folder:
    """A new folder of this process. It is removed when the object is collected, at exit at the latest.

    Parameters
    ----------
    prefix : str
        The first part of its name.
    *programs : Path
        Executables whose processes work in it.
    """

    def __init__(self, prefix: str, *programs: Path) -> None:
        base = directory()
        self.path = base / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}"
        try:
            lock = _make(self.path, programs)
        except OSError as e:
            place = e.filename or base
            raise BackendError(f"{place}: {e.strerror or e}: a run needs a folder there (or in $TMPDIR)") from None
        self.remove = weakref.finalize(self, _end, self.path, {_identity(p) for p in programs}, lock)
        """Kills the run's processes that work in the folder and removes it, now."""

    def keep(self) -> Path:
        """Keep the folder until this process ends; returns its path."""
        _KEPT.append(self)
        return self.path


_KEPT: list[Folder] = []


def directory() -> Path:
    """Return the directory for temporary files.

    Raises
    ------
    BackendError
        There is none that can be written and has space.
    """
    try:
        return Path(tempfile.gettempdir()).resolve()
    except OSError as e:
        raise BackendError(f"{e.strerror or e}: a run needs one with space ($TMPDIR chooses it)") from None


def _make(place: Path, programs: Sequence[Path]) -> int:
    """Make a folder with its marker; returns the marker's descriptor, which is locked.

    The marker exists before the folder, beside it, so that a kill leaves no folder without one.
    """
    mark = {"folder": place.name, "programs": [_identity(p) for p in programs]}
    beside = _beside(place)
    lock = _locked_file(beside, json.dumps(mark).encode())
    try:
        place.mkdir(mode=0o700)
        beside.rename(place / MARKER)
    except BaseException:
        beside.unlink(missing_ok=True)
        os.close(lock)
        raise
    return lock


def _locked_file(path: Path, content: bytes) -> int:
    """Make a file; returns its descriptor, which is locked.

    Where the system can, the file is locked and whole before it has a name [open(2), O_TMPFILE].
    """
    try:
        lock = os.open(path.parent, os.O_RDWR | os.O_TMPFILE, 0o600)
    except (AttributeError, OSError):
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(lock, content)
        if os.fstat(lock).st_nlink == 0:
            # The descriptor makes Python call linkat(2), which follows the link in /proc.
            os.link(f"/proc/self/fd/{lock}", path, src_dir_fd=lock)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _beside(place: Path) -> Path:
    """Return the first name of a folder's marker."""
    return place.with_name(f"{place.name}{MARKER}")


def captures(folder: Folder, plan: dict[str, Any]) -> dict[str, Callable[[Path], None]]:
    """Return, for each capture point, a function that copies its capture file to a path.

    The functions keep the folder alive.
    """
    points = plan.get("capture", {}).get("points", [])
    return {point["name"]: partial(_copy, folder, f"capture-{n}.pcapng") for n, point in enumerate(points)}


def qlogs(folder: Folder, plan: dict[str, Any]) -> dict[str, Callable[[Path], None]]:
    """Return, for each qlog file that the programs of a finished run have written, the same; named FLOW-N.qlog."""
    found: dict[str, Callable[[Path], None]] = {}
    for number, flow in enumerate(plan["flows"]):
        files = sorted((folder.path / f"flow-{number}-client").glob("*.qlog"), key=lambda p: p.stat().st_mtime_ns)
        for k, file in enumerate(files):
            found[f"{flow['name']}-{k}.qlog"] = partial(_copy, folder, str(file.relative_to(folder.path)))
    return found


def _copy(folder: Folder, name: str, to: Path) -> None:
    shutil.copyfile(folder.path / name, to)


def left_behind() -> list[Left]:
    """Return the folders of this user's runs that were killed before they could clean up."""
    found = []
    for place, programs, lock in _orphans():
        found.append(Left(place, tuple(_at_work(place, programs))))
        os.close(lock)
    return found


def clean() -> list[Left]:
    """Remove the folders that `left_behind` finds; returns those that are gone."""
    found = _unfinished()
    for place, programs, lock in _orphans():
        left = Left(place, tuple(_at_work(place, programs)))
        _end(place, programs, lock)
        if not place.exists():
            found.append(left)
    return found


@cache
def clean_once() -> None:
    """Do what `clean` does, once in a process: for what makes hundreds of folders."""
    clean()


def is_locked(place: Path) -> bool:
    """Return True if a folder belongs to a run of this user that hasn't ended."""
    if fcntl is None or place.is_symlink():
        return False
    try:
        lock = os.open(place / MARKER, os.O_RDONLY | FLAGS)
    except OSError:
        return False
    try:
        if not _is_ours(lock) or place.stat().st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(lock)


def _is_ours(file: int) -> bool:
    """Return True if an open file is this user's, and a regular one."""
    about = os.fstat(file)
    return about.st_uid == os.geteuid() and stat.S_ISREG(about.st_mode)


def _orphans() -> Iterator[tuple[Path, set[Program], int]]:
    """Yield each folder whose run has ended, with its programs and the descriptor of its marker, which is locked."""
    if fcntl is None:
        return
    base = directory()
    for place in sorted(p for prefix in PREFIXES for p in base.glob(f"{prefix}*")):
        if place.is_symlink() or not place.is_dir():
            continue
        marker = _marker_of_ended(place / MARKER, place)
        if marker is None:
            continue
        programs, lock = marker
        if place.stat().st_uid == os.geteuid():
            yield place, programs, lock
        else:
            os.close(lock)


def _marker_of_ended(file: Path, place: Path) -> tuple[set[Program], int] | None:
    """Return the content and the descriptor of a folder's marker, locked; None if it is in use, or none of ours."""
    try:
        lock = os.open(file, os.O_RDWR | FLAGS)
    except OSError:
        return None
    try:
        if not _is_ours(lock):
            raise ValueError
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mark = json.loads(os.read(lock, 1 << 16))
        if mark["folder"] != place.name:
            raise ValueError
        return {(int(device), int(inode)) for device, inode in mark["programs"]}, lock
    except (OSError, ValueError, KeyError, TypeError):
        os.close(lock)
        return None


def _unfinished() -> list[Left]:
    """Remove the markers beside folders that weren't finished, and these folders, which are empty; returns them."""
    found: list[Left] = []
    if fcntl is None:
        return found
    for file in sorted(p for prefix in PREFIXES for p in directory().glob(f"{prefix}*{MARKER}")):
        place = file.with_name(file.name.removesuffix(MARKER))
        marker = _marker_of_ended(file, place)
        if marker is None:
            continue
        with suppress(OSError):  # it may not have been made
            place.rmdir()
        file.unlink(missing_ok=True)
        os.close(marker[1])
        found.append(Left(place, ()))
    return found


def _end(place: Path, programs: set[Program], lock: int) -> None:
    """Kill the run's processes that work in a folder, remove it, and release its marker."""
    until = time.monotonic() + 5
    while (pids := list(_at_work(place, programs))) and time.monotonic() < until:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.005)
    shutil.rmtree(place, ignore_errors=True)
    os.close(lock)


def _at_work(place: Path, programs: set[Program]) -> Iterator[int]:
    """Yield each process of these programs whose working directory is the folder."""
    for entry in Path("/proc").glob("[0-9]*") if programs else ():
        try:
            if str((entry / "cwd").readlink()) == str(place) and _identity(entry / "exe") in programs:
                yield int(entry.name)
        except OSError:
            continue


def _identity(program: Path) -> Program:
    """Return a program's device and inode."""
    about = program.stat()
    return about.st_dev, about.st_ino
