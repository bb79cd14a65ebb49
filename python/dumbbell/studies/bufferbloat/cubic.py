"""CUBIC's window beside its functions: the cubic one, and the window that Reno would have.

W_cubic(t) = C (t - K)^3 + W_max [RFC 9438 §4.2], from the columns ``w_max`` and ``k`` of the series; W_est, the
window that Reno would have [RFC 9438 §4.3], is the column ``w_est``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.studies.shared import Floats

__all__ = ["C", "Epoch", "bend", "middle_bend", "plateau_time", "share"]

Marks = npt.NDArray[np.bool_]

C = 0.4
"""Segments/s^3 [RFC 9438 §4.1]."""
BETA = 0.7
"""Part of the window that a loss leaves [RFC 9438 §4.6]."""
NEAR = 0.1
"""Distance from a function up to which a window is on it, part of the function."""
ROWS, RISE = 4, 3.0
"""Fewest rows, and smallest rise in segments, of a piece whose bend is measured."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One rise of the window in congestion avoidance: (n,) float64 each.

    Attributes
    ----------
    time : s, from its start
    window, w_est : segments
    w_max : float, segments
        The plateau of the cubic function; the first window of the epoch if that is larger
        [Linux tcp_cubic.c bictcp_update].
    k : float, s
    """

    time: Floats
    window: Floats
    w_est: Floats
    w_max: float
    k: float

    @property
    def cubic(self) -> Floats:
        """W_cubic over time; (n,) float64, segments."""
        return np.asarray(self.w_max + C * (self.time - self.k) ** 3)

    @property
    def friendly(self) -> Marks:
        """Rows of the Reno-friendly region: W_cubic is below W_est."""
        return np.asarray(self.cubic < self.w_est)

    def on_cubic(self) -> Marks:
        """Rows whose window is that of the cubic function."""
        return np.asarray(np.abs(self.window - self.cubic) <= NEAR * np.abs(self.cubic))

    def on_reno(self) -> Marks:
        """Rows whose window is that which Reno would have."""
        return np.asarray(np.abs(self.window - self.w_est) <= NEAR * self.w_est)

    def bends(self) -> tuple[float, float]:
        """Return the bend below and above ``w_max``, outside of the Reno-friendly region; NaN for a short piece."""
        own = ~self.friendly
        below, above = own & (self.window < self.w_max), own & (self.window >= self.w_max)
        return bend(self.time[below], self.window[below]), bend(self.time[above], self.window[above])


def plateau_time(w_max: Floats) -> Floats:
    """Return K, the time from a loss until the cubic function is back at ``w_max`` segments [RFC 9438 §4.2]; s."""
    return np.asarray(np.cbrt(w_max * (1 - BETA) / C))


def share(epochs: Sequence[Epoch], rows: Callable[[Epoch], Marks], of: Callable[[Epoch], Marks]) -> float:
    """Return the share of time of some rows in that of others, %; NaN if the others take no time."""
    inside, whole = 0.0, 0.0
    for one in epochs:
        steps = np.diff(one.time, append=one.time[-1])
        base = of(one)
        whole += float(steps[base].sum())
        inside += float(steps[base & rows(one)].sum())
    return 100 * inside / whole if whole else float("nan")


def middle_bend(epochs: Sequence[Epoch], *, above: bool) -> float:
    """Return the median bend below or above ``w_max`` of the pieces that have one; NaN if none has."""
    found = np.array([one.bends()[above] for one in epochs])
    found = found[~np.isnan(found)]
    return float(np.median(found)) if found.size else float("nan")


def bend(time: Floats, window: Floats) -> float:
    """Return growth in the second half less that in the first, as a part of the whole: negative where concave."""
    if time.size < ROWS or window[-1] - window[0] < RISE:
        return float("nan")
    a, b, c = np.interp(np.linspace(time[0], time[-1], 3), time, window)
    return float((c - 2 * b + a) / (c - a))
