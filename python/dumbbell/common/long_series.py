"""Series and captures of long runs, on disk: memory doesn't grow with the length of a run.

The simulator passes on the rows of a long table, and the packets of a capture, in parts while the run is in progress.
They are in files without names, which vanish with their last user, also if the process is killed. Several runs share
a file, because the number of open files is limited.
"""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import BackendError

if TYPE_CHECKING:
    from dumbbell.backends import Table

__all__ = ["PART_ROWS", "LongSeries", "directory", "parts_of"]

PART_ROWS = 1 << 16
"""Rows of a part of a table."""
LARGEST = 1 << 28
"""Bytes of a file, after which a new one begins. A file's space is freed when no run needs it any more."""
DIRECTORIES = ("/var/tmp",)
"""Directories on a disk: the usual one for temporary files may be in memory [file-hierarchy(7)]."""


class _File:
    """A file that several threads append to."""

    def __init__(self) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile(prefix="dumbbell-series-", dir=directory())  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self.size = 0

    def append(self, data: bytes | memoryview) -> int:
        """Append data; returns its place."""
        with self._lock:
            at = self.size
            self._file.seek(at)
            self._file.write(data)
            self._file.flush()
            self.size += data.nbytes if isinstance(data, memoryview) else len(data)
        return at

    def values(self, at: int, dtype: np.dtype[np.generic], count: int) -> npt.NDArray[np.generic]:
        """Read values."""
        values = np.empty(count, dtype)
        with self._lock:
            self._file.seek(at)
            self._file.readinto(values.data)  # type: ignore[attr-defined]
        return values

    def data(self, at: int, count: int) -> bytes:
        """Read bytes."""
        with self._lock:
            self._file.seek(at)
            return self._file.read(count)


class _Files:
    """The file that is appended to now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now: _File | None = None

    def now(self) -> _File:
        with self._lock:
            if self._now is None or self._now.size > LARGEST:
                self._now = _File()
            return self._now


_FILES = _Files()


def directory() -> str | None:
    """Return the directory for series; None for the usual one, which a variable of the environment may choose."""
    if any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        return None
    return next((place for place in DIRECTORIES if os.access(place, os.W_OK)), None)


@contextmanager
def _stored(kind: str, remedy: str) -> Iterator[None]:
    """Name the directory if it is full."""
    try:
        yield
    except OSError as e:
        place = directory() or tempfile.gettempdir()
        message = f"{kind}: {place}: {e.strerror or e}: set $TMPDIR to another directory, or {remedy}"
        raise BackendError(message) from None


@dataclass(frozen=True)
class _Part:
    """Rows of a table in a file: the place and type of each column."""

    file: _File
    rows: int
    columns: dict[str, tuple[int, np.dtype[np.generic]]]

    def read(self) -> Table:
        return {name: self.file.values(at, dtype, self.rows) for name, (at, dtype) in self.columns.items()}


class LongSeries:
    """The parts of a run's tables and captures that are on disk."""

    def __init__(self) -> None:
        self._parts: dict[str, list[_Part]] = {}
        self._packets: dict[str, list[tuple[_File, int, int]]] = {}

    def add_rows(self, name: str, table: Table) -> None:
        """Store the next rows of a table.

        Raises
        ------
        BackendError
            If the disk is full.
        """
        with _stored("series", "a longer trace.interval"):
            file = _FILES.now()
            columns = {column: (file.append(values.data), values.dtype) for column, values in table.items()}
        rows = len(next(iter(table.values())))
        self._parts.setdefault(name, []).append(_Part(file, rows, columns))

    def add_packets(self, name: str, data: bytes) -> None:
        """Store the next bytes of a capture file.

        Raises
        ------
        BackendError
            If the disk is full.
        """
        with _stored("captures", "a smaller snaplen"):
            file = _FILES.now()
            self._packets.setdefault(name, []).append((file, file.append(data), len(data)))

    def write_capture(self, name: str, rest: Callable[[str, Path, bool], None], place: Path) -> None:
        """Write a capture file; ``rest`` writes the packets after those on disk, to a new file or at its end."""
        parts = self._packets.get(name, [])
        if parts:
            with place.open("wb") as out:
                for file, at, count in parts:
                    out.write(file.data(at, count))
        rest(name, place, bool(parts))

    def completed(self, last: dict[str, Table]) -> MutableMapping[str, Table]:
        """Return all tables of the run, of which ``last`` has the rows after those on disk."""
        return _Tables(self._parts, last) if self._parts else last


class _Tables(MutableMapping[str, "Table"]):
    """Tables by name, read from disk when they are needed."""

    def __init__(self, parts: Mapping[str, list[_Part]], last: Mapping[str, Table]) -> None:
        self._on_disk, self._last = dict(parts), dict(last)

    def parts(self, name: str) -> Iterator[Table]:
        """Yield the rows of a table, part by part."""
        for part in self._on_disk.get(name, ()):
            yield part.read()
        yield self._last[name]

    def __getitem__(self, name: str) -> Table:
        if name not in self._on_disk:
            return self._last[name]
        parts = list(self.parts(name))
        return {column: np.concatenate([part[column] for part in parts]) for column in parts[-1]}

    def __setitem__(self, name: str, table: Table) -> None:
        self._on_disk.pop(name, None)
        self._last[name] = table

    def __delitem__(self, name: str) -> None:
        del self._last[name]
        self._on_disk.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._last)

    def __len__(self) -> int:
        return len(self._last)

    def is_long(self, name: str) -> bool:
        """Return True if a part of the table is on disk."""
        return name in self._on_disk


def parts_of(tables: Mapping[str, Table], name: str) -> Iterator[Table] | None:
    """Return the parts of a table that is on disk; None for another one."""
    if isinstance(tables, _Tables) and tables.is_long(name):
        return tables.parts(name)
    return None
