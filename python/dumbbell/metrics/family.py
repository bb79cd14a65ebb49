"""Families of comparisons, with Holm's correction for their number.

Among many comparisons some difference looks significant by chance. Holm's procedure keeps the probability of one or
more such false positives below 5 % for the whole family. Each comparison is tested at the level of its own step of
the procedure, and its interval has that level. So the interval excludes zero exactly where the difference is
significant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy.typing as npt

from dumbbell.metrics.needed_repetitions import too_few
from dumbbell.metrics.pairs import Paired, paired
from dumbbell.metrics.ratios import Ratio, ratio
from dumbbell.metrics.significance import LEVEL, holm, holm_levels, p_value

__all__ = ["Compared", "compare_all"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison of a family.

    Attributes
    ----------
    a, b : str
        Names of the two cells.
    difference : Paired
        a - b over pairs, with the interval at the level of Holm's step.
    times : Ratio
        a / b over pairs, at the same level.
    p : float
        Two-sided p-value of this comparison alone.
    adjusted : float
        p-value within the family, by Holm.
    level : float
        Confidence level of the family.
    """

    a: str
    b: str
    difference: Paired
    times: Ratio
    p: float
    adjusted: float
    level: float

    @property
    def significant(self) -> bool:
        """True if the difference is significant among all comparisons of the family."""
        return bool(self.adjusted <= 1 - self.level)

    @property
    def direction(self) -> str | None:
        """The direction, "higher" or "lower", if a differs significantly from b, None otherwise."""
        return ("higher" if self.difference.mean > 0 else "lower") if self.significant else None

    def scaled(self, factor: float) -> Compared:
        """Return the same in another unit: every difference times the factor."""
        return replace(self, difference=self.difference.scaled(factor))

    def sentence(self, unit: str = "", digits: int = 3) -> str:
        """Write the comparison as a sentence."""
        shown = self.difference.text(unit, digits)
        if self.significant:
            times = "" if math.isnan(self.times.value) else f", {self.times.text()}"
            return f"{self.a} is {self.direction} than {self.b} ({shown}{times}, Holm p {self.adjusted:.2g})"
        few = too_few(self.difference.test)
        return f"no difference shown between {self.a} and {self.b} ({shown}{f'; {few}' if few else ''})"


def compare_all(
    samples: Mapping[str, npt.ArrayLike], *, pairs: Sequence[tuple[str, str]] | None = None, level: float = LEVEL
) -> list[Compared]:
    """Compare cells on the same seeds, all with all or the given pairs, with Holm's correction.

    Parameters
    ----------
    samples : name -> (n,) float64, any one unit
        Values by repetition, in the same order everywhere.
    pairs : sequence of (name, name), optional
        The comparisons of the family; default: each name with each later one.
    level : float, no unit
        Confidence level of the family.

    Raises
    ------
    DumbbellError
        If the lengths of a pair differ.

    Examples
    --------
    >>> samples = {"reno": [5.1, 5.3, 5.2, 5.4], "vegas": [4.6, 4.9, 4.7, 4.9], "veno": [5.0, 5.4, 5.1, 5.4]}
    >>> for compared in compare_all(samples):
    ...     print(compared.sentence("Mbit/s"))
    reno is higher than vegas (+0.475 [+0.354, +0.596] Mbit/s, 1.10 times [1.07, 1.13], Holm p 0.00096)
    no difference shown between reno and veno (+0.0250 [-0.127, +0.177] Mbit/s)
    vegas is lower than veno (-0.450 [-0.571, -0.329] Mbit/s, 0.914 times [0.899, 0.931], Holm p 0.0011)
    """
    names = list(samples)
    wanted = pairs if pairs is not None else [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    p = [p_value(samples[a], samples[b]) for a, b in wanted]
    return [
        Compared(
            a,
            b,
            paired(samples[a], samples[b], level=float(own)),
            ratio(samples[a], samples[b], level=float(own)),
            alone,
            float(adjusted),
            level,
        )
        for (a, b), alone, adjusted, own in zip(wanted, p, holm(p), holm_levels(p, level), strict=True)
    ]
