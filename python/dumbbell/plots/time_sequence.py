"""Time-sequence figures, as Wireshark and tcptrace draw them: for runs and for captures.

Each data segment is a vertical stroke from its first to its last byte at the time it was sent. Below the strokes runs
the line of the cumulative ACKs, above them that of the receive window. Two panels: the whole connection, and the part
around its first loss. Strokes that share a pixel are drawn as one, from the lowest to the highest byte; zooming in
separates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dumbbell.plots.spec import Curve, Floats, Panel, Picture

__all__ = ["Strokes", "TimeSequence", "picture_of", "unwrapped"]

ROUNDS_BEFORE, ROUNDS_AFTER = 2.0, 6.0
"""Part of the time around a loss that the second panel shows, in round-trip times."""
ZOOMED = 600
"""Segments that the second panel shows at most."""
KB = 1e-3


@dataclass(frozen=True, slots=True)
class Strokes:
    """Ranges of bytes with a time: (n,) float64 each, seconds and bytes; times don't decrease."""

    t: Floats = field(default_factory=lambda: np.zeros(0))
    low: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))

    def within(self, begin: float, end: float) -> Strokes:
        """Return the strokes of an interval."""
        part = slice(int(np.searchsorted(self.t, begin)), int(np.searchsorted(self.t, end, side="right")))
        return Strokes(self.t[part], self.low[part], self.high[part])


@dataclass(frozen=True, slots=True)
class TimeSequence:
    """The content of a time-sequence figure: one direction of a connection.

    Attributes
    ----------
    sent, again : Strokes
        Segments that were sent for the first time, and retransmissions.
    late : Strokes
        Segments that are out of order.
    selected : Strokes
        SACK blocks, or ranges that the receiver has above a hole.
    selected_label : str
    acked, window : (t, y), each (n,) float64, seconds and bytes
        Steps: the cumulative ACK, and the right edge of the receive window (may be empty).
    lost : (t, y)
        Packets that were dropped (may be empty).
    closed : (t, y)
        ACKs that announce a window of zero (may be empty).
    rtt : float, seconds
        A round-trip time of the connection.
    """

    sent: Strokes
    again: Strokes
    acked: tuple[Floats, Floats]
    rtt: float
    late: Strokes = field(default_factory=Strokes)
    selected: Strokes = field(default_factory=Strokes)
    selected_label: str = "SACKed"
    window: tuple[Floats, Floats] = field(default_factory=lambda: (np.zeros(0), np.zeros(0)))
    lost: tuple[Floats, Floats] = field(default_factory=lambda: (np.zeros(0), np.zeros(0)))
    closed: tuple[Floats, Floats] = field(default_factory=lambda: (np.zeros(0), np.zeros(0)))

    def first_loss(self) -> float | None:
        """Return the time of the first loss or, if none is known, of the first retransmission, s."""
        times = [part[0] for part in (self.lost[0], self.again.t) if part.size]
        return float(min(times)) if times else None

    def interesting(self) -> tuple[float, float]:
        """Return the interval around the first loss; without one, the first round trips."""
        begin = float(self.sent.t[0]) if self.sent.t.size else 0.0
        at = self.first_loss()
        if at is not None:
            begin = max(begin, at - ROUNDS_BEFORE * self.rtt)
        end = begin + (ROUNDS_BEFORE + ROUNDS_AFTER) * self.rtt
        if self.again.t.size and at is not None:  # the retransmission belongs to the part that is shown
            repaired = self.again.t[np.searchsorted(self.again.t, at) :][:1]
            end = max(end, *(float(t) + self.rtt for t in repaired), 0.0)
        inside = self.sent.within(begin, end)
        if inside.t.size > ZOOMED:
            end = float(inside.t[ZOOMED])
        return begin, end


def picture_of(name: str, title: str, reading: str, found: TimeSequence) -> Picture:
    """Make the figure: the whole connection above the part around the first loss."""
    whole = Panel("", "time, s", "sequence number, kB", list(_curves(found)))
    begin, end = found.interesting()
    at = found.first_loss()
    part = "The first round trips" if at is None else f"Around the first loss, at {at:.4g} s"
    zoomed = Panel(part, "time, s", "sequence number, kB", list(_curves(found, begin, end)), y_from_zero=False,
                   x_range=(begin, end))  # fmt: skip
    return Picture(name, title, reading, [whole, zoomed], markers=False)


def _curves(found: TimeSequence, begin: float = -np.inf, end: float = np.inf) -> Iterator[Curve]:
    """Make the curves of an interval, the ones behind first."""
    sent, again = found.sent.within(begin, end), found.again.within(begin, end)
    top = max((float(part.high.max()) for part in (sent, again) if part.high.size), default=0.0)
    acked = _steps(found.acked, begin, end)
    bottom = float(np.nanmin(acked[1])) if acked[1].size else 0.0
    window = _steps(found.window, begin, end)
    # Far above the data, the window would press everything else into one line.
    near = np.where(window[1] <= top + (top - bottom), window[1], np.nan)
    yield from _strokes(found.selected_label, "SACK", found.selected.within(begin, end))
    yield from _strokes("segment sent", "segment", sent)
    yield Curve("acknowledged", "acknowledged", acked[0], acked[1] * KB, kind="steps")
    if near.size and not np.isnan(near).all():
        yield Curve("end of the receive window", "receive window", window[0], near * KB, kind="steps")
    shut = (found.closed[0] >= begin) & (found.closed[0] <= end)
    if shut.any():
        yield Curve("zero window", "receive window", found.closed[0][shut], found.closed[1][shut] * KB, kind="events")
    yield from _marked("out of order", "out of order", found.late.within(begin, end))
    yield from _marked("retransmission", "retransmission", again)
    inside = (found.lost[0] >= begin) & (found.lost[0] <= end)
    if inside.any():
        yield Curve("packet lost", "drop", found.lost[0][inside], found.lost[1][inside] * KB, kind="events")


def _strokes(label: str, look: str, part: Strokes) -> Iterator[Curve]:
    if part.t.size:
        yield Curve(label, look, part.t, part.high * KB, part.low * KB, part.high * KB, kind="segments")


def _marked(label: str, look: str, part: Strokes) -> Iterator[Curve]:
    """Make strokes, and a marker on each: a single segment is visible among thousands."""
    if part.t.size:
        yield Curve(label, look, part.t, (part.low + part.high) / 2 * KB, kind="events")
        yield from _strokes(label, look, part)


def _steps(line: tuple[Floats, Floats], begin: float, end: float) -> tuple[Floats, Floats]:
    """Cut steps out of a line; the value that holds at the beginning stays."""
    t, y = line
    if not t.size or begin == -np.inf:
        return t, y
    first = max(0, int(np.searchsorted(t, begin, side="right")) - 1)
    last = int(np.searchsorted(t, end, side="right"))
    times, values = np.clip(t[first:last], begin, end), y[first:last]
    return np.append(times, end), np.append(values, values[-1:])


def unwrapped(numbers: npt.ArrayLike) -> Floats:
    """Continue 32-bit sequence numbers beyond 2^32: each is within 2^31 of the one before.

    Parameters
    ----------
    numbers : (n,) integers, bytes

    Returns
    -------
    (n,) float64, bytes
    """
    values = np.asarray(numbers, dtype=np.int64)
    if not values.size:
        return np.zeros(0)
    steps = (np.diff(values) + 2**31) % 2**32 - 2**31
    unwrapped: Floats = (values[0] + np.concatenate(([0], np.cumsum(steps)))).astype(np.float64)
    return unwrapped
