"""Spikes of a series: how often it rises above a threshold, and how far."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Spikes", "spikes"]


@dataclass(frozen=True, slots=True)
class Spikes:
    """Spikes above a threshold.

    Attributes
    ----------
    count : int
        Runs of neighboring values above the threshold.
    values : int
        Single values above it.
    maximum : float, the unit of the series
        The largest value of all; NaN for an empty series.
    threshold : float, the unit of the series
    """

    count: int
    values: int
    maximum: float
    threshold: float


def spikes(series: Iterable[float], threshold: float) -> Spikes:
    """Count the spikes of a series, such as error packets per second.

    Parameters
    ----------
    series : (n,) float, any unit
        Values of equal intervals; NaN counts as no spike.
    threshold : float, the unit of the series
        A value above it is part of a spike.
    """
    values = [float(x) for x in series]
    above = [x > threshold for x in values]
    starts = sum(now and not before for now, before in zip(above, [False, *above], strict=False))
    maximum = max((x for x in values if not math.isnan(x)), default=math.nan)
    return Spikes(starts, sum(above), maximum, threshold)
