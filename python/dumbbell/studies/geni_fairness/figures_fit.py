"""Figures of the fit: errors by setting, and predictions against the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dumbbell.plots import Curve, Panel, Picture
from dumbbell.studies.geni_fairness.data import Pairs, pair_name
from dumbbell.studies.geni_fairness.fits import Fit, Reported, error
from dumbbell.studies.geni_fairness.paths import Path
from dumbbell.studies.geni_fairness.predictions import Predicted

__all__ = ["fit_pictures"]

LOOKS = ("droptail", "red", "codel", "pie", "fq_codel", "drr")


def fit_pictures(
    grid: Mapping[Path, Pairs], reported: Reported, whole: Fit, predicted: Sequence[Predicted]
) -> list[Picture]:
    """Draw both."""
    return [_errors(grid, reported, whole), _predicted(predicted)]


def _errors(grid: Mapping[Path, Pairs], reported: Reported, whole: Fit) -> Picture:
    """Draw the error over the buffer: a panel for each rate of the hosts' links and round trip, a curve a jitter."""
    panels = []
    buffers = sorted({p.buffer for p in grid}, key=lambda b: int(b.split()[0]))
    jitters = sorted({p.jitter for p in grid}, key=lambda j: float(j.split()[0]))
    for rate, delay in dict.fromkeys((p.rate, p.delay) for p in grid):
        here = [p for p in grid if (p.rate, p.delay) == (rate, delay)]
        curves = []
        for k, j in enumerate(jitters):
            points = sorted((buffers.index(p.buffer), error(grid[p], reported)) for p in here if p.jitter == j)
            if points:
                x, y = np.array(points, dtype=np.float64).T
                curves.append(Curve(f"jitter {j} a hop", LOOKS[k % len(LOOKS)], x, y))
        if (whole.best.rate, whole.best.delay) == (rate, delay):
            best = np.array([float(buffers.index(whole.best.buffer))]), np.array([whole.errors[whole.best]])
            curves.append(Curve("best fit", "report:2", *best, kind="events"))
        title = f"RTT {here[0].rtt}, hosts at {rate}"
        panels.append(Panel(title, "buffer", "mean error (Mbit/s)", curves, categories=buffers))
    reading = (
        f"Best: {whole.best.words}, {whole.errors[whole.best]:.1f} Mbit/s. {len(whole.alike) - 1} of "
        f"{len(whole.errors) - 1} other settings are not distinguished from it."
    )
    title = "The settings that the report leaves out: error against the 16 cells of Table 1"
    return Picture("extra5-fit", title, reading, panels, columns=2, share_y=True)


def _predicted(predicted: Sequence[Predicted]) -> Picture:
    x = np.array([p.report for p in predicted])
    y = np.array([p.value.value for p in predicted])
    low, high = (np.array([getattr(p, end) for p in predicted]) for end in ("low", "high"))
    line = np.array([0.0, 100.0])
    curves = [
        Curve("as in the report", "report", line, line),
        Curve("predicted without this pair", "droptail", x, y, low, high, kind="points"),
    ]
    far = max(predicted, key=lambda p: abs(p.value.value - p.report))
    reading = (
        "Each cell is predicted by the fit to the cells of all other pairs; bars are the range over the settings "
        f"that this fit doesn't distinguish. Furthest: {pair_name(*far.cell)}, {far.value.value:.1f} instead of "
        f"{far.report:.1f} Mbit/s."
    )
    panel = Panel("", "report: goodput of the first (Mbit/s)", "predicted (Mbit/s)", curves, y_top=100.0)
    return Picture("extra6-prediction", "Table 1 predicted, cell by cell", reading, [panel])
