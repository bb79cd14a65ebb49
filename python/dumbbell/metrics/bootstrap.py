"""Bootstrap intervals: resample the repetitions and observe how the statistic varies.

BCa (bias-corrected and accelerated) shifts the percentiles of the resampled statistic by its bias (how far the
resamples' middle lies from the estimate) and its skewness (from leaving out one value at a time). All rows are
processed together, and the draws come from a fixed seed: the same data give the same interval.

References
----------
Efron, B., "Better bootstrap confidence intervals", J. Amer. Statist. Assoc. 82 (1987), §2 and §3.
"""

from __future__ import annotations

from functools import cache
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["RESAMPLES", "Statistic", "bca", "statistic_of"]

Floats = npt.NDArray[np.float64]
Statistic = Literal["median", "mean"]

RESAMPLES = 4000
"""Resamples: the ends of a 95 % interval are then the 100th values from either side, which another seed moves by
about a tenth of its width."""
SEED = 1
_NORMAL = NormalDist()


def statistic_of(values: Floats, statistic: Statistic) -> Floats:
    """Return the statistic over the last axis."""
    if statistic == "mean":
        return np.asarray(values.mean(axis=-1))
    n = values.shape[-1]  # faster than np.median on many short rows
    ordered = np.sort(values, axis=-1)
    return np.asarray((ordered[..., n // 2] + ordered[..., (n - 1) // 2]) / 2)


@cache
def _draws(n: int, resamples: int) -> npt.NDArray[np.int64]:
    """Draw which values make each resample, in order; the same for all rows of one length."""
    return np.sort(np.random.default_rng(SEED).integers(0, n, size=(resamples, n)), axis=1)


def _resampled(ordered: Floats, statistic: Statistic, resamples: int) -> Floats:
    """Return the statistic of every resample of sorted rows; (m, resamples).

    Of ordered values, the resample's middle is known from the drawn numbers alone, and a mean is a weighted sum.
    """
    n = ordered.shape[1]
    draws = _draws(n, resamples)
    if statistic == "median":
        return np.asarray((ordered[:, draws[:, (n - 1) // 2]] + ordered[:, draws[:, n // 2]]) / 2)
    counts = np.stack([(draws == k).sum(axis=1) for k in range(n)])
    return np.asarray(ordered @ counts / n)


def bca(
    values: npt.ArrayLike, statistic: Statistic = "median", level: float = 0.95, resamples: int = RESAMPLES
) -> tuple[Floats, Floats]:
    """Return BCa bootstrap intervals, one for each row.

    Parameters
    ----------
    values : (m, n) float64, any unit
        One row for each quantity, one column for each repetition; no NaN.
    statistic : {"median", "mean"}
        The statistic of the interval.
    level : float, no unit
        Confidence level, between 0 and 1.
    resamples : int
        Number of resamples.

    Returns
    -------
    low, high : (m,) float64, the unit of `values`
        NaN for n < 2 (one value has no spread); both the value where all values of a row are equal.
    """
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    m, n = rows.shape
    if n < 2 or m == 0:
        return np.full(m, np.nan), np.full(m, np.nan)
    rows = np.sort(rows, axis=1)
    estimate = statistic_of(rows, statistic)
    resampled = _resampled(rows, statistic, resamples)
    below = (resampled < estimate[:, None]).mean(axis=1) + 0.5 * (resampled == estimate[:, None]).mean(axis=1)
    acceleration = _acceleration(rows, statistic)
    tail = (1 - level) / 2
    probabilities = np.array([_shifted(b, a, tail) for b, a in zip(below, acceleration, strict=True)])
    resampled.sort(axis=1)
    low, high = _quantile(resampled, probabilities[:, 0]), _quantile(resampled, probabilities[:, 1])
    flat = rows[:, 0] == rows[:, -1]  # rounding in the mean must not make an interval here
    return np.where(flat, rows[:, 0], low), np.where(flat, rows[:, 0], high)


def _acceleration(rows: Floats, statistic: Statistic) -> Floats:
    """Skewness of the statistic under leaving out one value, over six: Efron's (6.6)."""
    n = rows.shape[1]
    others = np.array([[j for j in range(n) if j != i] for i in range(n)])
    left_out = statistic_of(rows[:, others], statistic)
    deviation = left_out.mean(axis=1, keepdims=True) - left_out
    spread = (deviation**2).sum(axis=1) ** 1.5
    skew = (deviation**3).sum(axis=1) / 6
    return np.asarray(np.divide(skew, spread, out=np.zeros_like(skew), where=spread > 0))


def _shifted(below: float, acceleration: float, tail: float) -> tuple[float, float]:
    """Move the two tail probabilities by bias and acceleration."""
    if not 0 < below < 1:  # every resample on one side: the bias is not defined
        return tail, 1 - tail
    bias = _NORMAL.inv_cdf(below)

    def move(probability: float) -> float:
        z = bias + _NORMAL.inv_cdf(probability)
        return _NORMAL.cdf(bias + z / (1 - acceleration * z))

    return move(tail), move(1 - tail)


def _quantile(ordered: Floats, probability: Floats) -> Floats:
    """Read one quantile of each row of ordered values, linear between neighbors."""
    place = probability * (ordered.shape[1] - 1)
    left = np.floor(place).astype(np.int64)
    right = np.minimum(left + 1, ordered.shape[1] - 1)
    row = np.arange(ordered.shape[0])
    return np.asarray(ordered[row, left] + (place - left) * (ordered[row, right] - ordered[row, left]))
