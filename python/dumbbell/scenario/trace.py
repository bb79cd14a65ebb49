"""What a run records beside its metrics."""

from __future__ import annotations

from dumbbell.scenario.base import Flag, Part
from dumbbell.scenario.units import Duration

__all__ = ["Trace"]


class Trace(Part):
    """Series over time. Metrics are always made."""

    series: Flag = False
    """Whether the series of flows and queues are kept (cwnd, srtt, backlog ...)."""
    interval: Duration = Duration("0 s")
    """At most one row per series in this time; "0 s": a row at each change."""
    packets: Flag = False
    """Whether each packet sent, received and dropped leaves a row."""
