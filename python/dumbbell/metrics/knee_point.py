"""The knee of a curve: where it leaves the level that it starts on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import DumbbellError

__all__ = ["knee"]


def knee(x: npt.ArrayLike, y: npt.ArrayLike, *, level_until: float, fall: float = 0.1) -> float:
    """Find where a curve falls below its starting level for good.

    The level is the median of y over x <= `level_until`. The knee is the x at which the straight line between
    neighboring points crosses (1 - `fall`) x level for the last time from above; passing dips before it don't count.

    Parameters
    ----------
    x : (n,) float64, any unit
        Increasing, such as the rate of cross traffic.
    y : (n,) float64, any unit
        Such as throughput; not negative.
    level_until : float, the unit of `x`
        Up to where the curve is taken to be on its level.
    fall : float, no unit
        Share of the level that must be lost.

    Returns
    -------
    float, the unit of `x`
        NaN if the curve ends above the threshold, or has no point on the level.

    Raises
    ------
    DumbbellError
        If lengths differ or x does not increase.
    """
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if xs.shape != ys.shape or xs.ndim != 1 or np.any(np.diff(xs) <= 0):
        raise DumbbellError("a knee needs two lists of one length, the first increasing")
    valid = ~np.isnan(ys)
    xs, ys = xs[valid], ys[valid]
    start = ys[xs <= level_until]
    if start.size == 0:
        return float("nan")
    threshold = (1 - fall) * float(np.median(start))
    above = np.flatnonzero(ys >= threshold)
    if above.size == 0:
        return float(xs[0])
    last = int(above[-1])
    if last == len(xs) - 1:
        return float("nan")
    part = (ys[last] - threshold) / (ys[last] - ys[last + 1])
    return float(xs[last] + part * (xs[last + 1] - xs[last]))
