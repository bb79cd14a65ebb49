"""Comparisons on the same seeds.

Each repetition of one cell has a partner of the same seed in the other cell, and only their differences count: the
part of the variation that both owe to the seed (start times, the CBR stream) cancels. The interval and the verdict
are those of `dumbbell.metrics.significance`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from dumbbell.common.words import counted
from dumbbell.metrics.bootstrap import statistic_of
from dumbbell.metrics.intervals import number
from dumbbell.metrics.needed_repetitions import too_few
from dumbbell.metrics.significance import LEVEL, MeanDifference, compare_means, whole_pairs

__all__ = ["Paired", "paired"]


@dataclass(frozen=True, slots=True)
class Paired:
    """The differences a - b over pairs; values in the unit of the quantity unless noted.

    Attributes
    ----------
    test : MeanDifference
        The mean of the differences with its interval and p-value.
    median : float
        Median of the differences; NaN without pairs.
    hodges_lehmann : float
        Median of the means of any two differences (each with itself included): as robust as the median, but finer.
    cliffs_delta : float
        Share of all (a, b) with a > b less the share with a < b, from -1 to 1, no unit.
    relative : float
        `mean` over the mean of b, no unit; NaN where that is zero.
    """

    test: MeanDifference
    median: float
    hodges_lehmann: float
    cliffs_delta: float
    relative: float

    @property
    def n(self) -> int:
        """Number of pairs with both values."""
        return self.test.n

    @property
    def mean(self) -> float:
        """Mean of the differences; NaN without pairs."""
        return self.test.difference

    @property
    def low(self) -> float:
        """Lower end of the interval of the mean; NaN where none can be given."""
        return self.test.low

    @property
    def high(self) -> float:
        """Upper end of the interval of the mean; NaN where none can be given."""
        return self.test.high

    @property
    def p(self) -> float:
        """Two-sided p-value, no unit; NaN for n < 2."""
        return self.test.p

    @property
    def level(self) -> float:
        """Confidence level of the interval, no unit."""
        return self.test.level

    @property
    def direction(self) -> Literal["higher", "lower"] | None:
        """The direction, "higher" or "lower", if a differs significantly from b, None otherwise."""
        if not self.test.significant:
            return None
        return "higher" if self.mean > 0 else "lower"

    def without_test(self) -> Paired:
        """Return the same without interval and p-value, for values that are no evidence."""
        return replace(self, test=replace(self.test, low=math.nan, high=math.nan, p=math.nan))

    def scaled(self, factor: float) -> Paired:
        """Return the same in another unit: every difference times the factor."""
        test = self.test
        ends = sorted((factor * test.low, factor * test.high))
        test = replace(test, difference=factor * test.difference, low=ends[0], high=ends[1])
        return replace(self, test=test, median=factor * self.median, hodges_lehmann=factor * self.hodges_lehmann)

    def text(self, unit: str = "", digits: int = 3) -> str:
        """Write the mean difference with sign and interval, such as ``+0.12 [+0.08, +0.15] Mbit/s``."""
        if self.n == 0:
            return "no pairs"
        after = f" {unit}" if unit else ""
        mean, low, high = (number(v, digits, sign=True) for v in (self.mean, self.low, self.high))
        if self.n == 1:
            return f"{mean}{after} (one pair)"
        return f"{mean}{after}" if math.isnan(self.low) else f"{mean} [{low}, {high}]{after}"

    def sentence(self, a: str, b: str, unit: str = "", digits: int = 3) -> str:
        """Write the comparison as a sentence."""
        if self.n == 0:
            return f"{a} and {b} were not measured together"
        numbers = f"mean difference {self.text(unit, digits)}, {counted(self.n, 'pair')}"
        if self.direction is not None:
            return f"{a} is {self.direction} than {b} ({numbers})"
        few = too_few(self.test)
        return f"no difference shown between {a} and {b} ({numbers}{f'; {few}' if few else ''})"


def paired(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = LEVEL) -> Paired:
    """Compare two cells over the same seeds.

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
    >>> paired([5.1, 5.3, 5.2, 5.4, 5.2], [4.8, 5.1, 5.0, 5.0, 5.1]).sentence("Reno", "Vegas", "Mbit/s")
    'Reno is higher than Vegas (mean difference +0.240 [+0.0984, +0.382] Mbit/s, 5 pairs)'
    """
    first, second = whole_pairs(a, b)
    test = compare_means(first, second, level=level)
    if test.n == 0:
        nan = math.nan
        return Paired(test, nan, nan, nan, nan)
    difference = first - second
    base = float(second.mean())
    i, j = np.triu_indices(len(difference))
    return Paired(
        test=test,
        median=float(statistic_of(difference, "median")),
        hodges_lehmann=float(np.median((difference[i] + difference[j]) / 2)),
        cliffs_delta=float(np.sign(first[:, None] - second[None, :]).mean()),
        relative=test.difference / base if base else math.nan,
    )
