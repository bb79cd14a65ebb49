"""Comparisons on the same seeds.

Each repetition of one cell has a partner in the other, and only their differences count: what both owe to the seed
(start times, the CBR stream) cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import DumbbellError
from dumbbell.metrics.bootstrap import RESAMPLES, bca, statistic_of
from dumbbell.metrics.summary import number

__all__ = ["FEWEST", "Paired", "paired", "whole_pairs"]

Floats = npt.NDArray[np.float64]

FEWEST = 5
"""Pairs below which nothing is called shown: four of one sign happen by chance once in eight times."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The differences a - b over pairs; values in the unit of the quantity unless said otherwise.

    Attributes
    ----------
    n : int
        Pairs with both values.
    median : float
        Median of the differences; NaN without pairs.
    low, high : float
        BCa interval of that median; NaN for n < 2.
    hodges_lehmann : float
        Median of the means of any two differences (each with itself included): as robust, but finer.
    cliffs_delta : float
        Share of all (a, b) with a > b less the share with a < b, from -1 to 1, no unit.
    relative : float
        `median` over the median of b, no unit; NaN where that is zero.
    level : float
        Confidence level.
    """

    n: int
    median: float
    low: float
    high: float
    hodges_lehmann: float
    cliffs_delta: float
    relative: float
    level: float

    @property
    def shown(self) -> Literal["higher", "lower"] | None:
        """Whether a difference is shown: the interval lies on one side of zero, from at least five pairs."""
        if self.n < FEWEST or math.isnan(self.low):
            return None
        return "higher" if self.low > 0 else "lower" if self.high < 0 else None

    def text(self, unit: str = "", digits: int = 3) -> str:
        """Write the difference with sign and interval, such as ``+0.12 [+0.08, +0.15] Mbit/s``."""
        if self.n == 0:
            return "no pairs"
        after = f" {unit}" if unit else ""
        median, low, high = (number(v, digits, sign=True) for v in (self.median, self.low, self.high))
        return f"{median}{after} (one pair)" if math.isnan(self.low) else f"{median} [{low}, {high}]{after}"

    def sentence(self, a: str, b: str, unit: str = "", digits: int = 3) -> str:
        """Say it in words."""
        if self.n == 0:
            return f"{a} and {b} were not measured together"
        numbers = f"median difference {self.text(unit, digits)}, {self.n} pairs"
        if self.shown is not None:
            return f"{a} is {self.shown} than {b} ({numbers})"
        if self.n < FEWEST:
            return f"too few pairs to show a difference between {a} and {b} ({numbers})"
        return f"no difference shown between {a} and {b} ({numbers})"


def whole_pairs(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Give the values of both sides, without the pairs that lack one; DumbbellError if the lengths differ."""
    first, second = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if first.shape != second.shape:
        raise DumbbellError(f"pairs are needed: {len(first)} values against {len(second)}")
    whole = ~(np.isnan(first) | np.isnan(second))
    return first[whole], second[whole]


def paired(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95, resamples: int = RESAMPLES) -> Paired:
    """Compare two cells over the same seeds.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        Values by repetition, in the same order; a pair with a NaN is left out.
    level : float, no unit
        Confidence level of the interval.
    resamples : int
        Of the bootstrap.

    Raises
    ------
    DumbbellError
        If the lengths differ.
    """
    first, second = whole_pairs(a, b)
    n = len(first)
    if n == 0:
        nan = math.nan
        return Paired(0, nan, nan, nan, nan, nan, nan, level)
    difference = first - second
    low, high = bca(difference[None, :], "median", level, resamples)
    median = float(statistic_of(difference, "median"))
    base = float(statistic_of(second, "median"))
    i, j = np.triu_indices(n)
    return Paired(
        n=n,
        median=median,
        low=float(low[0]),
        high=float(high[0]),
        hodges_lehmann=float(np.median((difference[i] + difference[j]) / 2)),
        cliffs_delta=float(np.sign(first[:, None] - second[None, :]).mean()),
        relative=median / base if base else math.nan,
        level=level,
    )
