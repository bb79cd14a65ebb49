"""Flows that stand for several: `count` copies, with a spread of starts, delays and variants.

A copy is a flow like any other. Its name is that of the flow with its number from 1: ``web-1``, ``web-2``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from dumbbell.scenario.base import Part, problem
from dumbbell.scenario.network.link import LinkOverride
from dumbbell.scenario.registry_choice import Variant
from dumbbell.scenario.units import Duration

if TYPE_CHECKING:
    from dumbbell.scenario.flow.model import Flow

__all__ = ["MOST_COPIES", "Spread", "copies_of"]

MOST_COPIES = 10_000
"""Most copies of a flow: each has hosts and a row of results."""


class Spread(Part):
    """How the copies of a flow differ."""

    start: Duration | None = None
    """Each copy starts later by a uniform share of this, drawn per copy and repetition; it replaces start_jitter."""
    every: Duration = Duration("0 s")
    """From the start of one copy to that of the next."""
    delay: Annotated[list[Duration], Field(min_length=2, max_length=2)] | None = None
    """Delay of the access links of the first and of the last copy, such as ["1 ms", "20 ms"]; the others lie evenly
    between. A base RTT has four times this delay: two links, both directions."""
    variants: Annotated[list[Variant], Field(min_length=1)] | None = None
    """Congestion control of the copies in turn, in place of `variant`."""

    @model_validator(mode="after")
    def _some(self) -> Spread:
        if not self.model_fields_set:
            raise problem("needed: at least one of start, every, delay and variants", "start")
        return self


def copies_of(flows: Sequence[Flow]) -> list[Flow]:
    """Return each flow, or its copies."""
    found: list[Flow] = []
    for flow in flows:
        found += [flow] if flow.count is None else [_copy(flow, k, flow.count) for k in range(flow.count)]
    return found


def _copy(flow: Flow, number: int, count: int) -> Flow:
    """Return a copy, from 0."""
    changes: dict[str, Any] = {"name": f"{flow.name}-{number + 1}", "count": None, "spread": None}
    spread = flow.spread
    if spread is not None:
        if spread.start is not None:
            changes["start_jitter"] = spread.start
        if spread.every.ns:
            changes["start"] = Duration(f"{flow.start.ns + number * spread.every.ns} ns")
        if spread.variants is not None:
            changes["variant"] = spread.variants[number % len(spread.variants)]
        if spread.delay is not None:
            first, last = (each.ns for each in spread.delay)
            ns = first + (last - first) * number // max(count - 1, 1)
            own = flow.access if flow.access is not None else LinkOverride()
            fields = own.model_fields_set | {"delay"}
            changes["access"] = own.model_copy(update={"delay": Duration(f"{ns} ns")})
            changes["access"].__pydantic_fields_set__.update(fields)
    made = flow.model_copy(update=changes)
    made.__dict__.pop("endpoint_stack", None)  # of the flow's own variant
    made.belongs_to(flow.name, count)
    return made
