"""The extremes of a summary that is too long to read: the lowest, median and highest value of each column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dumbbell.results.frames.summary import Summary

__all__ = ["READABLE", "extremes"]

READABLE = 60
"""Rows up to which a summary is shown whole."""
SEPARATE = 6
"""Names up to which each flow or queue has its own extremes; with more, all have them together."""


def extremes(table: Summary) -> Summary:
    """Return the lowest, median and highest value of each column, by name of the flow or queue.

    Parameters
    ----------
    table : Summary
        Rows of means, as `dumbbell.results.frames.summary` makes them.

    Returns
    -------
    Summary
        A row for each name and metric: ``lowest``, ``at`` (its cell), ``median``, ``highest``, ``at``. Where several
        cells have the same value, ``at`` is their number.
    """
    place = table.keys.index("name")
    names = list(dict.fromkeys(row[place] for row in table.rows))
    by_name = len(names) <= SEPARATE
    rows: list[tuple[Any, ...]] = []
    for name in names if by_name else [f"all {len(names)}"]:
        its = [row for row in table.rows if not by_name or row[place] == name]
        hidden = {place} if by_name else set()
        hidden |= {k for k in range(len(table.keys)) if len({row[k] for row in its}) == 1}
        for number, metric in enumerate(table.metrics, len(table.keys)):
            found = _of_column(its, number, table.keys, hidden, "cells" if by_name else "rows")
            if found is not None:
                rows.append((name, metric, *found))
    return Summary(("name", "metric"), ("lowest", "at", "median", "highest", "at"), rows)


def _of_column(
    rows: Sequence[tuple[Any, ...]], number: int, keys: Sequence[str], hidden: set[int], of: str
) -> tuple[float, str, float, float, str] | None:
    """Return the extremes of one column, with places that leave out the keys ``hidden``; None if it has no value."""
    values = sorted(row[number] for row in rows if row[number] is not None and not math.isnan(row[number]))
    if not values:
        return None
    low, high = values[0], values[-1]
    median = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2

    def at(value: float) -> str:
        equal = [row for row in rows if row[number] == value]
        if len(equal) > 1:
            count = "all" if len(equal) == len(rows) else f"{len(equal)} of"
            return f"{count} {len(rows)} {of}"
        shown = [k for k in range(len(keys)) if k not in hidden]
        return ", ".join(f"{keys[k]} {equal[0][k]}" for k in shown)

    return low, at(low), median, high, at(high)
