"""Bootstrap intervals: resample the repetitions and observe how the statistic varies.

BCa (bias-corrected and accelerated) shifts the percentiles of the resampled statistic by its bias (how far the
resamples' middle lies from the estimate) and its skewness (from leaving out one value at a time). All rows are
processed together, and the draws come from a fixed seed: the same data give the same interval.

References
----------
Efron, B., "Better bootstrap confidence intervals", J. Amer. Statist. Assoc. 82 (1987), §2 and §3.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
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
CHUNK = 1 << 20
"""Numbers that are drawn, and resampled values that are kept, at a time: memory doesn't grow with their product."""
_NORMAL = NormalDist()


def statistic_of(values: Floats, statistic: Statistic) -> Floats:
    """Return the statistic over the last axis."""
    if statistic == "mean":
        return np.asarray(values.mean(axis=-1))
    n = values.shape[-1]  # faster than np.median on many short rows
    ordered = np.sort(values, axis=-1)
    return np.asarray((ordered[..., n // 2] + ordered[..., (n - 1) // 2]) / 2)


def _draws(n: int, resamples: int) -> Iterator[npt.NDArray[np.int64]]:
    """Draw which values make each resample, some resamples at a time; the same for all rows of one length."""
    random = np.random.default_rng(SEED)
    while resamples > 0:
        count = min(resamples, max(1, CHUNK // n))
        yield random.integers(0, n, size=(count, n))
        resamples -= count


@lru_cache(maxsize=256)
def _middles(n: int, resamples: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the ranks of the values that are in the middle of each resample: the lower and the upper one."""
    ranks = [(n - 1) // 2, n // 2]
    found = np.concatenate([np.partition(draws, ranks, axis=1)[:, ranks] for draws in _draws(n, resamples)])
    return found[:, 0], found[:, 1]


def _counted(draws: npt.NDArray[np.int64]) -> Floats:
    """Count how often each value is in each resample; (n, resamples)."""
    resamples, n = draws.shape
    places = draws + n * np.arange(resamples)[:, None]
    return np.bincount(places.ravel(), minlength=n * resamples).reshape(resamples, n).T.astype(np.float64)


def _resampled(ordered: Floats, statistic: Statistic, resamples: int) -> Floats:
    """Return the statistic of every resample of sorted rows; (m, resamples).

    Of ordered values, the resample's middle is known from the drawn numbers alone, and a mean is a weighted sum.
    """
    n = ordered.shape[1]
    if statistic == "median":
        lower, upper = _middles(n, resamples)
        return np.asarray((ordered[:, lower] + ordered[:, upper]) / 2)
    return np.concatenate([ordered @ _counted(draws) / n for draws in _draws(n, resamples)], axis=1)


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
    step = max(1, CHUNK // resamples)
    blocks = [_bca(np.sort(rows[k : k + step], axis=1), statistic, level, resamples) for k in range(0, m, step)]
    return np.concatenate([low for low, _ in blocks]), np.concatenate([high for _, high in blocks])


def _bca(rows: Floats, statistic: Statistic, level: float, resamples: int) -> tuple[Floats, Floats]:
    """Return the intervals of sorted rows."""
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
    """Skewness of the statistic under leaving out one value, over six: Efron's (6.6).

    It doesn't depend on the unit, so that the deviations are divided by the largest: no power overflows.
    """
    left_out = _left_out(rows, statistic)
    deviation = left_out.mean(axis=1, keepdims=True) - left_out
    largest = np.abs(deviation).max(axis=1, keepdims=True)
    np.divide(deviation, largest, out=deviation, where=largest > 0)
    spread = (deviation**2).sum(axis=1) ** 1.5
    skew = (deviation**3).sum(axis=1) / 6
    return np.asarray(np.divide(skew, spread, out=np.zeros_like(skew), where=spread > 0))


def _left_out(rows: Floats, statistic: Statistic) -> Floats:
    """Return the statistic of sorted rows without each of their values in turn; (m, n)."""
    n = rows.shape[1]
    if statistic == "mean":
        return np.asarray((rows.sum(axis=1, keepdims=True) - rows) / (n - 1))
    out = np.arange(n)
    lower, upper = (n - 2) // 2, (n - 1) // 2  # of the others, whose ranks rise by one from the one left out on
    return np.asarray((rows[:, lower + (lower >= out)] + rows[:, upper + (upper >= out)]) / 2)


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
