"""When the name of a class is sure: thresholds of the classes, and the confidence above them, from held-out votes.

A class has a threshold: the smallest share from which its names are right for `SURE` of the transfers of each back
end.
A class whose held-out names are right for less than `NEEDED` of a back end's transfers, or that has fewer than `FEW`
of them, is never sure: its threshold is `NEVER`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["NEEDED", "NEVER", "OTHER", "Calibration", "Vote", "are_right", "calibrate"]

OTHER = "other"
"""Transfers of this class are "unknown"."""
NEEDED = 0.95
"""Least part of right names above a class's threshold, of each back end."""
SURE = 0.96
"""The same with a margin, for the choice of the threshold: it fits the names that it is chosen with."""
FEW = 20
"""Least names above the threshold of a class."""
NEVER = 1.01
"""A threshold that no share reaches."""
FLOOR = 0.45
"""Least threshold."""
LEAST = 0.51
"""Least confidence of a sure name."""


@dataclass(frozen=True)
class Vote:
    """A forest's class for a transfer that it was not trained with, and its share of the trees."""

    transfer: int
    fold: int
    backend: str
    name: str
    share: float
    is_right: bool


def are_right(votes: Iterable[Vote], part: float) -> bool:
    """Return True if there are enough votes, and this part of them is right.

    Of each back end, too; one wrong name of few is no evidence.
    """
    counts = Counter((vote.backend, vote.is_right) for vote in votes)
    right, wrong = (sum(n for (_, found), n in counts.items() if found is kind) for kind in (True, False))

    def enough(right: int, wrong: int) -> bool:
        return right >= part * (right + wrong)

    each = [(counts[name, True], counts[name, False]) for name in {name for name, _ in counts}]
    return right + wrong >= FEW and enough(right, wrong) and all(w <= 1 or enough(r, w) for r, w in each)


@dataclass(frozen=True)
class Calibration:
    """Thresholds of the classes, and steps: shares with the part of right names at or above each."""

    thresholds: dict[str, float]
    steps: list[tuple[float, float]]

    def ratio(self, vote: Vote) -> float:
        """Return the share as part of the threshold."""
        return vote.share / self.thresholds[vote.name]

    def right(self, vote: Vote) -> float:
        """Return the confidence of a sure name."""
        return max(max((right for share, right in self.steps if share <= vote.share), default=0.0), LEAST)


def calibrate(votes: Sequence[Vote], classes: Sequence[str]) -> Calibration:
    """Choose the thresholds and the steps by votes; those for `OTHER` are left out."""
    named = [vote for vote in votes if vote.name != OTHER]
    steps: list[tuple[float, float]] = []
    for share in np.arange(20) / 20:
        above = [vote.is_right for vote in named if vote.share >= share]
        if above:  # Laplace's rule: one right and one wrong name more
            right = (sum(above) + 1) / (len(above) + 2)
            steps.append((_single(share), _single(max(right, steps[-1][1] if steps else 0.0))))
    thresholds = {name: _single(_threshold([vote for vote in named if vote.name == name])) for name in classes}
    return Calibration(thresholds, steps)


def _threshold(votes: list[Vote]) -> float:
    """Return the smallest share from which the names of a class are right."""
    found, falling = NEVER, sorted(votes, key=lambda vote: -vote.share)
    for count, vote in enumerate(falling, 1):
        if are_right(falling[:count], SURE):
            found = vote.share
    return max(found, FLOOR)


def _single(value: float) -> float:
    """Return the value as the file has it, with 32 bits."""
    return float(np.float32(value))
