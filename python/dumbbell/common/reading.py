"""Input files, read within bounds: a pipe that nobody writes into and a device without end are errors, not waits."""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path

__all__ = ["read_bytes", "read_text"]

LARGEST = 32_000_000
"""Bytes of the largest scenario file. A sweep with 100,000 cases has about 10 MB."""
PATIENCE_S = 10.0
"""Seconds to wait for the next bytes of a pipe."""


def read_text(path: str | os.PathLike[str], most: int = LARGEST) -> str:
    """Read a file of UTF-8 text, with or without a byte order mark.

    Raises
    ------
    OSError, ValueError
        If it can't be read, is larger than ``most`` bytes, is a pipe without content, or isn't UTF-8.
    """
    return read_bytes(path, most).decode("utf-8-sig")


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file of at most ``most`` bytes; errors as of `read_text`."""
    # A FIFO opened without this flag waits for a writer.
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        status = os.fstat(file)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(21, "Is a directory")
        regular = stat.S_ISREG(status.st_mode)
        if regular and status.st_size > most:
            raise ValueError(f"it has {status.st_size / 1e6:.0f} MB: at most {most / 1e6:.0f} MB are possible")
        parts, size = [], 0
        while part := _next(file):
            parts.append(part)
            size += len(part)
            if size > most:
                raise ValueError(f"it has no end within {most / 1e6:.0f} MB")
        if not parts and not regular:
            raise ValueError(f"{Path(path).name} has no content, and nobody writes into it")
        return b"".join(parts)
    finally:
        os.close(file)


def _next(file: int) -> bytes:
    """Read the next bytes; empty at the end."""
    while True:
        try:
            return os.read(file, 1 << 16)
        except BlockingIOError:
            ready, _, _ = select.select([file], [], [], PATIENCE_S)
            if not ready:
                raise ValueError(f"nothing was written into it for {PATIENCE_S:g} s") from None
