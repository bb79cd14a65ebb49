"""The figures of the lab on active queue management."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.studies.labs.own_runs import OwnRun


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    return {
        "q1": runs["droptail"].queue()["mean_sojourn_ms"],
        "q2": runs["codel"].queue()["mean_sojourn_ms"],
        "q3": runs["pie"].queue()["mean_sojourn_ms"],
        "q4": _goodput(runs["codel"]) / _goodput(runs["droptail"]),
        "q5": runs["codel"].queue()["drops"],
        "q6": runs["marks"].queue()["marks"],
    }


def _goodput(run: OwnRun) -> float:
    """Add the goodputs of both flows, in bit/s."""
    return float(run.flow("a")["goodput_bps"] + run.flow("b")["goodput_bps"])
