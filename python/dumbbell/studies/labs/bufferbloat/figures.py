"""The figures of the lab on bufferbloat."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.studies.labs.own_runs import OwnRun


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    large, small, fair = (runs[name] for name in ("large", "small", "fair"))
    goodput = {name: runs[name].flow("download")["goodput_bps"] for name in ("large", "small", "tiny")}
    return {
        "q1": large.flow("ping")["rtt_min_ms"],
        "q2": large.queue()["max_sojourn_ms"],
        "q3": large.flow("ping")["rtt_p95_ms"],
        "q4": small.flow("ping")["rtt_p95_ms"],
        "q5": fair.flow("ping")["rtt_p95_ms"],
        "q6": goodput["small"] / goodput["large"],
        "q7": goodput["tiny"] / goodput["large"],
    }
