"""Ratios over pairs of the same seeds: "Vegas has 1.8 times Reno's goodput"."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy.typing as npt

from dumbbell.metrics.intervals import number
from dumbbell.metrics.needed_repetitions import too_few
from dumbbell.metrics.significance import LEVEL, compare_means, fieller, whole_pairs

__all__ = ["Ratio", "ratio"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of two means over pairs, no unit.

    Attributes
    ----------
    n : int
        Pairs.
    value : float
        Mean of a over mean of b; NaN where the mean of b is not above zero.
    low, high : float
        Fieller's interval. It excludes one exactly where the difference is significant; NaN where it is unbounded.
        Where no value of the pairs is negative, neither is `low`: a quantity that can't be negative has no negative
        ratio, and leaving out impossible ones keeps the level.
    p : float
        Two-sided p-value of the difference.
    level : float
        Confidence level.
    few : str
        Why the test cannot reach its level with these pairs; empty if it can.
    """

    n: int
    value: float
    low: float
    high: float
    p: float
    level: float
    few: str = ""

    @property
    def significant(self) -> bool:
        """True if the ratio differs significantly from one."""
        return bool(self.p <= 1 - self.level)

    def without_test(self) -> Ratio:
        """Return the same without interval and p-value, for values that are no evidence."""
        return replace(self, low=math.nan, high=math.nan, p=math.nan)

    def text(self) -> str:
        """Write the ratio with its interval, such as ``1.82 times [1.63, 2.01]``."""
        interval = "" if math.isnan(self.low) else f" [{number(self.low)}, {number(self.high)}]"
        return f"{number(self.value)} times{interval}"

    def sentence(self, a: str, b: str, what: str) -> str:
        """Write it as a sentence, such as ``Vegas has 1.8 times Reno's goodput [1.6, 2.0]``."""
        if self.n == 0 or math.isnan(self.value):
            return f"{a} and {b} were not measured together"
        interval = "" if math.isnan(self.low) else f" [{number(self.low, 2)}, {number(self.high, 2)}]"
        if self.significant:
            return f"{a} has {number(self.value, 2)} times {b}'s {what}{interval}"
        why = f"; {self.few}" if self.few else ""
        return f"no difference shown between {a} and {b} in {what} (ratio {number(self.value, 2)}{interval}{why})"


def ratio(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = LEVEL) -> Ratio:
    """Compare two cells over the same seeds by the ratio of their means.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        Values by repetition, in the same order; a pair with a NaN is left out.
    level : float, no unit
        Confidence level of the interval and of the verdict.

    Raises
    ------
    DumbbellError
        If the lengths differ.

    Examples
    --------
    >>> ratio([5.1, 5.3, 5.2, 5.4, 5.2], [4.8, 5.1, 5.0, 5.0, 5.1]).text()
    '1.05 times [1.02, 1.08]'
    """
    first, second = whole_pairs(a, b)
    test = compare_means(first, second, level=level)
    base = float(second.mean()) if test.n else math.nan
    if not base > 0:
        return Ratio(test.n, math.nan, math.nan, math.nan, test.p, level, too_few(test))
    low, high = fieller(first, second, level)
    if low < 0 and (first >= 0).all() and (second >= 0).all():
        low = 0.0
    return Ratio(test.n, float(first.mean()) / base, low, high, test.p, level, too_few(test))
