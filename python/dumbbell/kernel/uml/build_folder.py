"""The folder of a kernel build: 1.3 GB that a killed build would leave."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows builds no kernel
    fcntl = None  # type: ignore[assignment]

from dumbbell.kernel.uml.store import places

__all__ = ["build_folder", "clean_builds", "die_with_parent"]

PREFIX = ".build-"
LOCK = "lock"
"""A file in the folder, locked as long as its build lives."""
PR_SET_PDEATHSIG = 1
"""[prctl(2), Linux include/uapi/linux/prctl.h]"""


@contextmanager
def build_folder(place: Path) -> Iterator[Path]:
    """Make a folder for a build in ``place``; remove those of builds that were killed."""
    with _alone(place):
        _clean(place)
        work = tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True)
        lock = (Path(work.name) / LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    with work, lock:
        yield Path(work.name)


def clean_all() -> Iterator[str]:
    """Remove the folders of all killed builds; yields a sentence for each."""
    for folder in (left for place in places() for left in clean_builds(place)):
        yield f"removed {folder}"


def clean_builds(place: Path) -> list[Path]:
    """Remove the folders in ``place`` of builds that were killed; returns them."""
    if fcntl is None or not place.is_dir():
        return []
    try:
        with _alone(place):
            return _clean(place)
    except OSError:
        return []  # another user's


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Wait until no other process makes or removes a build's folder in ``place``."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _clean(place: Path) -> list[Path]:
    """Remove the folders that no process has locked."""
    found = []
    for left in sorted(place.glob(f"{PREFIX}*")):
        try:
            with (left / LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            pass  # killed before it made the lock
        except OSError:
            continue  # it is in use, or another user's
        shutil.rmtree(left, ignore_errors=True)
        if not left.exists():
            found.append(left)
    return found


def die_with_parent() -> None:
    """Make the kernel end this process when its parent ends: for ``preexec_fn``."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
