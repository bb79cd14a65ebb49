"""Series cut into windows of time: rates, and round-trip times, over time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["edges_of", "mean_per_window", "packet_ack_delays", "rate_per_window", "segment_rate", "sliding_rate"]

Floats = npt.NDArray[np.float64]


def _at(time: Floats, total: Floats, moments: Floats) -> Floats:
    """Read a step function at the given moments; 0 before its first row."""
    place = np.searchsorted(time, moments, side="right") - 1
    return np.where(place >= 0, total[np.maximum(place, 0)], 0.0) if total.size else np.zeros_like(moments)


def edges_of(begin: float, end: float, window: float) -> Floats:
    """Return the borders of whole windows within begin .. end, (k + 1,) float64, seconds."""
    count = int((end - begin) / window + 1e-9)
    return begin + window * np.arange(count + 1, dtype=np.float64)


def rate_per_window(time: npt.ArrayLike, total: npt.ArrayLike, edges: npt.ArrayLike) -> Floats:
    """Turn a running total of bytes into a rate per window.

    Parameters
    ----------
    time : (n,) float64, seconds
        When the total changed; increasing.
    total : (n,) float64, bytes
        Total from then on, such as the column ``delivered``.
    edges : (k + 1,) float64, seconds
        Borders of the windows.

    Returns
    -------
    (k,) float64, bit/s
    """
    borders = np.asarray(edges, dtype=np.float64)
    at = _at(np.asarray(time, dtype=np.float64), np.asarray(total, dtype=np.float64), borders)
    return np.asarray(8 * np.diff(at) / np.diff(borders))


def sliding_rate(time: npt.ArrayLike, total: npt.ArrayLike, ends: npt.ArrayLike, window: float) -> Floats:
    """Turn a running total of bytes into the rate over the window that ends at each given time.

    Parameters
    ----------
    time, total
        As in `rate_per_window`.
    ends : (k,) float64, seconds
        Ends of the windows, which may overlap.
    window : float, seconds
        Their length.

    Returns
    -------
    (k,) float64, bit/s
    """
    t, sums = np.asarray(time, dtype=np.float64), np.asarray(total, dtype=np.float64)
    last = np.asarray(ends, dtype=np.float64)
    return np.asarray(8 * (_at(t, sums, last) - _at(t, sums, last - window)) / window)


def segment_rate(time: npt.ArrayLike, total: npt.ArrayLike, begin: float, end: float) -> float:
    """Return the rate over one span of time, bit/s; parameters as in `rate_per_window`."""
    return float(rate_per_window(time, total, [begin, end])[0])


def packet_ack_delays(
    time: npt.ArrayLike, snd_una: npt.ArrayLike, snd_nxt: npt.ArrayLike, packet: int
) -> tuple[Floats, Floats]:
    """Return each packet's time from its first transmission to its cumulative ACK, retransmitted packets included.

    Parameters
    ----------
    time : (n,) float64, seconds
        Rows of a flow's series, one at each change (an interval between rows would blur the result).
    snd_una, snd_nxt : (n,) float64, bytes
        First byte not acknowledged, and next byte to send.
    packet : int, bytes
        Payload of a packet.

    Returns
    -------
    when : (k,) float64, seconds
        Time of the ACK.
    delay : (k,) float64, seconds
        One for each packet acknowledged.
    """
    t = np.asarray(time, dtype=np.float64)
    una = np.maximum.accumulate(np.asarray(snd_una, dtype=np.float64)) if t.size else np.zeros(0)
    nxt = np.maximum.accumulate(np.asarray(snd_nxt, dtype=np.float64)) if t.size else np.zeros(0)
    packets = int(una[-1] // packet) if t.size else 0
    ends = packet * np.arange(1, packets + 1, dtype=np.float64)
    when = t[np.searchsorted(una, ends)] if packets else np.zeros(0)
    sent = t[np.searchsorted(nxt, ends)] if packets else np.zeros(0)
    return when, when - sent


def mean_per_window(when: npt.ArrayLike, values: npt.ArrayLike, edges: npt.ArrayLike) -> Floats:
    """Average samples in windows of time.

    Parameters
    ----------
    when : (n,) float64, seconds
        Time of each sample.
    values : (n,) float64, any unit
        The samples.
    edges : (k + 1,) float64, seconds
        Borders of the windows.

    Returns
    -------
    (k,) float64, the unit of `values`
        NaN in windows without samples.
    """
    borders = np.asarray(edges, dtype=np.float64)
    moments = np.asarray(when, dtype=np.float64)
    count, _ = np.histogram(moments, borders)
    total, _ = np.histogram(moments, borders, weights=np.asarray(values, dtype=np.float64))
    return np.asarray(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))
