"""The figure of a responsiveness test: goodput, round trips of the probes, and RPM at each interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dumbbell.metrics import responsiveness as evaluate
from dumbbell.metrics.round_trips import MAD, rpm, trimmed_mean
from dumbbell.plots.flows_over_time import title_of
from dumbbell.plots.spec import Curve, Mark, Panel, Picture
from dumbbell.plots.style import distinct
from dumbbell.results.statistics.responsiveness import observed
from dumbbell.scenario.flow.responsiveness import INTERVAL_S

if TYPE_CHECKING:
    from dumbbell.plots.spec import Floats
    from dumbbell.results import Results, Run

__all__ = ["responsiveness"]


def _scores(foreign: Floats, loaded: Floats, ends: Floats) -> Floats:
    """Return RPM over the last MAD intervals, at the end of each interval."""
    found = np.full(ends.size, np.nan)
    for n, end in enumerate(ends):
        own = foreign[(foreign[:, 0] >= end - MAD * INTERVAL_S) & (foreign[:, 0] < end)]
        load = loaded[(loaded[:, 0] >= end - MAD * INTERVAL_S) & (loaded[:, 0] < end)]
        latency = (trimmed_mean(own[:, 1]) + trimmed_mean(own[:, 2])) / 2
        found[n] = (rpm(latency) + rpm(trimmed_mean(load[:, 1]))) / 2
    return found


def responsiveness(results: Results, run: Run) -> Picture:
    """Draw a responsiveness test: goodput, the round trips of its probes, and RPM at each interval."""
    seen = observed(results, run)
    result = evaluate(np.array([*seen.goodput.values()]), seen.foreign, seen.loaded, interval_s=INTERVAL_S)
    count = next(iter(seen.goodput.values())).size
    ends = INTERVAL_S * np.arange(1, count + 1, dtype=np.float64)
    first = float(seen.foreign[:, 0].min(initial=0.0))
    span = (first, float(ends[-1]))
    looks = distinct([f"responsiveness {n}" for n in range(5)])
    rates = [
        Curve(way, look, ends, rate * 1e-6) for (way, rate), look in zip(seen.goodput.items(), looks, strict=False)
    ]
    at = seen.foreign[:, 0]
    trips = [
        Curve("TCP handshake", looks[2], at, seen.foreign[:, 1], kind="points"),
        Curve("HTTP request", looks[3], at, seen.foreign[:, 2], kind="points"),
        Curve("loaded connection", looks[4], seen.loaded[:, 0], seen.loaded[:, 1], kind="points"),
    ]
    scores = [Curve("RPM", "total", ends, _scores(seen.foreign, seen.loaded, ends))]
    marks = [] if result.saturated is None else [Mark(INTERVAL_S * (result.saturated + 1), "goodput stable")]
    marks += [Mark(INTERVAL_S * (result.interval + 1), "result", "top")] if result.confidence == "high" else []
    label = "time since the start of the load, s"
    panels = [
        Panel("", label, "goodput, Mbit/s", rates, marks[:1], x_range=span, height=0.7),
        Panel("", label, "round trip, ms", trips, x_range=span),
        Panel("", label, "RPM", scores, marks, x_range=span, height=0.7),
    ]
    reading = (
        f"{result.rpm:.0f} round trips per minute, {result.confidence} confidence: {result.foreign_rpm:.0f} on own "
        f"connections, {result.loaded_rpm:.0f} on loaded ones."
    )
    return Picture("responsiveness", title_of(run, "Responsiveness"), reading, panels, markers=False)
