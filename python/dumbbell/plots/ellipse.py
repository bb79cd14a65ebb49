"""Ellipses around clouds of points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["ellipse_of"]

Floats = npt.NDArray[np.float64]
POINTS = 73


def ellipse_of(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats] | None:
    """Return the ellipse of one standard deviation of the Gaussian that fits points best, about their median.

    Parameters
    ----------
    x, y : (n,) float64, any units
        A point that has a NaN is left out.

    Returns
    -------
    x, y : (73,) float64, or None
        The closed line; None for fewer than three points, or where all are the same.
    """
    points = np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    points = points[:, ~np.isnan(points).any(axis=0)]
    if points.shape[1] < 3:
        return None
    spread, axes = np.linalg.eigh(np.cov(points, bias=True))  # maximum likelihood: over n, not n - 1
    if spread.max() <= 0:
        return None
    turn = np.linspace(0, 2 * np.pi, POINTS)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    line = np.median(points, axis=1)[:, None] + axes @ (np.sqrt(np.maximum(spread, 0))[:, None] * circle)
    return line[0], line[1]
