"""Figures of the fit: errors by setting, and predictions against the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dumbbell.plots import Curve, Panel, Picture
from dumbbell.studies.geni_fairness.data import Pairs
from dumbbell.studies.geni_fairness.fits import READINGS, Fits, Reported, error
from dumbbell.studies.geni_fairness.paths import Path
from dumbbell.studies.geni_fairness.predictions import Predicted
from dumbbell.studies.shared import LABELS

__all__ = ["fit_pictures"]

LOOKS = ("droptail", "red", "codel", "pie", "fq_codel", "drr")


def fit_pictures(
    grid: Mapping[Path, Pairs], reported: Reported, fits: Fits, predicted: Sequence[Predicted]
) -> list[Picture]:
    """Draw both."""
    return [_errors(grid, reported, fits), _predicted(predicted)]


def _errors(grid: Mapping[Path, Pairs], reported: Reported, fits: Fits) -> Picture:
    """Draw the error over the buffer, a curve a jitter: a panel for each rate of the hosts, RTT and reading."""
    best, panels = fits.best(), []
    buffers = sorted({p.buffer for p in grid}, key=lambda b: int(b.split()[0]))
    jitters = sorted({p.jitter for p in grid}, key=lambda j: float(j.split()[0]))
    for rate, delay in dict.fromkeys((p.rate, p.delay) for p in grid):
        here = [p for p in grid if (p.rate, p.delay) == (rate, delay)]
        for r in READINGS:
            curves = []
            for k, j in enumerate(jitters):
                points = sorted(
                    (buffers.index(p.buffer), error(grid[p], reported, reading=r)) for p in here if p.jitter == j
                )
                if points:
                    x, y = np.array(points, dtype=np.float64).T
                    curves.append(Curve(f"jitter {j} a hop", LOOKS[k % len(LOOKS)], x, y))
            if (best.rate, best.delay) == (rate, delay):
                at = np.array([float(buffers.index(best.buffer))]), np.array([fits.of(r).errors[best]])
                curves.append(Curve("best fit", "report:2", *at, kind="events"))
            title = f"RTT {here[0].rtt}, hosts at {rate}, reading {r}"
            panels.append(Panel(title, "buffer", "mean error (Mbit/s)", curves, categories=buffers))
    reading = (
        f"Smallest in both readings together: {best.words}, {fits.of('A').errors[best]:.1f} (A) and "
        f"{fits.of('B').errors[best]:.1f} Mbit/s (B). {len(fits.alike()) - 1} of {len(grid) - 1} other settings "
        "aren't distinguished from the best one of a reading."
    )
    title = "The settings that the report leaves out: error against the 16 cells of Table 1"
    return Picture("extra5-fit", title, reading, panels, columns=2, share_y=True)


def _predicted(predicted: Sequence[Predicted]) -> Picture:
    line = np.array([0.0, 100.0])
    curves = [Curve("as in the report", "report", line, line)]
    for reading, look in zip(READINGS, ("droptail", "red"), strict=True):
        own = [p for p in predicted if p.reading == reading]
        x, y, low, high = (
            np.array(values) for values in zip(*((p.report, p.value.value, p.low, p.high) for p in own), strict=True)
        )
        label = f"predicted without this pair, reading {reading}"
        curves.append(Curve(label, look, x, y, low, high, kind="points"))
    far = max(predicted, key=lambda p: abs(p.value.value - p.report))
    reading_text = (
        "Each cell is predicted by the fit to the cells of all other pairs; bars are the range over the settings "
        f"that this fit doesn't distinguish. Furthest: {LABELS[far.cell[0]]} with {LABELS[far.cell[1]]} in reading "
        f"{far.reading}, {far.value.value:.1f} instead of {far.report:.1f} Mbit/s."
    )
    panel = Panel("", "report: a cell of Table 1 (Mbit/s)", "predicted (Mbit/s)", curves, y_top=100.0)
    return Picture("extra6-prediction", "Table 1 predicted, cell by cell", reading_text, [panel])
