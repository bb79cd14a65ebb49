"""Spikes of a series: how often it rises above a threshold, and how far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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


def spikes(series: npt.ArrayLike, threshold: float) -> Spikes:
    """Count the spikes of a series, such as error packets per second.

    Parameters
    ----------
    series : (n,) float64, any unit
        Values of equal intervals; NaN counts as no spike.
    threshold : float, the unit of the series
        A value above it is part of a spike.
    """
    x = np.asarray(series, dtype=np.float64)
    above = x > threshold
    starts = above & ~np.concatenate(([False], above[:-1])) if x.size else above
    maximum = float(np.nanmax(x)) if x.size and not np.isnan(x).all() else float("nan")
    return Spikes(int(starts.sum()), int(above.sum()), maximum, threshold)
