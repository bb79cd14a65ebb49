"""The figures of the lab on fairness."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.metrics import jain
from dumbbell.studies.labs.own_runs import OwnRun


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    base = runs["base"]
    near, far = base.flow("near"), base.flow("far")
    return {
        "q1": far["idle_rtt_ms"] / near["idle_rtt_ms"],
        "q2": _ratio(base),
        "q3": float(jain([near["goodput_bps"], far["goodput_bps"]])),
        "q4": _ratio(runs["cubic"]),
        "q5": _ratio(runs["same"]),
        "q6": _ratio(runs["fair"]),
    }


def _ratio(run: OwnRun) -> float:
    """Divide the goodput of the near flow by that of the far flow."""
    return float(run.flow("near")["goodput_bps"] / run.flow("far")["goodput_bps"])
