"""Ellipses and crosses around the runs of one cell in a plane of two quantities.

An ellipse needs a cloud of points. From few runs, or from runs on a line, it would be a slit, and suggest a precision
that was not measured. Such runs have a cross instead.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dumbbell.plots.spec import Floats

__all__ = ["FEWEST", "cross_of", "ellipse_of", "is_slit"]

POINTS = 73
FEWEST = 5
"""Runs from which their covariance describes a cloud: three runs always lie on an ellipse."""
SLIT = 0.004
"""Half an axis of an ellipse, in parts of the panel, below which it looks like a line."""


def ellipse_of(x: npt.ArrayLike, y: npt.ArrayLike, *, share: float | None = None) -> tuple[Floats, Floats] | None:
    """Return an ellipse of the Gaussian that fits points best, about their median.

    Parameters
    ----------
    x, y : (n,) float64, any units
        A point that has a NaN is left out.
    share : float, optional
        Part of the points that the ellipse holds: it is as large as their quantile of the Mahalanobis distance.
        Default: one standard deviation.

    Returns
    -------
    x, y : (73,) float64, or None
        The closed line; None for fewer than five points, or where all lie on a line.
    """
    points = np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    points = points[:, ~np.isnan(points).any(axis=0)]
    if points.shape[1] < FEWEST:
        return None
    # Both quantities are scaled first: bit/s beside seconds would lose the small one in rounding.
    scale = points.std(axis=1)
    if scale.min() <= 0:
        return None
    scaled = points / scale[:, None]
    spread, axes = np.linalg.eigh(np.cov(scaled, bias=True))  # maximum likelihood: over n, not n - 1
    if spread.min() <= 1e-9 * spread.max():
        return None
    middle = np.median(scaled, axis=1)
    size = 1.0
    if share is not None:
        along = (axes.T @ (scaled - middle[:, None])) / np.sqrt(spread)[:, None]
        size = float(np.quantile(np.hypot(along[0], along[1]), share, method="inverted_cdf"))
    turn = np.linspace(0, 2 * np.pi, POINTS)
    circle = size * np.stack([np.cos(turn), np.sin(turn)])
    line = (middle[:, None] + axes @ (np.sqrt(spread)[:, None] * circle)) * scale[:, None]
    return line[0], line[1]


def is_slit(line: tuple[Floats, Floats], width: float, height: float) -> bool:
    """Return True if an ellipse is too thin to be seen as one.

    Parameters
    ----------
    line : tuple of (n,) float64, units of the axes
        As `ellipse_of` returns it.
    width, height : float, units of the axes
        Of the panel.
    """
    if width <= 0 or height <= 0:
        return True
    x, y = line[0][:-1] / width, line[1][:-1] / height
    distance = np.hypot(x - x.mean(), y - y.mean())
    return bool(distance.min() < SLIT)


def cross_of(x: Floats, y: Floats, *, whole_range: bool) -> tuple[Floats, Floats]:
    """Return a cross at the median: from the smallest to the largest value, or one standard deviation to either side.

    Parameters
    ----------
    x, y : (n,) float64, any units
        At least one point, without NaN.
    whole_range : bool
        True for a cross from the smallest to the largest value.

    Returns
    -------
    x, y : (5,) float64
        The two strokes, separated by a NaN.
    """
    ends = []
    for values in (x, y):
        middle = float(np.median(values))
        sd = float(values.std())
        ends.append((values.min(), values.max(), middle) if whole_range else (middle - sd, middle + sd, middle))
    (left, right, mx), (low, high, my) = ends
    return np.array([left, right, np.nan, mx, mx]), np.array([my, my, np.nan, low, high])
