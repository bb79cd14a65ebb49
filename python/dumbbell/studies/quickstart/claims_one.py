"""Statements about one flow: Reno's sawtooth, CUBIC's curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.report.finding import Finding, Measured
from dumbbell.studies import rules
from dumbbell.studies.quickstart.data import Series, Stage, stages

__all__ = ["crossing", "cubic", "curve", "growth", "kept", "reno"]

BETA, C = 0.7, 0.4
"""CUBIC's constants [RFC 9438 §4.6, §5]."""
FULL = 0.95
"""Utilization from which a link is called busy."""


def kept(found: Sequence[Stage]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the part of its window that each reduction left."""
    return np.array([s.cwnd[0] / s.before for s in found])


def growth(found: Sequence[Stage]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the segments by which the window grew per round trip, for each epoch."""
    trips = [np.sum(np.diff(s.t) / s.srtt[:-1]) for s in found]
    return np.array([(s.cwnd[-1] - s.cwnd[0]) / n for s, n in zip(found, trips, strict=True)])


def reno(series: Series) -> list[Finding]:
    """Compare the statements about Reno with the run."""
    whole = stages(series)
    left = rules.within(kept(whole), "part of the window kept", 0.45, 0.55)
    steps = rules.within(growth(whole), "segments per round trip", 0.8, 1.1)
    busy = series.utilization
    last = float(np.median([s.cwnd[-1] for s in whole])) if whole else float("nan")
    return [
        left.finding(
            "reno-halves",
            "The window after recovery is shown to be, in the mean over the reductions, 0.45 to 0.55 of that before: "
            "half, give or take the segments that arrive between the last row of the series and the loss.",
            f"{len(whole)} reductions leave {summarize(kept(whole)).text()} of the window",
        ),
        steps.finding(
            "reno-one-segment",
            "Between losses the window is shown to grow by 0.8 to 1.1 segments per (smoothed) round trip; smoothing "
            "lags behind a growing round trip, so trips are counted a little too many.",
            f"{summarize(growth(whole)).text('segments per round trip')}",
        ),
        rules.Ruling(busy >= FULL, (Measured.number("utilization", busy),)).finding(
            "reno-full-link",
            f"The link was in use for at least {100 * FULL:.0f} % of the time, start included.",
            f"the window falls from {last:.0f} to about half, one bandwidth-delay product, and the link is in use "
            f"for {100 * busy:.1f} % of the time",
        ),
    ]


def crossing(stage: Stage) -> tuple[float, float]:
    """Return the time at which an epoch's window reached its plateau, and that of the formula, s; NaN if never."""
    at = np.flatnonzero(stage.cwnd >= stage.w_max)
    took = float(stage.t[at[0]] - stage.t[0]) if at.size else float("nan")
    return took, float(np.cbrt(max(stage.w_max - stage.cwnd[0], 0.0) / C))


def curve(stage: Stage) -> tuple[float, float, float]:
    """Return the growth in segments per second before, around and beyond the plateau.

    Around is within a quarter of K to both sides of the moment that reaches it, before and beyond the rest up to K
    away;
    NaN where the stage ended before.
    """
    took, k = crossing(stage)
    t = stage.t - stage.t[0]
    spans = ((took - k, took - k / 4), (took - k / 4, took + k / 4), (took + k / 4, took + k))

    def slope(begin: float, end: float) -> float:
        end = min(end, float(t[-1]))
        if not end - begin > k / 4:
            return float("nan")
        low, high = np.interp([max(begin, 0.0), end], t, stage.cwnd)
        return float((high - low) / (end - max(begin, 0.0)))

    first, middle, last = (slope(a, b) for a, b in spans)
    return first, middle, last


def cubic(series: Series) -> list[Finding]:
    """Compare the statements about CUBIC with the run."""
    whole = stages(series)
    left = rules.within(kept(whole), "part of the window kept", 0.65, 0.75)
    reached = [s for s in whole if s.cwnd[-1] >= s.w_max > s.cwnd[0]]
    times = np.array([crossing(s) for s in reached]).reshape(-1, 2)
    slopes = np.array([curve(s) for s in reached]).reshape(-1, 3)
    ratio = rules.within(times[:, 0] / times[:, 1], "time to W_max over K", 0.9, 1.1)
    first, middle, last = slopes.T
    shape = rules.all_within(
        {"growth before the plateau over that around it": first / middle,
         "growth beyond it over that around it": last / middle},
        2.0, np.inf,
    )  # fmt: skip
    why = "no epoch reached its plateau"
    if reached:
        listed = ", ".join(f"{np.nanmedian(v):.3g}" for v in (first, middle, last))
        why = (
            f"W_max is reached after {np.median(times[:, 0]):.1f} s (K is {np.median(times[:, 1]):.1f} s); growth "
            f"{listed} segments/s before, around and beyond"
        )
    return [
        left.finding(
            "cubic-reduction",
            "The mean reduction is shown to leave 0.65 to 0.75 of the window.",
            f"{len(whole)} reductions leave {summarize(kept(whole)).text()} of the window",
        ),
        Finding(
            "cubic-plateau",
            rules.verdict(ratio, shape),
            "The mean time to W_max is shown to be within 10 % of K, computed from the window after the reduction, "
            "W_max and C = 0.4; and the window is shown to grow less than half as fast around W_max as before and "
            "beyond it.",
            (*ratio.measured, *shape.measured),
            why,
            needs=rules.needed(ratio, shape),
        ),
    ]
