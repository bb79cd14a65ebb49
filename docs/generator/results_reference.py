"""Every column of the results, with the definition from the source."""

from __future__ import annotations

from collections.abc import Iterable

import trace_columns
from dumbbell import registry
from dumbbell.results.runs.column import Column, Frame, measured
from dumbbell.results.runs.derived_columns import DERIVED
from md import escaped, table


def measured_columns(frame: Frame) -> str:
    """Return the columns of a frame that back ends measure."""
    return _table(measured(frame))


def derived_columns(frame: Frame) -> str:
    """Return the columns of a frame that are computed from others and from the path."""
    return _table(DERIVED[frame])


def _table(columns: Iterable[Column]) -> str:
    rows = []
    for column in columns:
        kind = f"{column.kind}, {column.unit}" if column.unit else column.kind
        matters = f" Differences from {column.margin} on matter by default." if column.margin else ""
        rows.append(
            [f"`{column.name}`", kind + (", or null" if column.nullable else ""), escaped(column.doc) + matters]
        )
    return table(["column", "type, unit", "definition"], rows)


def trace(name: str) -> str:
    """Return the columns of one kind of traced table."""
    tables = trace_columns.TABLES | {"kernel-flow": trace_columns.KERNEL_FLOW}
    columns = tables[name].items()
    return table(["column", "unit", "definition"], [[f"`{c}`", unit, doc] for c, (unit, doc) in columns])


def codes(what: str) -> str:
    """Return the words for the numbers of a column."""
    words = {"phase": registry.phases, "reason": registry.drop_reasons}[what]()
    return table([f"`{what}`", "word"], [[number, word] for number, word in enumerate(words)])
