"""Statistics over repetitions: the mean or median, the spread, and an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import DumbbellError
from dumbbell.metrics.bootstrap import RESAMPLES, Statistic, bca, statistic_of
from dumbbell.metrics.significance import t_quantile

__all__ = ["FEWEST", "Interval", "Summary", "number", "summarize", "summarize_all"]

Interval = Literal["bca", "student"]

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
        The interval of the median (of the mean for Student's t); NaN for n < 2, and no wider than the value itself
        where all values are equal.
    level : float
        Confidence level of the interval.
    statistic : {"median", "mean"}
        The statistic of the interval.
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

    @property
    def value(self) -> float:
        """The statistic that the interval is of."""
        return self.median if self.statistic == "median" else self.mean

    def text(self, unit: str = "", digits: int = 3) -> str:
        """Write value and interval, such as ``1.23 [1.20, 1.26] Mbit/s``."""
        if self.n == 0:
            return "no value"
        after = f" {unit}" if unit else ""
        value, low, high = (number(v, digits) for v in (self.value, self.low, self.high))
        return f"{value}{after} (one value)" if math.isnan(self.low) else f"{value} [{low}, {high}]{after}"


def summarize(
    values: npt.ArrayLike,
    *,
    interval: Interval = "bca",
    statistic: Statistic | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Summary:
    """Summarize one quantity.

    Parameters
    ----------
    values : (n,) float64, any unit
        One value for each repetition; NaN where a repetition gave none.
    interval : {"bca", "student"}
        The BCa bootstrap (default), or mean +- Student's t (needs SciPy).
    statistic : {"median", "mean"}, optional
        The statistic of the interval; default: the median, with Student's t the mean.
    level : float, no unit
        Confidence level.
    resamples : int
        Of the bootstrap.

    Raises
    ------
    DumbbellError
        If Student's t is asked for the median, or for a level outside (0, 1).
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    return summarize_all([flat], interval=interval, statistic=statistic, level=level, resamples=resamples)[0]


def summarize_all(
    samples: Sequence[npt.ArrayLike],
    *,
    interval: Interval = "bca",
    statistic: Statistic | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> list[Summary]:
    """Summarize many quantities at once; see `summarize`. Much faster than one by one."""
    statistic = statistic or ("mean" if interval == "student" else "median")
    if interval == "student" and statistic == "median":
        raise DumbbellError("Student's t gives an interval of the mean: ask for statistic 'mean', or for 'bca'")
    if not 0 < level < 1:
        raise DumbbellError(f"level: {level} given: must be between 0 and 1, such as 0.95")
    rows = [np.asarray(s, dtype=np.float64).ravel() for s in samples]
    rows = [np.sort(row[~np.isnan(row)]) for row in rows]  # sorted, so that sums do not depend on the order of the runs
    done: dict[int, Summary] = {}
    for n in sorted({len(row) for row in rows}):
        numbers = [k for k, row in enumerate(rows) if len(row) == n]
        block = np.array([rows[k] for k in numbers]).reshape(len(numbers), n)
        low, high = _intervals(block, interval, statistic, level, resamples)
        for k, row, a, b in zip(numbers, block, low, high, strict=True):
            done[k] = _one(row, float(a), float(b), level, statistic)
    return [done[k] for k in range(len(rows))]


def _one(row: npt.NDArray[np.float64], low: float, high: float, level: float, statistic: Statistic) -> Summary:
    n = len(row)
    if n == 0:
        nan = math.nan
        return Summary(0, nan, nan, nan, nan, nan, nan, nan, level, statistic)
    return Summary(
        n=n,
        mean=float(row.mean()),
        median=float(statistic_of(row, "median")),
        sd=float(row.std(ddof=1)) if n > 1 else math.nan,
        min=float(row.min()),
        max=float(row.max()),
        low=low,
        high=high,
        level=level,
        statistic=statistic,
    )


def _intervals(
    block: npt.NDArray[np.float64], interval: Interval, statistic: Statistic, level: float, resamples: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    if interval == "bca":
        return bca(block, statistic, level, resamples)
    m, n = block.shape
    if n < 2:
        return np.full(m, np.nan), np.full(m, np.nan)
    half = t_quantile(n - 1, level) * block.std(axis=1, ddof=1) / math.sqrt(n)
    mean = block.mean(axis=1)
    return mean - half, mean + half
