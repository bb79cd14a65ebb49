"""Means over repetitions of large results, computed on whole columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dumbbell.results.frames.swept_values import paths_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FrameMeans"]


class FrameMeans:
    """The means of metrics by cell, name, variant and stack; see `dumbbell.results.frames.summary`.

    Parameters
    ----------
    frame : polars.DataFrame
        A row for each run and flow or queue, as `Results.flows` and `Results.queues`.
    wanted : sequence of (str, str, float)
        Column, heading, factor.
    identity : sequence of str
        Columns that identify a row beside its cell.
    """

    def __init__(self, frame: pl.DataFrame, wanted: Sequence[tuple[str, str, float]], identity: Sequence[str]) -> None:
        self._frame = frame
        self._wanted = [(name, heading, factor) for name, heading, factor in wanted if name in frame.columns]
        self._identity = [name for name in identity if name in frame.columns]

    def keep(self, column: str, values: Sequence[Any]) -> None:
        """Keep the rows with these values in a column."""
        import polars as pl  # slow to import

        self._frame = self._frame.filter(pl.col(column).is_in(list(values)))

    def by_name(self) -> list[tuple[str, dict[str, list[float]]]]:
        """Return, for each name, its mean and its largest value of each metric, as far as it has values."""
        import polars as pl  # slow to import

        names = [name for name, _, _ in self._wanted]
        columns = [*(pl.col(n).cast(pl.Float64).mean().alias(f"{n} mean") for n in names)]
        columns += [pl.col(n).cast(pl.Float64).abs().max().alias(f"{n} most") for n in names]
        found = self._frame.group_by("name", maintain_order=True).agg(columns)
        return [
            (row["name"], {n: [row[f"{n} mean"], row[f"{n} most"]] for n in names if row[f"{n} mean"] is not None})
            for row in found.iter_rows(named=True)
        ]

    def table(
        self, spread: str | None, only_where_any: Sequence[str], *, repeated: bool
    ) -> tuple[list[str], list[str], list[str], list[tuple[Any, ...]]]:
        """Return the paths, the columns that identify a row beside them, the headings, and the rows."""
        import polars as pl  # slow to import

        paths = paths_of(self._frame)
        keys = [*paths, *self._identity]
        headings: list[str] = []
        columns: list[pl.Expr] = []
        for name, heading, factor in self._wanted:
            values = self._frame[name]
            if values.null_count() == len(values) or (name in only_where_any and not (values != 0).any()):
                continue
            scaled = pl.col(name).cast(pl.Float64) * factor
            headings.append(heading)
            columns.append(scaled.mean().alias(f"{len(columns)}"))
            if name == spread and repeated:
                headings.append("± sd")
                columns.append(scaled.std().alias(f"{len(columns)}"))
        # The column of the variant adds nothing if the cell's columns name it.
        hidden = "variant" if any(path.endswith(".variant") for path in paths) else ""
        shown = [name for name in self._identity if name != hidden]
        found = self._frame.group_by(keys, maintain_order=True).agg(columns)
        rows = found.select([*paths, *shown, *(f"{n}" for n in range(len(columns)))]).rows()
        return paths, shown, headings, rows
