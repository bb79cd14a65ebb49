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

from dumbbell.metrics.margins import Margin, Verdict, claim, verdict
from dumbbell.metrics.needed_repetitions import too_few
from dumbbell.metrics.pairs import Paired, paired
from dumbbell.metrics.ratios import Ratio, ratio
from dumbbell.metrics.significance import LEAST, LEVEL, holm, holm_levels, p_value, whole_pairs

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
    margin : Margin, optional
        The difference that matters.
    margin_size : float
        The same in the unit of the values; NaN without one.
    beyond : bool, optional
        True if the mean difference is at least the margin; None without a margin.
    claim_p : float
        p-value, within the family by Holm, of the claim about the margin: at least it, or equal within it.
    refused : str
        Why the values are no evidence: then no interval and no p-value exist. Empty if they are.
    """

    a: str
    b: str
    difference: Paired
    times: Ratio
    p: float
    adjusted: float
    level: float
    margin: Margin | None = None
    margin_size: float = math.nan
    beyond: bool | None = None
    claim_p: float = math.nan
    refused: str = ""

    @property
    def significant(self) -> bool:
        """True if the difference is significant among all comparisons of the family."""
        return bool(self.adjusted <= 1 - self.level)

    @property
    def direction(self) -> str | None:
        """The direction, "higher" or "lower", if a differs significantly from b, None otherwise."""
        return ("higher" if self.difference.mean > 0 else "lower") if self.significant else None

    @property
    def verdict(self) -> Verdict:
        """The result in words."""
        if self.refused:
            return "refused"
        shown = bool(self.claim_p <= 1 - self.level)
        return verdict(self.difference.mean, significant=self.significant, beyond=self.beyond, shown=shown)

    def scaled(self, factor: float) -> Compared:
        """Return the same in another unit: every difference times the factor."""
        margin = self.margin
        if margin is not None and not margin.relative:
            margin = replace(margin, size=factor * margin.size)
        return replace(
            self, difference=self.difference.scaled(factor), margin=margin, margin_size=factor * self.margin_size
        )

    def sentence(self, unit: str = "", digits: int = 3) -> str:
        """Write the comparison as a sentence."""
        shown = self.difference.text(unit, digits)
        found = self.verdict
        if found == "refused":
            return f"no verdict on {self.a} and {self.b} ({shown}; {self.refused})"
        if found == "not shown":
            few = too_few(self.difference.test)
            return f"no difference shown between {self.a} and {self.b} ({shown}{f'; {few}' if few else ''})"
        times = "" if math.isnan(self.times.value) else f", {self.times.text()}"
        p = self.claim_p if found.endswith(" margin") and "not shown" not in found else self.adjusted
        numbers = f"({shown}{times}, Holm p {p:.2g})"
        margin = "" if self.margin is None else self.margin.text(unit)
        if found == "equal within the margin":
            return f"{self.a} and {self.b} are equal within {margin} {numbers}"
        head, _, tail = found.replace("the margin", margin).partition(self.direction or "")
        return f"{self.a} is {head}{self.direction} than {self.b}{tail} {numbers}"


def compare_all(
    samples: Mapping[str, npt.ArrayLike],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    level: float = LEVEL,
    margin: Margin | None = None,
    refused: Mapping[str, str] | None = None,
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
    margin : Margin, optional
        The difference that matters.
    refused : name -> reason, optional
        Samples that are no evidence. Their comparisons don't count in the family.

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
    why = [next((refused[name] for name in pair if name in refused), "") if refused else "" for pair in wanted]
    p = [math.nan if no else p_value(samples[a], samples[b]) for (a, b), no in zip(wanted, why, strict=True)]
    claims = [
        _Claim() if margin is None or no else _claim(samples[a], samples[b], margin)
        for (a, b), no in zip(wanted, why, strict=True)
    ]
    steps = zip(p, holm(p), holm_levels(p, level), claims, holm([c.p for c in claims]), strict=True)
    found = []
    for (a, b), no, (alone, adjusted, own, claimed, claim_p) in zip(wanted, why, steps, strict=True):
        difference = paired(samples[a], samples[b], level=float(own))
        times = ratio(samples[a], samples[b], level=float(own))
        if no:
            difference, times = difference.without_test(), times.without_test()
        about = (margin, claimed.size, claimed.beyond, float(claim_p))
        found.append(Compared(a, b, difference, times, alone, float(adjusted), level, *about, refused=no))
    return found


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a comparison claims about the margin, whose size is in the unit of the values."""

    size: float = math.nan
    beyond: bool | None = None
    p: float = math.nan


def _claim(a: npt.ArrayLike, b: npt.ArrayLike, margin: Margin) -> _Claim:
    first, second = whole_pairs(a, b)
    if first.size < LEAST:
        return _Claim()
    size = margin.of(float(first.mean()), float(second.mean()))
    return _Claim(size, *claim(first, second, size)) if size > 0 else _Claim()
