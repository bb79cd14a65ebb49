"""The end of the warm-up of a series.

MSER-5: batches of five values; the cut is where the standard error of the rest is smallest. It is searched in
the first half (of the last few batches two may be alike by chance); where it lies at the end of that, the series is
too short.

References
----------
White, K. P., "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69(6), 1997;
White, K. P., Cobb, M. J., Spratt, S. C., "A comparison of five steady-state truncation heuristics", WSC 2000.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["BATCH", "warm_up"]

BATCH = 5
"""Values to a batch, as in MSER-5."""


def warm_up(values: npt.ArrayLike) -> int | None:
    """Return the number of values at the beginning that belong to the warm-up.

    Parameters
    ----------
    values : (n,) float64, any unit
        A series at equal intervals, such as goodput per 100 ms; no NaN.

    Returns
    -------
    int or None
        A multiple of five; None if the series is too short (fewer than 20 values, or not settled in its first
        half).
    """
    x = np.asarray(values, dtype=np.float64)
    count = x.size // BATCH
    if count < 4:
        return None
    means = x[: count * BATCH].reshape(count, BATCH).mean(axis=1)
    remaining = np.arange(count, 0, -1)
    # Sums over the rest after each cut, accumulated from the end; about the mean, so that large values keep their
    # digits.
    centered = means - means.mean()
    total = np.cumsum(centered[::-1])[::-1]
    squares = np.cumsum(centered[::-1] ** 2)[::-1]
    error = (squares - total**2 / remaining) / remaining**2
    half = count // 2
    cut = int(np.argmin(error[: half + 1]))
    return None if cut == half else cut * BATCH
