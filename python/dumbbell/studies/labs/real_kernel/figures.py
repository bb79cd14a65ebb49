"""The figures of the lab on the real kernel: those of the simulator, with tolerances that hold the kernel's too."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.studies.labs.own_runs import OwnRun


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    found = {}
    for n, name in enumerate(("cubic", "reno", "bbr")):
        flow = runs[name].flow("a")
        found[f"q{2 * n + 1}"] = flow["goodput_bps"] / 1e6
        found[f"q{2 * n + 2}"] = flow["rtt_mean_ms"]
    return found
