"""All columns of the results. Tables, comparisons, axes, merges and the documentation read their declarations."""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

from dumbbell.results.runs.column import Column, Frame
from dumbbell.results.runs.derived_columns import columns

__all__ = ["better", "column", "columns", "shown_where_any", "summarized"]


def column(name: str) -> Column | None:
    """Find a column of any frame; None if no frame has it."""
    return next((found for frame in get_args(Frame) if (found := columns(frame).get(name)) is not None), None)


@cache
def better() -> dict[str, Literal["more", "less"]]:
    """Return, for the metrics where this is clear, whether more or less is better."""
    every = [column for frame in get_args(Frame) for column in columns(frame).values()]
    return {column.name: column.better for column in every if column.better is not None}


@cache
def summarized(frame: Frame) -> list[tuple[str, str, float]]:
    """Return the columns of summaries in their order: name, heading, and the factor to the unit that is shown."""
    found = [(column, column.summary) for column in columns(frame).values() if column.summary is not None]
    found.sort(key=lambda pair: pair[1]["place"])
    return [(column.name, str(summary["heading"]), column.shown[1]) for column, summary in found]


@cache
def shown_where_any() -> list[str]:
    """Return the columns that summaries leave out where all values are zero."""
    every = [column for frame in get_args(Frame) for column in columns(frame).values()]
    return [column.name for column in every if column.summary is not None and column.summary["where_any"]]
