"""The values of a swept quantity as places on an axis: numbers by size, words in the order of the sweep.

``"12 Mbit/s"`` and ``"500 kbit/s"`` are numbers: they are read as a scenario reads them, so 12 Mbit/s comes after
2 Mbit/s. Words have no distance, so nothing may join their points.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell.scenario import units

__all__ = ["AxisValues"]

NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*")
KINDS = ((units.Rate, "bps"), (units.Duration, "ns"), (units.ByteCount, "bytes"))
"""Quantities whose units can be converted, with the attribute of their base unit."""
WIDE = 5.0
"""Ratio of the largest value to the smallest from which an axis may be logarithmic."""


@dataclass(frozen=True)
class AxisValues:
    """Values of one axis.

    Attributes
    ----------
    words : sequence of str
        The values as they are written, in the order of the axis, each once.
    places : dict of str to float
        Their places: numbers in `unit`, or 0, 1, 2 ...
    numeric : bool
        True if all are numbers of one kind.
    unit : str
        Unit of the numbers; may be empty.
    log : bool
        True if they grow by a factor rather than by a step.
    """

    words: Sequence[str]
    places: dict[str, float]
    numeric: bool = False
    unit: str = ""
    log: bool = False

    @classmethod
    def of(cls, words: Sequence[str]) -> AxisValues:
        """Read values, given in the order of the sweep."""
        once = list(dict.fromkeys(words))
        numbers, unit = _numbers(once)
        if numbers is None or len(set(numbers)) < len(once):
            return cls(once, {word: float(n) for n, word in enumerate(once)})
        places = dict(sorted(zip(once, numbers, strict=True), key=lambda item: item[1]))
        return cls(list(places), places, numeric=True, unit=unit, log=_grows_by_a_factor(sorted(numbers)))

    def label(self, name: str) -> str:
        """Return the label of the axis."""
        return f"{name}, {self.unit}" if self.unit else name


def _numbers(words: Sequence[str]) -> tuple[list[float] | None, str]:
    """Read all words as numbers of one unit; None if one isn't such a number."""
    parts = [NUMBER.fullmatch(word) for word in words]
    if not all(parts):
        return None, ""
    heads = [float(part[1]) for part in parts if part]
    found = list(dict.fromkeys(part[2] for part in parts if part))
    if not all(math.isfinite(head) for head in heads):
        return None, ""
    if len(found) <= 1:
        return heads, found[0] if found else ""
    for kind, attribute in KINDS:
        try:
            sizes = {unit: float(getattr(kind(f"1 {unit}"), attribute)) for unit in found}
        except ValueError:
            continue
        widest = max(sizes, key=lambda unit: sizes[unit])
        scaled = [head * sizes[part[2]] / sizes[widest] for head, part in zip(heads, parts, strict=True) if part]
        return scaled, widest
    return None, ""


def _grows_by_a_factor(numbers: Sequence[float]) -> bool:
    """Return True if the ratios of neighbors are more alike than their differences, over a wide range."""
    if len(numbers) < 3 or numbers[0] <= 0 or numbers[-1] < WIDE * numbers[0]:
        return False
    values = np.asarray(numbers)
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return bool(np.std(ratios) / np.mean(ratios) < np.std(steps) / np.mean(steps))
