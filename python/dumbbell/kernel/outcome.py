"""The files that a run on a kernel leaves in its folder, read as results.

``dumbbell-guest`` writes ``result.json`` (rows of results, and where each column lies) and ``tables.bin`` (the
columns, little-endian, each aligned to 8 bytes), or ``error.txt`` with the reason of a failure.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from dumbbell.exceptions import BackendError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Outcome", "Table", "no_space", "outcome", "tables"]

Table: TypeAlias = "dict[str, npt.NDArray[np.generic]]"
"""Columns by name, all of one length."""


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
        result = json.loads((place / "result.json").read_text(encoding="utf-8"))
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
    """Return the tables of some files; long ones stay on disk. Of two tables with one name, the last one is meant.

    Parameters
    ----------
    sources : iterable of (list of dict, file)
        The tables' columns with names, types and offsets, and the file in which they are.
    """
    from dumbbell.long_series import PART_ROWS, LongSeries  # noqa: PLC0415 - it imports numpy

    long, last = LongSeries(), {}
    for name, (table, file) in {t["name"]: (t, file) for contents, file in sources for t in contents}.items():
        begin, rows = 0, table["columns"][0]["rows"]
        while rows - begin > PART_ROWS:
            long.add_rows(name, _rows(file, table, begin, PART_ROWS))
            begin += PART_ROWS
        last[name] = _rows(file, table, begin, rows - begin)
    return long.completed(last)


def _rows(file: BinaryIO, table: dict[str, Any], begin: int, count: int) -> Table:
    """Read some rows of a table."""
    import numpy as np  # noqa: PLC0415 - slow to import

    found = {}
    for column in table["columns"]:
        dtype = np.dtype(column["type"])
        file.seek(column["offset"] + begin * dtype.itemsize)
        found[column["name"]] = np.frombuffer(file.read(count * dtype.itemsize), dtype, count)
    return found
