"""The files that a run on a kernel leaves in its folder, read as results.

``dumbbell-guest`` writes ``result.json`` (rows of results, and where each column lies) and ``tables.bin`` (the
columns, little-endian, each aligned to 8 bytes; long tables in parts), or ``error.txt`` with the reason of a failure.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from dumbbell.backends.base import Table
from dumbbell.common.documents import read_json
from dumbbell.exceptions import BackendError

__all__ = ["Outcome", "no_space", "outcome", "tables"]


@dataclass(frozen=True)
class Outcome:
    """The results of a run.

    Attributes
    ----------
    result : dict
        The content of ``result.json``.
    tables : dict of str to Table
        Series by name, such as ``flow/f``.
    """

    result: dict[str, Any]
    tables: MutableMapping[str, Table]


def outcome(place: Path, output: str, who: str) -> Outcome:
    """Read the files that a run has left in its folder.

    Parameters
    ----------
    place : Path
        The run's folder.
    output : str
        The process's own output, for the message if it has left no result.
    who : str
        The process's name in that message.

    Raises
    ------
    BackendError
        The run has failed.
    """
    error = place / "error.txt"
    if error.exists():
        # A full file system takes the file's name, but not its content.
        raise BackendError(error.read_text(encoding="utf-8") or no_space(place))
    try:
        result = read_json((place / "result.json").read_text(encoding="utf-8"))
        series = _read(place / "tables.bin", result.pop("tables"))
    except (OSError, ValueError):
        if _is_full(place):
            raise BackendError(no_space(place)) from None
        last = [line for line in output.splitlines() if line.strip()][-5:]
        raise BackendError("\n".join([f"{who} has left no result; its output:", *last])) from None
    return Outcome(result, series)


def no_space(place: Path) -> str:
    """Return the message for a run whose folder is on a full file system."""
    return f"{place}: {os.strerror(errno.ENOSPC)}: a run needs space there (or in $TMPDIR)"


def _is_full(place: Path) -> bool:
    return os.statvfs(place).f_bavail == 0


def _read(path: Path, contents: list[dict[str, Any]]) -> MutableMapping[str, Table]:
    """Return the tables of a file; long ones stay on disk."""
    if not contents:
        return {}
    with path.open("rb") as file:
        return tables([(contents, file)])


def tables(sources: Iterable[tuple[list[dict[str, Any]], BinaryIO]]) -> MutableMapping[str, Table]:
    """Return the tables of some files; long ones stay on disk.

    Of two tables with one name in different files, the last one is meant. In one file they are the parts of a table:
    each has the rows after those before.

    Parameters
    ----------
    sources : iterable of (list of dict, file)
        The tables' columns with names, types and offsets, and the file in which they are.
    """
    from dumbbell.common.long_series import PART_ROWS, LongSeries  # it imports numpy

    found: dict[str, _Parts] = {}
    for contents, file in sources:
        of_file: dict[str, _Parts] = {}
        for part in contents:
            parts = of_file.pop(part["name"], None) or _Parts(file)
            parts.append(part["columns"])
            of_file[part["name"]] = parts  # the order is that of the last parts, which all tables have
        found |= of_file
    long, last = LongSeries(), {}
    for name, table in found.items():
        begin, rows = 0, table.rows
        while rows - begin > PART_ROWS:
            long.add_rows(name, table.read(begin, PART_ROWS))
            begin += PART_ROWS
        last[name] = table.read(begin, rows - begin)
    return long.completed(last)


class _Parts:
    """A table in a file, in parts."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._parts: list[tuple[int, dict[str, dict[str, Any]]]] = []
        """The number of rows of each part, and its columns by name."""
        self.rows = 0

    def append(self, columns: list[dict[str, Any]]) -> None:
        """Add a part."""
        rows = columns[0]["rows"]
        self._parts.append((rows, {column["name"]: column for column in columns}))
        self.rows += rows

    def read(self, begin: int, count: int) -> Table:
        """Read some rows. A column that a part lacks is NaN there: the congestion control had no state yet."""
        import numpy as np  # slow to import

        _, columns = max(self._parts, key=lambda part: len(part[1]))
        found: Table = {}
        for name, column in columns.items():
            dtype = np.dtype(column["type"])
            found[name] = np.full(count, np.nan, dtype) if dtype.kind == "f" else np.empty(count, dtype)
        first = 0
        for rows, part in self._parts:
            low, high = max(begin, first), min(begin + count, first + rows)
            for column in part.values() if low < high else ():
                dtype = found[column["name"]].dtype
                self._file.seek(column["offset"] + (low - first) * dtype.itemsize)
                data = self._file.read((high - low) * dtype.itemsize)
                found[column["name"]][low - begin : high - begin] = np.frombuffer(data, dtype, high - low)
            first += rows
        return found
