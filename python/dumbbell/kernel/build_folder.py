"""The folder of a kernel build: 1.3 GB that a killed build would leave."""

from __future__ import annotations

import ctypes
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

__all__ = ["build_folder", "die_with_parent"]

PREFIX = ".build-"
LOCK = "lock"
"""A file in the folder, locked as long as its build lives."""
PR_SET_PDEATHSIG = 1
"""[prctl(2), Linux include/uapi/linux/prctl.h]"""


@contextmanager
def build_folder(place: Path) -> Iterator[Path]:
    """Make a folder for a build in ``place``; remove those of builds that were killed."""
    for left in place.glob(f"{PREFIX}*"):
        _remove_if_left(left)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True) as work:
        new = Path(work) / f"{LOCK}.new"
        with new.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            new.rename(Path(work) / LOCK)
            yield Path(work)


def _remove_if_left(folder: Path) -> None:
    try:
        with (folder / LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return  # it is in use, or has no lock


def die_with_parent() -> None:
    """Make the kernel end this process when its parent ends: for ``preexec_fn``."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
