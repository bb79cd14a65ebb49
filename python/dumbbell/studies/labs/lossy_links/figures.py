"""The figures of the lab on lossy links."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from dumbbell.scenario.units import Percentage
from dumbbell.studies.labs.own_runs import OwnRun


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    reno = runs["reno"].flow("a")
    loss = Percentage(runs["reno"].scenario.to_dict()["network"]["bottleneck"]["loss"]).share
    # [RFC 5348 §3.1] with b = 1, without the term for timeouts.
    predicted = 8 * reno["snd_mss_bytes"] / (reno["idle_rtt_ms"] / 1e3 * sqrt(2 * loss / 3))
    return {
        "q1": predicted / 1e6,
        "q2": _goodput(runs["reno"]),
        "q3": 100 * reno["drop_rate"],
        "q4": _goodput(runs["cubic"]),
        "q5": _goodput(runs["bbr"]),
        "q6": _goodput(runs["long"]) / _goodput(runs["reno"]),
    }


def _goodput(run: OwnRun) -> float:
    """Return the goodput of the flow, Mbit/s."""
    return float(run.flow("a")["goodput_bps"] / 1e6)
