"""Rules that turn numbers into verdicts. Pure functions: the same for made-up numbers in a test as for runs.

A rule answers with a `Ruling`. Its statement holds if an interval shows it, and fails if an interval shows that it
doesn't hold. Otherwise the test lacks power, and the ruling has the number of repetitions that would decide. The
intervals are those of `dumbbell.metrics.significance`: Student's t over pairs of the same seed.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dumbbell.metrics import Paired, jain, paired, shares, summarize, summarize_all
from dumbbell.metrics.intervals import FEWEST, UNBOUNDED, Bounds, number
from dumbbell.metrics.needed_repetitions import least_repetitions, repetitions_for
from dumbbell.metrics.significance import LEVEL, compare_means, whole_pairs
from dumbbell.report.finding import Finding, Measured, Verdict

__all__ = [
    "COUNTS",
    "EQUAL",
    "FAIR",
    "QUICK_LEVEL",
    "Ruling",
    "advantage",
    "alike",
    "all_of",
    "all_within",
    "covers",
    "equal",
    "exchange",
    "extreme",
    "higher",
    "median_within",
    "needed",
    "repetitions_text",
    "verdict",
    "within",
]

Floats = npt.NDArray[np.float64]

EQUAL = 0.05
"""Difference, as a part of the larger mean, below which two means count as equal: in a figure the curves then lie
within a line's width or two of each other. Of two flows: the difference of their shares, 52.5 to 47.5."""
QUICK_LEVEL = 0.999
"""Least confidence level of a verdict of a quick study. With half of the whole study's repetitions, fewer than 1 % of
quick verdicts are contrary to those of the whole study in the measured cases [docs/explanations/significance.md]."""
COUNTS = f"by at least {100 * EQUAL:g} % of the larger mean, the smallest difference that counts"
"""The default of `higher` and `extreme` in the words of a rule, for sources that have no smallest difference."""
MANY = 1000
"""Repetitions from which their number isn't written out."""
FAIR = 0.95
"""Jain's index from which two flows are called equal within a run: 61 to 39, a factor of 1.6; 10 s hold few enough
loss events that equal flows differ by that much by chance."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The result of a rule: whether a statement holds, and the numbers that decided.

    Attributes
    ----------
    holds : bool or None
        None: not decided.
    measured : tuple of Measured
    needs : int or None
        Of a statement that isn't decided: the repetitions that would decide it. None: the quantity has no values.
    """

    holds: bool | None
    measured: tuple[Measured, ...] = ()
    needs: int | None = None

    def __and__(self, other: Ruling) -> Ruling:
        both = (self.holds, other.holds)
        measured = self.measured + other.measured
        if False in both:
            return Ruling(False, measured)
        unknown = [r for r in (self, other) if r.holds is None]
        if any(r.needs is None for r in unknown):
            return Ruling(None, measured)
        return Ruling(None if unknown else True, measured, max((r.needs or 0 for r in unknown), default=None))

    @property
    def verdict(self) -> Verdict:
        """The verdict of this statement alone."""
        if self.holds is None:
            return Verdict.NOT_MEASURED if self.needs is None else Verdict.UNDECIDED
        return Verdict.AGREES if self.holds else Verdict.DIFFERS

    def finding(self, claim: str, rule: str, why: str, beside: Sequence[Measured] = ()) -> Finding:
        """Make the finding of a claim, by its id, that this statement decides."""
        return Finding(claim, self.verdict, rule, self.measured, why, beside, needed(self))


def all_of(rulings: Iterable[Ruling]) -> Ruling:
    """Combine statements into the one that all of them hold; without any, nothing is decided."""
    found = list(rulings)
    return functools.reduce(operator.and_, found, Ruling(True)) if found else Ruling(None)


def repetitions_text(needs: int) -> str:
    """Write a number of repetitions that would decide; a very large one only as such."""
    return f"more than {MANY}" if needs > MANY else f"about {needs}"


def needed(*rulings: Ruling) -> int | None:
    """Return the repetitions that would decide all statements that aren't decided; None if none lacks repetitions."""
    return max((r.needs for r in rulings if r.holds is None and r.needs is not None), default=None)


def verdict(*rulings: Ruling) -> Verdict:
    """Combine the statements of one claim.

    Agree if all hold, differ if one fails. Otherwise not measured if one lacks data, and else not shown.
    """
    return all_of(rulings).verdict if rulings else Verdict.NOT_MEASURED


def higher(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    what: str,
    unit: str = "",
    *,
    matter: float = EQUAL,
    level: float = LEVEL,
    against: float | None = None,
    quick: bool = False,
) -> Ruling:
    """Hold if a is shown to be higher than b by at least `matter` over the same seeds.

    It fails if the difference is shown to be less than `matter`, negative differences included. In a quick study it
    decides nothing if both are zero in every run: a few runs can miss a rare event, such as a stall, and compared with
    zero every difference counts.

    Parameters
    ----------
    a, b : (n,) float64, any one unit
    what : str
        Names the difference a - b.
    matter : float, no unit
        Smallest difference that counts as one, as a part of the larger mean.
    level, against : float, no unit
        Confidence levels of the interval that shows it, and of that which shows the contrary (default: the same).
    quick : bool
        True for a quick study: both levels are at least `QUICK_LEVEL`.
    """
    contrary_level = _raised(level if against is None else against, a, b, quick=quick)
    difference = paired(a, b, level=_raised(level, a, b, quick=quick))
    measured = (Measured.of(what, difference, unit),)
    if difference.n == 0:
        return Ruling(None, measured if np.size(a) else ())
    first, second = whole_pairs(a, b)
    least = matter * max(abs(float(first.mean())), abs(float(second.mean())))
    contrary = paired(a, b, level=contrary_level)
    if quick and _never(first, second):
        return Ruling(None, measured, 2 * difference.n)
    if difference.low > 0 and difference.low >= least:
        return Ruling(True, measured)
    if contrary.high < least or (least == 0 and contrary.high <= 0):
        return Ruling(False, measured)
    return Ruling(None, measured, _needs(first - second, difference.mean - least, level))


def _raised(level: float, a: npt.ArrayLike, b: npt.ArrayLike, *, quick: bool) -> float:
    """Return the level of an interval: in a quick study `QUICK_LEVEL` at least.

    Not where all differences are equal: five couldn't reach it, and one that differs is unlikely after them.
    """
    return max(level, QUICK_LEVEL) if quick and not compare_means(a, b).tied else level


def _never(*samples: Floats) -> bool:
    """Return True if all values are zero: what they count didn't occur in any run."""
    return not any(values.any() for values in samples)


def _needs(values: Floats, off: float, level: float) -> int:
    """Return the repetitions that show that the mean of some values differs from a bound `off` away."""
    if len(values) < 2:
        return least_repetitions(level)
    return max(len(values) + 1, repetitions_for(float(values.std(ddof=1)), off, level=level))


def extreme(
    samples: Mapping[str, npt.ArrayLike],
    who: str,
    *,
    highest: bool,
    unit: str = "",
    matter: float = EQUAL,
    level: float = LEVEL,
    quick: bool = False,
) -> Ruling:
    """Hold if `who` is shown to be the highest (or lowest) of all, against each of the others on the same seeds.

    The statement holds only if all comparisons show it, so their intervals need no correction for their number. It
    fails if one comparison shows the contrary; for that, the intervals together hold at `level` (Bonferroni).

    Parameters
    ----------
    samples : mapping of str to (n,) float64, `unit`
        By repetition, with the same seeds.
    who : str
        One of the names of `samples`.
    highest : bool
        False: the lowest.
    unit : str
    matter : float, no unit
        Smallest difference that counts, as a part of the larger mean.
    level : float, no unit
        Confidence level.
    quick : bool
        As for `higher`.
    """
    others = [name for name in samples if name != who]
    if not others:
        return Ruling(None)
    against = 1 - (1 - level) / len(others)
    pairs = [(who, other) if highest else (other, who) for other in others]
    return all_of(
        higher(samples[a], samples[b], f"{a} minus {b}", unit, matter=matter, level=level, against=against, quick=quick)
        for a, b in pairs
    )


def alike(
    samples: Mapping[str, npt.ArrayLike],
    limit: float,
    *,
    absolute: bool = False,
    unit: str = "",
    level: float = LEVEL,
    quick: bool = False,
) -> Ruling:
    """Hold if the means of all samples are shown to differ by no more than a limit.

    Parameters
    ----------
    samples : (n,) float64 for each name, any unit
        By repetition, with the same seeds.
    limit : float
        Part of the middle one of the means; with `absolute`, in the unit of the samples.
    absolute : bool
    unit : str
    level : float, no unit
    quick : bool
        As for `higher`.
    """
    values = {name: np.asarray(x, dtype=np.float64) for name, x in samples.items()}
    if len(values) < 2 or any(x.size == 0 or np.isnan(x).all() for x in values.values()):
        return Ruling(None)
    bound = limit if absolute else limit * abs(float(np.median([np.nanmean(x) for x in values.values()])))
    pairs = list(itertools.combinations(values, 2))
    never = quick and bound == 0 and _never(*values.values())
    rulings = [
        within(
            values[a] - values[b],
            f"{a} minus {b}",
            -bound,
            bound,
            unit=unit,
            level=level,
            against=1 - (1 - level) / len(pairs),
            sign=True,
            quick=quick,
        )
        for a, b in pairs
    ]
    far = max(rulings, key=lambda r: abs(r.measured[0].value or 0.0))
    if never:
        return Ruling(None, far.measured, 2 * min(x.size for x in values.values()))
    total = all_of(rulings)
    return Ruling(total.holds, far.measured, total.needs)


def within(
    values: npt.ArrayLike,
    what: str,
    low: float,
    high: float,
    *,
    unit: str = "",
    level: float = LEVEL,
    against: float | None = None,
    sign: bool = False,
    quick: bool = False,
    bounds: Bounds = UNBOUNDED,
) -> Ruling:
    """Hold if the mean is shown to lie from `low` to `high`; fail if it is shown to lie outside.

    Parameters
    ----------
    values : (n,) float64, any unit
        By repetition.
    what : str
        Names the mean.
    low, high : float, the unit of the values
        Infinite for a bound on one side.
    unit : str
    level, against : float, no unit
        As for `higher`.
    sign : bool
        True if the values are differences, whose mean is shown with its sign.
    quick : bool
        As for `higher`.
    bounds : (float, float), the unit of the values
        The smallest and the largest possible value: the interval stays within.
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[~np.isnan(x)]
    if not x.size:
        return Ruling(None)
    zero = np.zeros(x.size)
    mean, contrary = (
        _bounded(paired(x, zero, level=_raised(given, x, zero, quick=quick)), x, bounds)
        for given in (level, against or level)
    )
    measured = (_mean(what, mean, unit, sign=sign),)
    if low <= mean.low and mean.high <= high:
        return Ruling(True, measured)
    if contrary.high < low or contrary.low > high:
        return Ruling(False, measured)
    off = min(abs(mean.mean - low), abs(mean.mean - high))
    return Ruling(None, measured, _needs(x, off, level))


def _bounded(mean: Paired, values: Floats, bounds: Bounds) -> Paired:
    """Return a mean with an interval that stays within the bounds of the quantity."""
    if bounds == UNBOUNDED or math.isnan(mean.low) or mean.test.tied:
        return mean
    found = summarize(values, interval="student", level=mean.level, bounds=bounds)
    return replace(mean, test=replace(mean.test, low=found.low, high=found.high))


def median_within(
    values: npt.ArrayLike,
    what: str,
    low: float,
    high: float,
    *,
    unit: str = "",
    level: float = LEVEL,
    quick: bool = False,
) -> Ruling:
    """Hold if the median is shown to lie from `low` to `high`; fail if it is shown to lie outside.

    The interval is that of the sign test: from one ordered value to another. It needs no form of the distribution.

    Parameters
    ----------
    values : (n,) float64, any unit
        By repetition.
    what : str
        Names the quantity.
    low, high : float, the unit of the values
    unit : str
    level : float, no unit
        Confidence level.
    quick : bool
        As for `higher`.
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    x = x[~np.isnan(x)]
    if not x.size:
        return Ruling(None)
    level = max(level, QUICK_LEVEL) if quick else level
    ends, least = _sign_test(x.size, level)
    middle = float(np.median(x))
    after = f" {unit}" if unit else ""
    if ends is None:
        return Ruling(None, (Measured(what, f"{number(middle)}{after}", middle, unit=unit, n=x.size),), least)
    below, above = float(x[ends]), float(x[-1 - ends])
    text = f"{number(middle)} [{number(below)}, {number(above)}]{after}"
    measured = (Measured(what, text, middle, below, above, unit, x.size),)
    if low <= below and above <= high:
        return Ruling(True, measured)
    if above < low or below > high:
        return Ruling(False, measured)
    off = min(abs(middle - low), abs(middle - high))
    # The median of normal values has pi / 2 times the variance of their mean.
    return Ruling(None, measured, _needs(math.sqrt(math.pi / 2) * x, off, level))


def _sign_test(n: int, level: float) -> tuple[int | None, int]:
    """Return the place of the ordered value where the interval of the median of n values begins, from 0.

    None if they are too few: then the second number is that of the values from which the interval exists.
    """
    least = 1 + math.ceil(-math.log2(1 - level) - 1e-9)
    outside, place = 0.0, None
    for k in range(n // 2):
        outside += math.comb(n, k) * 0.5 ** (n - 1)
        if outside > 1 - level + 1e-12:
            break
        place = k
    return place, least


def all_within(
    samples: Mapping[str, npt.ArrayLike], low: float, high: float, *, unit: str = "", quick: Collection[str] = ()
) -> Ruling:
    """Hold if the mean of each sample is shown to lie from `low` to `high`; fail if one is shown to lie outside.

    The statement holds only if all hold, so their intervals need no correction for their number; those that show the
    contrary hold together at `LEVEL` (Bonferroni).

    Parameters
    ----------
    samples : (n,) float64 for each name, `unit`
        By repetition.
    low, high : float, `unit`
        Infinite for a bound on one side.
    unit : str
    quick : collection of str
        Names of the samples that have fewer repetitions than in the whole study; see `higher`.
    """
    against = 1 - (1 - LEVEL) / len(samples)
    return all_of(
        within(values, what, low, high, unit=unit, against=against, quick=what in quick)
        for what, values in samples.items()
    )


def _mean(what: str, found: Paired, unit: str, *, sign: bool) -> Measured:
    shown = Measured.of(what, found, unit)
    text = shown.text if sign else shown.text.replace("+", "")
    return Measured(what, text, shown.value, shown.low, shown.high, unit, shown.n)


def covers(
    values: npt.ArrayLike, what: str, one: float, *, unit: str = "", slack: float = 0.0, quick: bool = False
) -> Ruling:
    """Hold if a single published measurement lies within the range of ours, widened by a part `slack` of its ends.

    One more draw from the distribution of n single measurements lies outside their range with a probability of
    2 / (n + 1). It fails only if that is at most 5 %: from 39 on.

    Parameters
    ----------
    values : (n,) float64, any unit
        Single measurements, independent of each other.
    what : str
    one : float, the unit of the values
        The published measurement.
    unit : str
    slack : float, no unit
    quick : bool
        True for a quick study: it never fails, because the range of all repetitions is wider.
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[~np.isnan(x)]
    if not x.size:
        return Ruling(None)
    low, high = float(x.min()), float(x.max())
    text = f"{np.median(x):.3g} {unit}, from {low:.3g} to {high:.3g} (report {one:g})"
    measured = (Measured(what, text, float(np.median(x)), low, high, unit, x.size),)
    if (1 - slack) * low <= one <= (1 + slack) * high:
        return Ruling(True, measured)
    enough = math.ceil(2 / (1 - LEVEL) - 1 - 1e-9)
    if x.size >= enough and not quick:
        return Ruling(False, measured)
    return Ruling(None, measured, max(enough, x.size + 1))


def advantage(first: npt.ArrayLike, second: npt.ArrayLike, *, level: float = LEVEL) -> Paired:
    """Compare two flows of the same runs by the difference of their shares.

    Parameters
    ----------
    first, second : (n,) float64, any one unit
        Of each flow, by repetition.
    level : float, no unit
        Confidence level of the interval.

    Returns
    -------
    Paired
        The first share less the second, from -1 to 1.
    """
    share = shares(np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)], axis=-1))
    return paired(share[..., 0], share[..., 1], level=level)


def exchange(
    first: Floats, second: Floats, points: Sequence[str], *, level: float = LEVEL, quick: bool = False
) -> Ruling:
    """Hold if the first flow is shown to be ahead at some points and the second one at others, by more than `EQUAL`.

    It fails if at all points the flows are shown to be equal up to `EQUAL`. The confidence level allows for the
    number of points (Bonferroni).

    Parameters
    ----------
    first, second : (points, n) float64, any unit
    points : sequence of str
        Words for the points.
    level : float, no unit
        Of all points together.
    quick : bool
        As for `higher`.
    """
    if np.size(first) == 0:
        return Ruling(None)
    one = 1 - (1 - level) / len(first)
    ahead = [advantage(a, b, level=_raised(one, a, b, quick=quick)) for a, b in zip(first, second, strict=True)]
    found = {
        side: [p for p, x in zip(points, ahead, strict=True) if x.direction == side and _nearest(x) > EQUAL]
        for side in ("higher", "lower")
    }
    measured = tuple(
        Measured(f"{who} is shown to be ahead at", ", ".join(found[side]) or "none", n=np.shape(first)[1])
        for who, side in (("the first", "higher"), ("the second", "lower"))
    )
    if all(found.values()):
        return Ruling(True, measured)
    if all(x.low > -EQUAL and x.high < EQUAL for x in ahead):
        return Ruling(False, measured)
    sides = shares(np.stack([first, second], axis=-1))
    apart = [s[:, 0] - s[:, 1] for s in sides]
    if all(abs(float(d.mean())) < EQUAL for d in apart):  # these means can only show that no flow is ahead
        return Ruling(None, measured, max(_needs(d, EQUAL - abs(float(d.mean())), one) for d in apart))
    needs = [_needs(d, abs(float(d.mean())) - EQUAL, one) for d in apart]
    return Ruling(None, measured, min(needs, default=first.shape[1] + 1))


def _nearest(found: Paired) -> float:
    """Return the size of the end of an interval that is nearer to zero."""
    return min(abs(found.low), abs(found.high))


def equal(first: Floats, second: Floats, points: Sequence[str]) -> Ruling:
    """Hold if two flows are not shown to share unequally.

    That is: at no point Jain's index is shown to be below `FAIR` (its interval ends below, 95 % for all points
    together), and over all points no side is shown to be ahead by more than `EQUAL`. That two flows are equal can't
    be shown, only that no evidence contradicts it; the measured intervals bound the difference.

    Parameters
    ----------
    first, second : (points, n) float64, any unit
        The goodput of each flow, by point and repetition.
    points : sequence of str
        Words for the points.
    """
    if first.size == 0:
        return Ruling(None)
    index = summarize_all(list(jain(np.stack([first, second], axis=-1))), level=1 - 0.05 / len(first))
    worst = int(np.argmin([s.median for s in index]))
    ahead = advantage(first.mean(axis=0), second.mean(axis=0))
    unfair = any(s.n >= FEWEST and s.high < FAIR for s in index)
    favored = ahead.direction is not None and abs(ahead.mean) > EQUAL
    measured = (
        Measured.of(f"Jain's index where it is lowest ({points[worst]})", index[worst]),
        Measured.of("first minus second, part of their sum, over all rates", ahead),
    )
    if first.shape[1] < FEWEST:
        return Ruling(None, measured, FEWEST)
    return Ruling(not unfair and not favored, measured)
