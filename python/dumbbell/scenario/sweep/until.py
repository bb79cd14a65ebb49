"""Repetitions until the interval of the result is narrow enough."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from dumbbell.scenario.base import Part, Text, Whole, problem
from dumbbell.scenario.units import Percentage

__all__ = ["TEXTS", "Until"]

TEXTS = ("name", "variant", "stack", "application")
"""Columns of the table of flows that hold texts."""


class HalfWidth(Percentage):
    """Half of the widest interval that is allowed, in percent of the value."""

    __slots__ = ()
    minimum = (1e-6, "above zero")
    example = '"5 %"'


class Until(Part):
    """The condition to stop repeating a cell: the interval of a metric is narrow, or the maximum is reached.

    ``repetitions`` is the minimum. Whether a cell is repeated further depends on the results alone, not on
    how many runs are made at a time.
    """

    half_width: HalfWidth
    """Half the width of the interval, as a part of the value, at which a cell is done."""
    metric: Text = "goodput_bps"
    """The metric: a column of the table of flows."""
    flow: Text | None = None
    """The flows; default: every flow that has the metric."""
    interval: Literal["bca", "student"] = "bca"
    """The interval: BCa bootstrap of the median, or mean and Student's t."""
    at_most: Annotated[Whole, Field(ge=2, le=10_000)] = 100
    """Repetitions of a cell at most."""

    @field_validator("metric", mode="after")
    @classmethod
    def _number(cls, value: str) -> str:
        if value in TEXTS:
            raise problem(
                f"'{value}' given: a column of texts has no interval; a metric such as 'goodput_bps' is needed"
            )
        return value
