"""Significance: the one test of a difference, with the one p-value and the interval that belongs to it.

Pairs of the same seed are tested with Student's t on their differences. Two samples without common seeds are tested
with Welch's t. Interval and p-value come from the same statistic: the interval excludes zero exactly where p is at
most one minus its level. In a family of comparisons, Holm's procedure keeps the probability of one or more false
positives below the level.

`validation/significance` measures false positives and power of this test and of its alternatives.

References
----------
.. [1] Student, "The probable error of a mean", Biometrika 6 (1908).
.. [2] B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
   involved", Biometrika 34 (1947).
.. [3] S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).
.. [4] E. C. Fieller, "Some problems in interval estimation", J. R. Statist. Soc. B 16 (1954).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.common.numbers import ROUNDING
from dumbbell.exceptions import DumbbellError

__all__ = [
    "LEAST",
    "LEVEL",
    "MeanDifference",
    "compare_means",
    "fieller",
    "holm",
    "holm_levels",
    "p_value",
    "t_quantile",
    "whole_pairs",
]

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
"""Confidence level: 5 % false positives, for one comparison or for all of a family together."""
LEAST = 2
"""Repetitions without which no spread, and so no t, exists."""


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The difference of two means, tested; values in the unit of the quantity.

    Attributes
    ----------
    n : int
        Pairs; without pairs, the size of the smaller sample.
    difference : float
        Mean of a less mean of b; NaN without values.
    low, high : float
        Interval of the difference at `level`. NaN where none can be given: for one repetition, and where all
        differences are equal but too few to be significant.
    p : float
        Two-sided p-value; NaN for less than two repetitions.
    level : float
        Confidence level of the interval.
    tied : bool
        True if all differences are equal, so that t is not defined and the bound of `p_value` is used.
    """

    n: int
    difference: float
    low: float
    high: float
    p: float
    level: float
    tied: bool = False

    @property
    def significant(self) -> bool:
        """True if the difference is significant at `level`."""
        return bool(self.p <= 1 - self.level)


def whole_pairs(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return both sides without the pairs that lack a value.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        Values by repetition; NaN where a repetition has none.

    Raises
    ------
    DumbbellError
        If the lengths differ.
    """
    first, second = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if first.shape != second.shape:
        raise DumbbellError(f"pairs are needed: {len(first)} values against {len(second)}")
    whole = ~(np.isnan(first) | np.isnan(second))
    return first[whole], second[whole]


def p_value(a: npt.ArrayLike, b: npt.ArrayLike, *, pairs: bool = True) -> float:
    """Return the two-sided p-value for a difference of means.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        Values by repetition; with pairs in the same order, and of one length. NaN: no value.
    pairs : bool
        True if the n-th values of both share their seed: Student's t on the differences. False: Welch's t.

    Returns
    -------
    float
        NaN for less than two repetitions. 1 where nothing differs. Where all differences are equal, t is not defined;
        then ``4 ** (1 - n)`` is returned: n independent pairs from one distribution all differ by one and the same
        amount with at most this probability.

    Raises
    ------
    DumbbellError
        With pairs, if the lengths differ.

    Examples
    --------
    >>> round(p_value([5.1, 5.3, 5.2, 5.4, 5.2], [4.8, 5.1, 5.0, 5.0, 5.1]), 4)
    0.0093
    >>> p_value([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    0.0625
    """
    return compare_means(a, b, pairs=pairs).p


def compare_means(a: npt.ArrayLike, b: npt.ArrayLike, *, pairs: bool = True, level: float = LEVEL) -> MeanDifference:
    """Test the difference of two means, with its interval.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        As for `p_value`.
    pairs : bool
        As for `p_value`.
    level : float, no unit
        Confidence level of the interval.

    Raises
    ------
    DumbbellError
        With pairs, if the lengths differ; for a level outside (0, 1).

    Examples
    --------
    >>> found = compare_means([5.1, 5.3, 5.2, 5.4, 5.2], [4.8, 5.1, 5.0, 5.0, 5.1])
    >>> f"{found.difference:.2f} [{found.low:.2f}, {found.high:.2f}], significant: {found.significant}"
    '0.24 [0.10, 0.38], significant: True'
    """
    if not 0 < level < 1:
        raise DumbbellError(f"level: {level} given: must be between 0 and 1, such as 0.95")
    if pairs:
        first, second = whole_pairs(a, b)
        return _paired(first, second, level)
    first, second = (np.asarray(side, dtype=np.float64).ravel() for side in (a, b))
    return _welch(first[~np.isnan(first)], second[~np.isnan(second)], level)


def _paired(first: Floats, second: Floats, level: float) -> MeanDifference:
    """Test whether the mean of the differences is zero [1]_."""
    values = first - second
    n = len(values)
    if n < LEAST:
        return MeanDifference(n, float(values[0]) if n else math.nan, math.nan, math.nan, math.nan, level)
    rounding = _rounding(first, second)
    if np.ptp(values) <= rounding:
        return _tied(n, float(values.mean()), rounding, level)
    error = float(values.std(ddof=1)) / math.sqrt(n)
    return _student(n, float(values.mean()), error, n - 1, level)


def _welch(first: Floats, second: Floats, level: float) -> MeanDifference:
    """Test whether two means are equal, without assuming equal variances [2]_."""
    n = min(len(first), len(second))
    difference = float(first.mean() - second.mean()) if n else math.nan
    if n < LEAST:
        return MeanDifference(n, difference, math.nan, math.nan, math.nan, level)
    rounding = _rounding(first, second)
    if max(np.ptp(first), np.ptp(second)) <= rounding:
        return _tied(n, difference, rounding, level)
    parts = [float(side.var(ddof=1)) / len(side) for side in (first, second)]
    freedom = sum(parts) ** 2 / sum(v**2 / (len(s) - 1) for v, s in zip(parts, (first, second), strict=True))
    return _student(n, difference, math.sqrt(sum(parts)), freedom, level)


def _rounding(first: Floats, second: Floats) -> float:
    return ROUNDING * float(max(np.abs(first).max(), np.abs(second).max()))


def _student(n: int, difference: float, error: float, freedom: float, level: float) -> MeanDifference:
    """Apply Student's t distribution to a difference with its standard error."""
    from scipy.special import stdtr  # slow to import

    p = 2 * float(stdtr(freedom, -abs(difference) / error))
    half = t_quantile(freedom, level) * error
    return MeanDifference(n, difference, difference - half, difference + half, p, level)


def t_quantile(freedom: float, level: float) -> float:
    """Return the two-sided critical value of Student's t."""
    from scipy.special import stdtrit  # slow to import

    return float(stdtrit(freedom, (1 + level) / 2))


def _tied(n: int, difference: float, rounding: float, level: float) -> MeanDifference:
    """Test n equal differences, for which t is not defined.

    Let both sides be independent draws from one distribution. The probability that a pair differs by d, d not zero,
    is at most 1/4 (two values, one half each), and over all d these probabilities add up to 1 at most. So n pairs all
    differ by one amount with a probability of at most 4 (1/4)^n. A positive correlation within pairs lowers it.
    """
    if abs(difference) <= rounding:
        return MeanDifference(n, 0.0, 0.0, 0.0, 1.0, level, tied=True)
    p = 4.0 ** (1 - n)
    edge = difference if p <= 1 - level else math.nan
    return MeanDifference(n, difference, edge, edge, p, level, tied=True)


def fieller(a: Floats, b: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of the ratio of two means over pairs [4]_.

    It holds each ratio r for which a - r b passes the test of `compare_means`, so it excludes one exactly where
    the difference is significant.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        Pairs without NaN.
    level : float, no unit

    Returns
    -------
    low, high : float, no unit
        NaN for n < 2, where the mean of b is not clearly above zero (the interval is then unbounded), and where all
        differences are equal but too few to be significant.
    """
    n = len(a)
    if n < LEAST or math.isnan(compare_means(a, b, level=level).low):
        return math.nan, math.nan
    (var_a, cov), (_, var_b) = np.cov(a, b)
    mean_a, mean_b = float(a.mean()), float(b.mean())
    t = t_quantile(n - 1, level) ** 2 / n
    # (mean_a - r mean_b)^2 <= t (var_a - 2 r cov + r^2 var_b), a quadratic inequality in r.
    square, half, constant = mean_b**2 - t * var_b, mean_a * mean_b - t * cov, mean_a**2 - t * var_a
    if mean_b <= 0 or square <= 0:
        return math.nan, math.nan
    root = math.sqrt(max(half**2 - square * constant, 0.0))
    return float((half - root) / square), float((half + root) / square)


def holm(p: npt.ArrayLike) -> Floats:
    """Adjust p-values for their number [3]_.

    Parameters
    ----------
    p : (k,) float64, no unit
        NaN where nothing can be tested: such a comparison doesn't count.

    Returns
    -------
    (k,) float64, no unit
        The smallest probability of any false positive in the family at which each would be significant.

    Examples
    --------
    >>> holm([0.02, 0.01, 0.04]).tolist()
    [0.04, 0.03, 0.04]
    """
    values = np.asarray(p, dtype=np.float64)
    order, factors = _steps(values)
    adjusted = np.full(values.shape, np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order]))
    return adjusted


def holm_levels(p: npt.ArrayLike, level: float = LEVEL) -> Floats:
    """Return the confidence level at which Holm's procedure tests each comparison.

    The procedure tests the smallest p-value at (1 - level) / k, the next at (1 - level) / (k - 1), and so on, until
    one is not significant; the rest has the level of that one. An interval at this level excludes zero exactly where
    the adjusted p-value is at most 1 - level.

    Parameters
    ----------
    p : (k,) float64, no unit
    level : float, no unit
        Of the family.
    """
    values = np.asarray(p, dtype=np.float64)
    order, factors = _steps(values)
    passed = np.maximum.accumulate(factors * values[order]) <= 1 - level
    stopped = factors[~passed]
    levels = np.full(values.shape, level)
    levels[order] = 1 - (1 - level) / np.where(passed, factors, stopped[0] if stopped.size else 1.0)
    return levels


def _steps(p: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Order the p-values that exist, with the number of comparisons that are left at each step."""
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]
    return order, np.arange(order.size, 0, -1, dtype=np.float64)
