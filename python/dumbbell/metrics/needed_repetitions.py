"""Numbers of repetitions: the least with which a test can reach its level, and those that show a given difference.

The test is that of `dumbbell.metrics.significance`: Student's t on pairs. Its power is computed with the noncentral
distribution of t.

References
----------
.. [1] N. L. Johnson and B. L. Welch, "Applications of the non-central t-distribution", Biometrika 31 (1940).
"""

from __future__ import annotations

import math

from dumbbell.common.words import counted
from dumbbell.metrics.significance import LEAST, LEVEL, MeanDifference, t_quantile

__all__ = ["least_repetitions", "repetitions_for", "too_few"]

POWER = 0.8
"""Probability with which a planned number of repetitions shows a difference that exists: the usual choice."""
MOST = 1_000_000
"""Largest number of repetitions that `repetitions_for` returns."""


def least_repetitions(level: float = LEVEL, *, tied: bool = False) -> int:
    """Return the number of repetitions from which the test can reach its level.

    Parameters
    ----------
    level : float, no unit
        Confidence level of the comparison; in a family, that of its step of Holm's procedure.
    tied : bool
        True if all differences are equal.

    Examples
    --------
    >>> least_repetitions(), least_repetitions(tied=True), least_repetitions(0.999, tied=True)
    (2, 4, 6)
    """
    if not tied:
        return LEAST
    n = LEAST
    while 4.0 ** (1 - n) > 1 - level:
        n += 1
    return n


def repetitions_for(sd: float, difference: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """Return the number of pairs with which Student's t shows a difference of a given size.

    Parameters
    ----------
    sd : float, unit of the quantity
        Standard deviation of the differences over pairs.
    difference : float, unit of the quantity
        Mean difference to show; its sign has no effect.
    level : float, no unit
        Confidence level of the two-sided test.
    power : float, no unit
        Probability that the test shows the difference.

    Returns
    -------
    int
        At least `LEAST`, at most `MOST`.

    Examples
    --------
    >>> repetitions_for(1.0, 1.0), repetitions_for(1.0, 0.5)
    (10, 34)
    """
    from scipy.special import nctdtr  # slow to import

    if difference == 0 or not math.isfinite(sd) or not math.isfinite(difference):
        return MOST
    if sd == 0:
        return least_repetitions(level, tied=True)

    def enough(n: int) -> bool:
        off = abs(difference) / sd * math.sqrt(n)
        shown = 1 - float(nctdtr(n - 1, off, t_quantile(n - 1, level)))
        return shown >= power or (off > 30 and math.isnan(shown))

    n = LEAST
    while n < MOST and not enough(n):
        n *= 2
    low, high = n // 2, min(n, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle >= LEAST and enough(middle) else (middle, high)
    return max(high, LEAST)


def too_few(found: MeanDifference) -> str:
    """Return why a test cannot reach its level with the repetitions used; empty if it can.

    Examples
    --------
    >>> from dumbbell.metrics import compare_means
    >>> too_few(compare_means([2.0, 2.0, 2.0], [1.0, 1.0, 1.0]))
    '3 repetitions are too few for this test: at least 4'
    """
    least = least_repetitions(found.level, tied=found.tied and found.difference != 0)
    if found.n >= least:
        return ""
    verb = "is" if found.n == 1 else "are"
    return f"{counted(found.n, 'repetition')} {verb} too few for this test: at least {least}"
