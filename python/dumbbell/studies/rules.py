"""Rules that turn numbers into verdicts. Pure functions: the same for made-up numbers in a test as for runs.

A rule answers with `Ruling`: whether its statement holds (None: not enough data), and its numbers. A claim
of several statements agrees if all hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.metrics import Paired, jain, paired, shares, summarize_all
from dumbbell.metrics.significance import too_few
from dumbbell.metrics.summary import FEWEST
from dumbbell.studies.finding import Measured, Verdict

__all__ = ["EQUAL", "FAIR", "Ruling", "advantage", "alike", "equal", "extreme", "higher", "verdict"]

Floats = npt.NDArray[np.float64]

EQUAL = 0.05
"""Difference of two flows, as a part of their sum, up to which no side is called favored: 52.5 to 47.5. In a figure
the curves then lie within a line's width or two of each other."""
FAIR = 0.95
"""Jain's index from which two flows are called equal within a run: 61 to 39, a factor of 1.6; 10 s hold few enough
loss events that equal flows differ by that much by chance."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The result of a rule: whether a statement holds, and the numbers that decided."""

    holds: bool | None
    measured: tuple[Measured, ...] = ()

    def __and__(self, other: Ruling) -> Ruling:
        both = (self.holds, other.holds)
        holds = False if False in both else None if None in both else True
        return Ruling(holds, self.measured + other.measured)


def verdict(*rulings: Ruling) -> Verdict:
    """Agree if all statements hold, differ if one doesn't; not measured if one lacks data and none fails."""
    if any(r.holds is False for r in rulings):
        return Verdict.DIFFERS
    return Verdict.AGREES if rulings and all(r.holds for r in rulings) else Verdict.NOT_MEASURED


def higher(a: npt.ArrayLike, b: npt.ArrayLike, what: str, unit: str = "") -> Ruling:
    """Hold if a is shown to be higher than b over the same seeds; `what` names the difference a - b."""
    difference = paired(a, b)
    return Ruling(_has_direction(difference, "higher"), (Measured.of(what, difference, unit),))


def extreme(samples: Mapping[str, npt.ArrayLike], who: str, *, highest: bool, unit: str = "") -> Ruling:
    """Hold if `who` is shown to be the highest (or lowest) of all, against each of the others on the same seeds.

    All comparisons have to show it, so none needs a correction for their number.
    """
    side = "higher" if highest else "lower"
    rulings = []
    for other, values in samples.items():
        if other != who:
            difference = paired(samples[who], values)
            measured = Measured.of(f"{who} less {other}", difference, unit)
            rulings.append(Ruling(_has_direction(difference, side), (measured,)))
    total = Ruling(True if rulings else None)
    for ruling in rulings:
        total &= ruling
    return total


def _has_direction(difference: Paired, side: str) -> bool | None:
    """Return whether the difference has this direction; None if the pairs are too few to test it."""
    return None if too_few(difference.test) else difference.direction == side


def alike(curves: Mapping[str, Floats], limit: float, what: str) -> Ruling:
    """Hold if at every point the largest and the smallest value lie within `limit` of their middle.

    Parameters
    ----------
    curves : (points,) float64 for each name, any unit
        Such as medians over CBR rates.
    limit : float, no unit
    what : str
        Names the largest difference.
    """
    values = np.array(list(curves.values()), dtype=np.float64)
    if values.size == 0 or np.isnan(values).any():
        return Ruling(None)
    apart = (values.max(axis=0) - values.min(axis=0)) / np.median(values, axis=0)
    worst = float(apart.max())
    return Ruling(worst <= limit, (Measured.number(what, 100 * worst, "%"),))


def advantage(first: npt.ArrayLike, second: npt.ArrayLike, *, level: float = 0.95) -> Paired:
    """Compare two flows of the same runs: the difference of their shares, from -1 to 1, no unit."""
    share = shares(np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)], axis=-1))
    return paired(share[..., 0], share[..., 1], level=level)


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
    if first.shape[1] < FEWEST:
        return Ruling(None)
    return Ruling(
        not unfair and not favored,
        (
            Measured.of(f"Jain's index where it is lowest ({points[worst]})", index[worst]),
            Measured.of("first less second, part of their sum, over all rates", ahead),
        ),
    )
