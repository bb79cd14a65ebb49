"""How many times as much: ratios on the same seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy.typing as npt

from dumbbell.metrics.bootstrap import RESAMPLES, bca, statistic_of
from dumbbell.metrics.pairs import FEWEST, whole_pairs
from dumbbell.metrics.summary import number

__all__ = ["Ratio", "ratio"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratios a / b over pairs, no unit: n pairs, their median and its BCa interval (NaN for n < 2)."""

    n: int
    median: float
    low: float
    high: float

    @property
    def shown(self) -> bool:
        """Whether it is shown to differ from one: the interval leaves one out, from at least five pairs."""
        return self.n >= FEWEST and (self.low > 1 or self.high < 1)

    def text(self) -> str:
        """Write the ratio with its interval, such as ``1.82 times [1.63, 2.01]``."""
        interval = "" if math.isnan(self.low) else f" [{number(self.low)}, {number(self.high)}]"
        return f"{number(self.median)} times{interval}"

    def sentence(self, a: str, b: str, what: str) -> str:
        """Say it in words, such as ``Vegas has 1.8 times Reno's goodput [1.6, 2.0]``."""
        if self.n == 0:
            return f"{a} and {b} were not measured together"
        interval = "" if math.isnan(self.low) else f" [{number(self.low, 2)}, {number(self.high, 2)}]"
        if self.n >= FEWEST and not self.shown:
            return f"no difference shown between {a} and {b} in {what} (ratio {number(self.median, 2)}{interval})"
        doubt = "" if self.n >= FEWEST else f", from {self.n} pair{'s' if self.n > 1 else ''} only"
        return f"{a} has {number(self.median, 2)} times {b}'s {what}{interval}{doubt}"


def ratio(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95, resamples: int = RESAMPLES) -> Ratio:
    """Compare two cells over the same seeds by their ratios.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        Values by repetition, in the same order; a pair with a NaN, or with b not above zero, is left out.
    level : float, no unit
    resamples : int

    Raises
    ------
    DumbbellError
        If the lengths differ.
    """
    first, second = whole_pairs(a, b)
    first, second = first[second > 0], second[second > 0]
    if not first.size:
        return Ratio(0, math.nan, math.nan, math.nan)
    ratios = first / second
    low, high = bca(ratios[None, :], "median", level, resamples)
    return Ratio(len(ratios), float(statistic_of(ratios, "median")), float(low[0]), float(high[0]))
