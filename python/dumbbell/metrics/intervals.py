"""Statistics over repetitions: the mean or median, the spread, and an interval.

The interval of a median is between two of the ordered values. It needs no assumption about their distribution, and
the level that it covers is known: at most 93.75 % for five values, from the smallest to the largest.

The interval of a mean by Student's t is calculated on a scale without bounds, for a quantity that has some: logarithms
where it is at least zero, log-odds where it is between two bounds [1]_ [2]_. Its ends are then possible values.

References
----------
.. [1] H. A. David and H. N. Nagaraja, "Order Statistics", 3rd ed., Wiley (2003), §7.1: the interval of a median.
.. [2] A. Agresti, "Categorical Data Analysis", 3rd ed., Wiley (2013), §1.4.3 and §3.1: intervals of the log-odds
   and of logarithms by the delta method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from dumbbell.common.numbers import ROUNDING
from dumbbell.exceptions import DumbbellError
from dumbbell.metrics.bootstrap import RESAMPLES, Statistic, bca, statistic_of
from dumbbell.metrics.significance import t_quantile

__all__ = ["FEWEST", "Interval", "Summary", "number", "summarize", "summarize_all"]

Interval = Literal["order", "bca", "student"]
Bounds = tuple[float, float]

UNBOUNDED = (-math.inf, math.inf)
LEAST_OF_MEDIAN = 3
"""Values from which a median has an interval: from the smaller to the larger of two it would cover 50 %."""
FEWEST = 5
"""Values from which a bootstrap interval may decide a verdict: fewer give too few different resamples."""


SMALLEST = 1e-7
"""Size from which `number` writes no exponent."""


def number(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """Write a number with so many significant digits, zeros at its end kept: 63 is ``63.0`` beside 62.7.

    From 1e-7 on without an exponent.
    """
    plus = "+" if sign else ""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    if abs(value) >= 10**digits:
        return f"{value:{plus}.0f}"
    if SMALLEST <= abs(value) < 1e-4:  # where the format g begins to write exponents
        return f"{value:{plus}.{digits - 1 - math.floor(math.log10(abs(value)))}f}"
    return f"{value:{plus}#.{digits}g}".rstrip(".")


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of one quantity over repetitions; every value in the unit of that quantity.

    Attributes
    ----------
    n : int
        Number of values; missing ones (NaN) are left out and not counted.
    mean, median, sd, min, max : float
        The usual; sd with n - 1, NaN for n < 2; all NaN for n = 0.
    low, high : float
        The interval of the median (of the mean for Student's t); NaN for n < 2, and for n < 3 between ordered values.
        No wider than the value itself where all values are equal.
    level : float
        Confidence level of the interval; between ordered values the one that it covers, which is higher or, for few
        values, lower than `asked`.
    statistic : {"median", "mean"}
        The statistic of the interval.
    asked : float
        The level that was asked for.
    """

    n: int
    mean: float
    median: float
    sd: float
    min: float
    max: float
    low: float
    high: float
    level: float
    statistic: Statistic
    asked: float = 0.95

    @property
    def value(self) -> float:
        """The statistic that the interval is of."""
        return self.median if self.statistic == "median" else self.mean

    def text(self, unit: str = "", digits: int = 3) -> str:
        """Write value and interval, such as ``1.23 [1.20, 1.26] Mbit/s``; with its level where that is too low."""
        if self.n == 0:
            return "no value"
        after = f" {unit}" if unit else ""
        value, low, high = (number(v, digits) for v in (self.value, self.low, self.high))
        if math.isnan(self.low):
            return f"{value}{after} ({'one value' if self.n == 1 else f'{self.n} values: no interval'})"
        level = f"; {100 * self.level:.4g} %" if self.level < self.asked and self.low < self.high else ""
        return f"{value} [{low}, {high}{level}]{after}"


def summarize(
    values: npt.ArrayLike,
    *,
    interval: Interval | None = None,
    statistic: Statistic | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    bounds: Bounds = UNBOUNDED,
) -> Summary:
    """Summarize one quantity.

    Parameters
    ----------
    values : (n,) float64, any unit
        One value for each repetition; NaN where a repetition gave none.
    interval : {"order", "bca", "student"}, optional
        Between two ordered values (default for the median), the BCa bootstrap (default for the mean), or Student's t
        about the mean (needs SciPy).
    statistic : {"median", "mean"}, optional
        The statistic of the interval; default: the median, with Student's t the mean.
    level : float, no unit
        Confidence level. Between ordered values the next higher one that exists, or the highest.
    resamples : int
        Of the bootstrap.
    bounds : (float, float), unit of the values
        Smallest and largest possible value, which Student's interval doesn't cross: (0, 1) for a share, (0, inf) for a
        ratio or a rate. The others are within the values anyway.

    Raises
    ------
    DumbbellError
        If Student's t is asked for the median, ordered values for the mean, a level outside (0, 1), or for values that
        are out of bounds.

    Examples
    --------
    >>> summarize([0.91, 0.95, 0.97, 0.99, 1.0]).text()
    '0.970 [0.910, 1.00; 93.75 %]'
    >>> summarize([0.91, 0.95, 0.97, 0.99, 1.0], interval="student", bounds=(0, 1)).text()
    '0.964 [0.882, 0.990]'
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    return summarize_all(
        [flat], interval=interval, statistic=statistic, level=level, resamples=resamples, bounds=bounds
    )[0]


def summarize_all(
    samples: Sequence[npt.ArrayLike],
    *,
    interval: Interval | None = None,
    statistic: Statistic | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    bounds: Bounds = UNBOUNDED,
) -> list[Summary]:
    """Summarize many quantities at once; see `summarize`. Much faster than one by one."""
    statistic = statistic or ("mean" if interval == "student" else "median")
    interval = interval or ("bca" if statistic == "mean" else "order")
    if interval == "student" and statistic == "median":
        raise DumbbellError("Student's t gives an interval of the mean: ask for statistic 'mean', or for 'order'")
    if interval == "order" and statistic == "mean":
        raise DumbbellError("ordered values give an interval of the median: ask for statistic 'median', or for 'bca'")
    if not 0 < level < 1:
        raise DumbbellError(f"level: {level} given: must be between 0 and 1, such as 0.95")
    rows = [np.asarray(s, dtype=np.float64).ravel() for s in samples]
    rows = [np.sort(row[~np.isnan(row)]) for row in rows]  # sorted, so that sums do not depend on the order of the runs
    done: dict[int, Summary] = {}
    for n in sorted({len(row) for row in rows}):
        numbers = [k for k, row in enumerate(rows) if len(row) == n]
        block = np.array([rows[k] for k in numbers]).reshape(len(numbers), n)
        low, high, covered = _intervals(block, interval, statistic, level, resamples, bounds)
        for k, row, a, b in zip(numbers, block, low, high, strict=True):
            done[k] = _one(row, float(a), float(b), covered, statistic, level)
    return [done[k] for k in range(len(rows))]


def _one(
    row: npt.NDArray[np.float64], low: float, high: float, covered: float, statistic: Statistic, level: float
) -> Summary:
    n = len(row)
    if n == 0:
        nan = math.nan
        return Summary(0, nan, nan, nan, nan, nan, nan, nan, level, statistic, level)
    return Summary(
        n=n,
        mean=float(row.mean()),
        median=float(statistic_of(row, "median")),
        sd=float(row.std(ddof=1)) if n > 1 else math.nan,
        min=float(row.min()),
        max=float(row.max()),
        low=low,
        high=high,
        level=covered,
        statistic=statistic,
        asked=level,
    )


def _intervals(
    block: npt.NDArray[np.float64],
    interval: Interval,
    statistic: Statistic,
    level: float,
    resamples: int,
    bounds: Bounds,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Return the lower and the upper ends for sorted rows, and the level that they cover."""
    m, n = block.shape
    if interval == "bca":
        return *bca(block, statistic, level, resamples), level
    if interval == "order":
        if n < LEAST_OF_MEDIAN:
            return np.full(m, np.nan), np.full(m, np.nan), level
        rank, covered = _ranks(n, level)
        return block[:, rank], block[:, n - 1 - rank], covered
    if n < 2:
        return np.full(m, np.nan), np.full(m, np.nan), level
    error = t_quantile(n - 1, level) * block.std(axis=1, ddof=1) / math.sqrt(n)
    return *_within(block.mean(axis=1), error, block, bounds), level


@lru_cache(maxsize=256)
def _ranks(n: int, level: float) -> tuple[int, float]:
    """Return the rank, from 0, of the lower end of a median's interval, and the level that the interval covers.

    The median is below the value of rank r with the probability that at most r of n fair coins show heads [1]_.
    """
    from scipy.special import bdtr  # slow to import

    below = bdtr(np.arange((n + 1) // 2), n, 0.5)
    fitting = np.flatnonzero(1 - 2 * below >= level)
    rank = int(fitting[-1]) if fitting.size else 0
    return rank, float(1 - 2 * below[rank])


def _within(
    mean: npt.NDArray[np.float64], half: npt.NDArray[np.float64], block: npt.NDArray[np.float64], bounds: Bounds
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the ends of Student's interval, on a scale on which the bounds are infinitely far [2]_."""
    least, largest = bounds
    smallest, most = float(block.min()), float(block.max())
    if smallest < least - ROUNDING * abs(least) or most > largest + ROUNDING * abs(largest):
        raise DumbbellError(f"bounds {least:g} to {largest:g} given: the values are from {smallest:g} to {most:g}")
    below, above = mean - least, largest - mean
    inside = (below > 0) & (above > 0)  # at a bound all values are equal
    with np.errstate(divide="ignore", invalid="ignore"):
        if math.isinf(least) and math.isinf(largest):
            return mean - half, mean + half
        if math.isinf(largest):
            times = np.exp(half / below)
            low, high = least + below / times, least + below * times
        elif math.isinf(least):
            times = np.exp(half / above)
            low, high = largest - above * times, largest - above / times
        else:
            times = np.exp(half * (largest - least) / (below * above))
            low = least + (largest - least) * below / (below + above * times)
            high = least + (largest - least) * below / (below + above / times)
    return np.where(inside, low, mean), np.where(inside, high, mean)
