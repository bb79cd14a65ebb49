"""Rows of some runs as columns: the parts that frames over all runs are joined from.

The columns are typed part by part, because that takes a tenth of the memory of rows. A part can be compressed, and it
can be made in another process.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.record import Run

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FramePart", "TablePart", "as_type", "kinds_of", "series"]


@dataclass(frozen=True)
class TablePart:
    """The rows of some runs in one table, without the columns of the runs.

    Attributes
    ----------
    counts : list of int
        Rows of each run.
    kinds : mapping of str to set of type
        By column: the types of its values, without None.
    content : polars.DataFrame or bytes
        The columns; as bytes in Arrow's format of files, compressed with its schema.
    """

    counts: list[int]
    kinds: Mapping[str, set[type]]
    content: pl.DataFrame | bytes

    @classmethod
    def of(cls, rows_of_runs: Sequence[Sequence[dict[str, Any]]]) -> TablePart:
        """Make columns of the rows of runs. Where a row lacks a metric, its value is null."""
        import polars as pl  # slow to import

        rows = [row for of_run in rows_of_runs for row in of_run]
        forms = dict.fromkeys(map(tuple, rows))
        names = dict.fromkeys(name for keys in forms for name in keys)
        values: Iterable[Sequence[Any]]
        if len(forms) == 1:  # every row has the same metrics in the same order
            values = zip(*map(dict.values, rows), strict=True)
        else:
            values = ([row.get(name) for row in rows] for name in names)
        kinds: dict[str, set[type]] = {}
        columns = []
        for name, of_name in zip(names, values, strict=True):
            kinds[name] = kinds_of(of_name)
            columns.append(series(name, of_name, kinds[name]))
        return cls([len(of_run) for of_run in rows_of_runs], kinds, pl.DataFrame(columns))

    def packed(self) -> TablePart:
        """Return the same, compressed."""
        if isinstance(self.content, bytes):
            return self
        content = io.BytesIO()
        self.content.write_ipc(content)
        return TablePart(self.counts, self.kinds, zlib.compress(content.getvalue(), level=1))

    def frame(self) -> pl.DataFrame:
        """Return the columns."""
        import polars as pl  # slow to import

        if not isinstance(self.content, bytes):
            return self.content
        return pl.read_ipc(io.BytesIO(zlib.decompress(self.content)))


@dataclass(frozen=True)
class FramePart:
    """The rows of some runs in several tables.

    Attributes
    ----------
    places : list of (int, int)
        The cell and repetition of each run; empty where they are known from elsewhere.
    seeds : list of int
    tables : dict of str to TablePart
    """

    places: list[tuple[int, int]]
    seeds: list[int]
    tables: dict[Frame, TablePart]

    @classmethod
    def of(cls, runs: Sequence[Run], names: Iterable[Frame], cells: Sequence[int] = ()) -> FramePart:
        """Make the columns of runs, whose cells have these numbers."""
        rows: dict[Frame, list[list[dict[str, Any]]]] = {
            "flows": [run.flows for run in runs],
            "queues": [run.queues for run in runs],
            "transfers": [run.transfers for run in runs],
        }
        places = [(cell, run.repetition) for cell, run in zip(cells, runs, strict=False)]
        return cls(places, [run.seed for run in runs], {name: TablePart.of(rows[name]) for name in names})

    def packed(self) -> FramePart:
        """Return the same, compressed."""
        return FramePart(self.places, self.seeds, {name: table.packed() for name, table in self.tables.items()})


def as_type(part: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a part of a column with the type that suits all parts."""
    import polars as pl  # slow to import

    if part.dtype == dtype:
        return part
    if part.null_count() == len(part):
        return pl.Series(part.name, [None] * len(part), dtype=dtype)
    if dtype == pl.String:
        return pl.Series(part.name, [None if v is None else str(v) for v in part], dtype=dtype)
    return part.cast(dtype)


def kinds_of(values: Iterable[Any]) -> set[type]:
    """Return the types of values, without None."""
    return set(map(type, values)) - {type(None)}


def series(name: str, values: Sequence[Any], kinds: set[type]) -> pl.Series:
    """Make a column of values of these types."""
    import polars as pl  # slow to import

    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int}:
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    if kinds == {str}:
        return pl.Series(name, values, dtype=pl.String)
    if kinds <= {list}:
        return pl.Series(name, values)
    return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
