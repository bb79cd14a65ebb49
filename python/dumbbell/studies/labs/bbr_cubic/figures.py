"""The figures of the lab on BBR against CUBIC."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.studies.labs.own_runs import OwnRun


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    deep = runs["deep"].flow("bbr")
    return {
        "q1": _share(runs["shallow"]),
        "q2": _share(runs["middle"]),
        "q3": _share(runs["deep"]),
        "q4": runs["shallow"].flow("bbr")["retransmitted_packets"],
        "q5": deep["rtt_mean_ms"],
        "q6": deep["rtt_mean_ms"] / deep["idle_rtt_ms"],
    }


def _share(run: OwnRun) -> float:
    """Return BBR's share of both goodputs, %."""
    bbr, cubic = (run.flow(name)["goodput_bps"] for name in ("bbr", "cubic"))
    return float(100 * bbr / (bbr + cubic))
