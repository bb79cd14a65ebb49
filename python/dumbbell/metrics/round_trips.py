"""Responsiveness under working conditions: round trips per minute (RPM).

The procedure is that of draft-ietf-ippm-responsiveness (version 06), sections "Test Parameters", "Measuring
Responsiveness", "Aggregating the Measurements" (the case without TLS) and "Final Algorithm". Names of the parameters
are those of the draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import DumbbellError

__all__ = ["Responsiveness", "responsiveness", "rpm", "trimmed_mean"]

Floats = npt.NDArray[np.float64]

MAD = 4
"""Moving average distance, intervals."""
TMP = 0.95
"""Trimmed mean percentage: the share of the samples that is kept, the smallest ones."""
SDT = 0.05
"""Standard deviation tolerance, as a share of the current value."""
MINUTE_MS = 60_000
"""A minute, ms."""


@dataclass(frozen=True)
class Responsiveness:
    """The result of a responsiveness test.

    Attributes
    ----------
    rpm : float, round trips per minute
        Mean of the next two; NaN if no interval had probes of both kinds.
    foreign_rpm, loaded_rpm : float, round trips per minute
        Of probes on connections of their own, and on the load-generating connections.
    tcp_f_ms, http_f_ms, http_l_ms : float, ms
        Trimmed means of the handshakes, of the requests after them, and of the round trips on the loaded connections.
    confidence : str
        ``high``: goodput and responsiveness became stable; ``medium``: not, but the last stage had at least MAD
        intervals; ``low``: it had fewer.
    interval : int
        The interval of the result, from 0.
    saturated : int or None
        The interval in which the goodput became stable, from 0; None: in none.
    """

    rpm: float
    foreign_rpm: float
    loaded_rpm: float
    tcp_f_ms: float
    http_f_ms: float
    http_l_ms: float
    confidence: Literal["high", "medium", "low"]
    interval: int
    saturated: int | None


def trimmed_mean(values: npt.ArrayLike, share: float = TMP) -> float:
    """Return the mean of the smallest values: a single-sided trimmed mean.

    Parameters
    ----------
    values : (n,) float64, any unit
    share : float, no unit
        Share of the values that is kept, rounded up to a whole number of them.

    Returns
    -------
    float, the unit of `values`
        NaN without values.

    Examples
    --------
    >>> from dumbbell.metrics import trimmed_mean
    >>> trimmed_mean([10, 20, 30, 1000], 0.75)
    20.0
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not ordered.size:
        return float("nan")
    return float(ordered[: int(np.ceil(share * ordered.size - 1e-9))].mean())


def rpm(latency_ms: float) -> float:
    """Return round trips per minute: 60,000 divided by the round-trip time in ms.

    Parameters
    ----------
    latency_ms : float, ms

    Returns
    -------
    float, round trips per minute

    References
    ----------
    draft-ietf-ippm-responsiveness, "Round-Trips per Minute (RPM)".

    Examples
    --------
    >>> from dumbbell.metrics import rpm
    >>> rpm(60), rpm(200)
    (1000.0, 300.0)
    """
    return MINUTE_MS / latency_ms if latency_ms > 0 else float("nan")


def responsiveness(
    goodput: npt.ArrayLike, foreign: npt.ArrayLike, loaded: npt.ArrayLike, *, interval_s: float = 1.0
) -> Responsiveness:
    """Evaluate a responsiveness test after it has run.

    The draft adds connections at each interval until the test ends, so its result does not depend on when it is
    computed: it is that of the first interval in which goodput and then responsiveness were stable.

    Parameters
    ----------
    goodput : (d, n) float64, bit/s
        Of all load-generating connections in each of n intervals, for each direction that is loaded.
    foreign : (m, 3) float64
        Probes on connections of their own: time of the answer since the start of the first interval in s, duration of
        the TCP handshake in ms, time from the request to the whole response in ms.
    loaded : (k, 2) float64
        Probes on the load-generating connections: time of the answer in s, round trip in ms.
    interval_s : float, s
        Length of an interval (ID).

    Returns
    -------
    Responsiveness

    Raises
    ------
    DumbbellError
        If an array has another shape.

    References
    ----------
    draft-ietf-ippm-responsiveness, "Final Algorithm", "Confidence of Test-Results".
    """
    rates = np.atleast_2d(np.asarray(goodput, dtype=np.float64))
    probes = np.asarray(foreign, dtype=np.float64).reshape(-1, 3) if np.size(foreign) else np.empty((0, 3))
    own = np.asarray(loaded, dtype=np.float64).reshape(-1, 2) if np.size(loaded) else np.empty((0, 2))
    if rates.ndim != 2 or not rates.size:
        raise DumbbellError("goodput: an array of directions and intervals is needed")
    saturated: int | None = None
    scores: list[float] = []
    last = _Stage(probes, own, interval_s)
    averages = [_moving(of) for of in rates]
    for i in range(rates.shape[1]):
        if saturated is None:
            if all(_is_stable(average[: i + 1]) for average in averages):
                saturated = i
            continue
        scores.append(last.at(i).rpm)
        if _is_stable(np.array(scores)):
            return last.result("high", i, saturated)
    end = rates.shape[1] - 1
    executed = len(scores) if saturated is not None else rates.shape[1]
    last.at(end)
    return last.result("medium" if executed >= MAD else "low", end, saturated)


def _moving(values: Floats) -> Floats:
    """Return the moving average over MAD intervals; NaN where fewer have passed."""
    out = np.full(values.size, np.nan)
    if values.size >= MAD:
        out[MAD - 1 :] = np.convolve(values, np.ones(MAD) / MAD, mode="valid")
    return out


def _is_stable(values: Floats) -> bool:
    """Return True if the standard deviation of the last MAD values is below SDT of the last one."""
    past = values[-MAD:]
    return past.size == MAD and bool(np.isfinite(past).all()) and float(np.std(past)) < SDT * abs(float(past[-1]))


class _Stage:
    """The responsiveness of the last MAD intervals."""

    def __init__(self, foreign: Floats, loaded: Floats, interval_s: float) -> None:
        self._foreign, self._loaded, self._interval = foreign, loaded, interval_s
        self._means = np.full(3, np.nan)

    def at(self, interval: int) -> _Stage:
        """Compute the trimmed means of the probes that were answered in this interval and the MAD - 1 before it."""
        end, begin = (interval + 1) * self._interval, (interval + 1 - MAD) * self._interval
        foreign = self._foreign[(self._foreign[:, 0] >= begin) & (self._foreign[:, 0] < end)]
        loaded = self._loaded[(self._loaded[:, 0] >= begin) & (self._loaded[:, 0] < end)]
        self._means = np.array([trimmed_mean(foreign[:, 1]), trimmed_mean(foreign[:, 2]), trimmed_mean(loaded[:, 1])])
        return self

    @property
    def parts(self) -> tuple[float, float]:
        """Foreign_Responsiveness and Loaded_Responsiveness, for connections without TLS."""
        tcp, http, loaded = map(float, self._means)
        return rpm((tcp + http) / 2), rpm(loaded)

    @property
    def rpm(self) -> float:
        """Responsiveness."""
        return sum(self.parts) / 2

    def result(self, confidence: Literal["high", "medium", "low"], at: int, saturated: int | None) -> Responsiveness:
        """Return the result of this interval."""
        foreign, loaded = self.parts
        tcp, http, own = map(float, self._means)
        return Responsiveness(self.rpm, foreign, loaded, tcp, http, own, confidence, at, saturated)
