"""Series of a run: one traced column over time, in seconds and milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.registry import unknown
from dumbbell.results.runs.record import Run

if TYPE_CHECKING:
    from dumbbell.results.results import Results

__all__ = ["series"]


def series(
    results: Results,
    run: Run,
    column: str,
    *,
    flow: str | None,
    queue: str | None,
    kind: Literal["queue", "departures", "drops"],
) -> pl.DataFrame:
    """Return one column over time; see `Results.series`."""
    if flow is not None and queue is not None:
        raise ResultsError("series of a flow or of a queue, not both")
    if queue is not None:
        return _over_time(results.table(run, f"{kind}/{queue}"), column)
    if flow is not None:
        return _over_time(results.table(run, f"{_table_of(column)}/{flow}"), column)
    found = []
    for name in results.tables(run):
        table_kind, _, owner = name.partition("/")
        if table_kind == _table_of(column) and _column(results.table(run, name), column) is not None:
            found.append(_over_time(results.table(run, name), column).with_columns(flow=pl.lit(owner)))
    if not found:
        flow_tables = [t for t in results.tables(run) if t.startswith("flow/")]
        if not flow_tables:
            raise ResultsError("no series were kept: set trace.series = true (--trace on the command line)")
        raise ResultsError(unknown("column", column, results.table(run, flow_tables[0]).columns))
    return pl.concat(found)


def _column(table: pl.DataFrame, column: str) -> str | None:
    """Find the table's column: times may be named without their unit."""
    return next((name for name in (column, f"{column}_ns") if name in table.columns), None)


def _table_of(column: str) -> str:
    """Return the kind of table that has a flow's column."""
    return "rtt" if column == "rtt" else "flow"


def _over_time(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """Select one column of a table: time in s, durations in ms."""
    name = _column(table, column)
    if name is None:
        raise ResultsError(unknown("column", column, [c for c in table.columns if c != "t_ns"]))
    value = pl.col(name) * 1e-6 if name.endswith("_ns") else pl.col(name)
    return table.select(time_s=pl.col("t_ns") * 1e-9, **{column: value})
