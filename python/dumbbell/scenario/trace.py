"""Series that a run records beside its metrics."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from dumbbell.registry import unknown
from dumbbell.scenario.base import Flag, Part, Text, problem
from dumbbell.scenario.units import Duration

__all__ = ["TABLES", "Trace"]

TABLES = ("flows", "queues", "departures", "drops")
"""The tables that can be kept."""


def _tables(value: Any) -> Any:  # noqa: ANN401
    """Refuse names that are none of the tables'."""
    if isinstance(value, list):
        for name in value:
            if name not in TABLES:
                raise problem(unknown("table", str(name), list(TABLES)))
    return value


class Trace(Part):
    """Series over time. Metrics are always made."""

    series: Annotated[Flag | list[Text], BeforeValidator(_tables)] = False
    """Series that are kept: true for all, or a list of ``flows`` (cwnd, srtt ...), ``queues`` (backlog ...),
    ``departures`` (a row for each packet that leaves a queue) and ``drops`` (a row for each packet dropped)."""
    only: list[Text] | None = None
    """The flows and links that series are kept of; default: all of them."""
    interval: Duration = Duration("0 s")
    """At most one row per series in this time; "0 s": a row at each change."""
    packets: Flag = False
    """True: each packet sent, received and dropped has a row."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that are kept."""
        if isinstance(self.series, bool):
            return TABLES if self.series else ()
        return tuple(self.series)
