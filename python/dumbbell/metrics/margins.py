"""The difference that matters: verdicts against a margin, and not only against zero.

With many repetitions every difference is significant, also one that matters to nobody. A verdict "higher by at least
the margin" needs the whole interval beyond the margin. "Equal within the margin" needs two one-sided tests, or the
same: the interval of 1 - 2 alpha, 90 % at 95 %, within the margin on both sides [1]_. A comparison makes at most one of
these claims, and Holm's procedure is applied to the claims of a family.

References
----------
.. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing the
   equivalence of average bioavailability", J. Pharmacokin. Biopharm. 15 (1987).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dumbbell.metrics.intervals import number
from dumbbell.metrics.significance import compare_means

__all__ = ["Margin", "Verdict", "claim", "verdict"]

Verdict = Literal[
    "higher by at least the margin",
    "lower by at least the margin",
    "equal within the margin",
    "higher, but not shown by at least the margin",
    "lower, but not shown by at least the margin",
    "higher",
    "lower",
    "not shown",
    "refused",
]
"""The verdicts; "higher" and "lower" only without a margin, "refused" where repetitions are copies of one run."""


@dataclass(frozen=True, slots=True)
class Margin:
    """A difference that matters.

    Attributes
    ----------
    size : float
        Above zero: the unit of the metric, or a part of the larger mean.
    relative : bool
        True for a part.
    """

    size: float
    relative: bool = False

    def of(self, a: float, b: float) -> float:
        """Return the margin between two means, in their unit."""
        return self.size * max(abs(a), abs(b)) if self.relative else self.size

    def text(self, unit: str = "", factor: float = 1.0) -> str:
        """Write the margin, such as ``1 %`` or ``0.1 Mbit/s``; `factor`: to the unit."""
        return f"{100 * self.size:g} %" if self.relative else f"{number(factor * self.size)} {unit}".rstrip()


def claim(a: npt.ArrayLike, b: npt.ArrayLike, margin: float, *, pairs: bool = True) -> tuple[bool, float]:
    """Test the claim about a margin that the difference of two means supports.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
        As for `dumbbell.metrics.compare_means`.
    margin : float, unit of the values
    pairs : bool

    Returns
    -------
    beyond : bool
        True if the difference is at least the margin, so that this is the claim; otherwise the claim is that both are
        equal within it.
    p : float
        The claim is shown at each level 1 - alpha with alpha of at least p. NaN for less than two repetitions.

    Examples
    --------
    >>> beyond, p = claim([5.1, 5.3, 5.2, 5.4, 5.2], [4.8, 5.1, 5.0, 5.0, 5.1], 0.5)
    >>> beyond, round(p, 4)
    (False, 0.0035)
    """
    difference = compare_means(a, b, pairs=pairs).difference
    beyond = abs(difference) >= margin
    shifted = np.asarray(a, dtype=np.float64) - math.copysign(margin, difference)
    p = compare_means(shifted, b, pairs=pairs).p
    return beyond, p if beyond else p / 2  # equality is one-sided: the other edge is farther away


def verdict(difference: float, *, significant: bool, beyond: bool | None, shown: bool) -> Verdict:
    """Return the verdict of one comparison.

    Parameters
    ----------
    difference : float
    significant : bool
        True if it differs from zero.
    beyond, shown : bool
        The claim about the margin (None without a margin), and True if it is shown.

    Examples
    --------
    >>> verdict(0.2, significant=True, beyond=False, shown=False)
    'higher, but not shown by at least the margin'
    """
    if beyond is not None and shown:
        if not beyond:
            return "equal within the margin"
        return "higher by at least the margin" if difference > 0 else "lower by at least the margin"
    if not significant:
        return "not shown"
    if beyond is None:
        return "higher" if difference > 0 else "lower"
    return (
        "higher, but not shown by at least the margin"
        if difference > 0
        else "lower, but not shown by at least the margin"
    )
