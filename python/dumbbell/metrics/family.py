"""Families of comparisons: with many of them some difference shows by chance, unless each has to show more.

Each comparison gives a p-value (Wilcoxon's signed-rank test on the pairs), and Holm's procedure makes all of them
together hold at the level.

References
----------
Wilcoxon, F., Biometrics Bulletin 1(6), 1945; Holm, S., "A simple sequentially rejective multiple test procedure",
Scand. J. Statist. 6 (1979).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dumbbell.metrics.pairs import FEWEST, Paired, paired
from dumbbell.metrics.ratios import Ratio, ratio

__all__ = ["Compared", "compare_all", "holm", "signed_rank"]


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Adjust p-values for their number.

    Parameters
    ----------
    p : (k,) float64, no unit
        NaN where there is nothing to test: such a comparison isn't counted.

    Returns
    -------
    (k,) float64, no unit
        The smallest level at which each would be called shown, all of them together.
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    order = np.argsort(values)[: int((~np.isnan(values)).sum())]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order]))
    return adjusted


def signed_rank(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Give the two-sided p-value of Wilcoxon's signed-rank test on pairs; NaN for fewer than five pairs.

    Pairs that are equal count half to each side (Pratt's treatment of zeros).
    """
    first, second = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    difference = first - second
    difference = difference[~np.isnan(difference)]
    if difference.size < FEWEST:
        return float("nan")
    if not difference.any():
        return 1.0
    from scipy.stats import wilcoxon  # noqa: PLC0415 - slow to import

    return float(wilcoxon(difference, zero_method="pratt").pvalue)


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison of a family: who, the paired difference and ratio, its p-value alone and within the family."""

    a: str
    b: str
    difference: Paired
    times: Ratio
    p: float
    adjusted: float
    level: float

    @property
    def shown(self) -> bool:
        """Whether the difference is shown among all comparisons of the family."""
        return bool(self.adjusted <= 1 - self.level)

    def scaled(self, factor: float) -> Compared:
        """Give the same in another unit: every difference times the factor."""
        d = self.difference
        changed = {name: factor * getattr(d, name) for name in ("median", "low", "high", "hodges_lehmann")}
        return replace(self, difference=replace(d, **changed))

    def sentence(self, unit: str = "", digits: int = 3) -> str:
        """Say it in words."""
        if self.shown:
            side = "higher" if self.difference.median > 0 else "lower"
            times = f", {self.times.text()}" if self.times.n == self.difference.n else ""
            numbers = f"{self.difference.text(unit, digits)}{times}, Holm p {self.adjusted:.2g}"
            return f"{self.a} is {side} than {self.b} ({numbers})"
        if self.difference.n < FEWEST:
            return f"too few pairs to show a difference between {self.a} and {self.b}"
        return f"no difference shown between {self.a} and {self.b} ({self.difference.text(unit, digits)})"


def compare_all(
    samples: Mapping[str, npt.ArrayLike], *, pairs: Sequence[tuple[str, str]] | None = None, level: float = 0.95
) -> list[Compared]:
    """Compare cells on the same seeds, all with all or the pairs given, with Holm's correction.

    Parameters
    ----------
    samples : name -> (n,) float64, any one unit
        Values by repetition, in the same order everywhere.
    pairs : sequence of (name, name), optional
        Which comparisons make the family; default: each name with each later one.
    level : float, no unit
        Confidence level of the family.
    """
    names = list(samples)
    wanted = pairs if pairs is not None else [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    p = [signed_rank(samples[a], samples[b]) for a, b in wanted]
    return [
        Compared(
            a,
            b,
            paired(samples[a], samples[b], level=level),
            ratio(samples[a], samples[b], level=level),
            own,
            float(adjusted),
            level,
        )
        for (a, b), own, adjusted in zip(wanted, p, holm(p), strict=True)
    ]
