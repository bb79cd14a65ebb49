"""Places of bars, boxes and points that share a category: side by side, centered at the category's label."""

from __future__ import annotations

import numpy as np

from dumbbell.plots.spec import Floats, Panel

__all__ = ["dodged"]

SHARE = 0.8
"""Part of a category's width that is used."""
CLOSE = 0.11
"""Distance between points of one category at most, in widths of a category: they need less space than bars."""


def dodged(panel: Panel) -> tuple[list[Floats], float]:
    """Return the x of each curve's points, and the width of a bar.

    Only curves with a value in a category share its space: a curve that is the only one is centered at the label.

    Returns
    -------
    x : list of (n,) float64, widths of a category
        By curve; without categories, the curve's own x.
    width : float, widths of a category
    """
    if not panel.categories:
        return [curve.x for curve in panel.curves], SHARE
    present = np.zeros((len(panel.curves), len(panel.categories)), dtype=np.int64)
    for number, curve in enumerate(panel.curves):
        present[number, curve.x.astype(np.int64)] = 1
    beside = present.sum(axis=0)
    wide = any(curve.kind in {"bars", "box"} for curve in panel.curves)
    width = SHARE / max(1, int(beside.max(initial=1)))
    step = width if wide else min(CLOSE, width)
    before = np.cumsum(present, axis=0) - present
    shift = step * (before - (beside - 1) / 2)
    return [curve.x + shift[n, curve.x.astype(np.int64)] for n, curve in enumerate(panel.curves)], width
