"""One window over time: its cuts with and without a loss, its growth, and its fast recoveries.

A row of a series is an event of the sender at which a column changed. Phases are those of `dumbbell`'s series: slow
start, avoidance, fast recovery, and recovery after a timeout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.studies.partial import NotRunError
from dumbbell.studies.shared import Floats

__all__ = ["Window", "early_repairs"]

Marks = npt.NDArray[np.bool_]

SLOW_START, AVOIDANCE, RECOVERY = 0, 1, 2
"""Codes of the series' column ``phase``."""
SMALL = 0.26
"""Part of the window up to which a cut outside of recovery isn't a reaction to a loss: Vegas takes a segment, or an
eighth at the end of slow start; Tahoe's reaction to a loss takes all but one segment."""
STEP = 1.0
"""Bytes; a smaller change of the window isn't one."""
INSTANT = 1e-4
"""Time within which a segment follows the ACK that released it, s; a timer expires between ACKs."""
THIRD = 3
"""Duplicate ACKs from which a segment counts as lost [RFC 5681 §3.2]."""


@dataclass(frozen=True, slots=True)
class Window:
    """The series of one sender: (n,) arrays by row.

    Attributes
    ----------
    cwnd, ssthresh, snd_una, snd_nxt : float64, bytes
    phase : int64
    timeouts : float64
        Count from the start.
    base_rtt, rtt : float64, s
        Those of Vegas; NaN for others.
    """

    cwnd: Floats
    ssthresh: Floats
    snd_una: Floats
    snd_nxt: Floats
    phase: npt.NDArray[np.int64]
    timeouts: Floats
    base_rtt: Floats
    rtt: Floats

    @classmethod
    def read(cls, table: pl.DataFrame) -> Window:
        """Read the series of a flow. NotRunError without the columns of a sender."""
        needed = ("cwnd", "ssthresh", "snd_una", "snd_nxt", "phase", "timeouts")
        if not set(needed) <= set(table.columns):
            raise NotRunError(f"the series has no {', '.join(sorted(set(needed) - set(table.columns)))}")
        none = np.full(table.height, np.nan)

        def column(name: str) -> Floats:
            return table[name].cast(pl.Float64).to_numpy() if name in table.columns else none

        return cls(
            cwnd=column("cwnd"),
            ssthresh=column("ssthresh"),
            snd_una=column("snd_una"),
            snd_nxt=column("snd_nxt"),
            phase=table["phase"].cast(pl.Int64).to_numpy(),
            timeouts=column("timeouts"),
            base_rtt=column("base_rtt"),
            rtt=column("rtt"),
        )

    @property
    def _open(self) -> Marks:
        """Rows in slow start or avoidance after such a row, without a timeout between; (n - 1,)."""
        calm = self.phase <= AVOIDANCE
        return np.asarray(calm[1:] & calm[:-1] & (np.diff(self.timeouts) == 0))

    @property
    def _taken(self) -> Floats:
        """The part of the window that each row takes; (n - 1,), no unit."""
        fall = -np.diff(self.cwnd)
        return np.where(fall >= STEP, fall / self.cwnd[:-1], 0.0)

    @property
    def cuts(self) -> Marks:
        """Rows that cut the window without a loss; (n - 1,)."""
        return np.asarray(self._open & (self._taken > 0) & (self._taken <= SMALL))

    @property
    def losses(self) -> int:
        """Reactions to a loss: entries into fast recovery, timeouts, and falls of the window to one segment."""
        recovery = self.phase == RECOVERY
        entries = int((recovery[1:] & ~recovery[:-1]).sum())
        falls = int((self._open & (self._taken > SMALL)).sum())
        return entries + falls + int(self.timeouts[-1] - self.timeouts[0])

    @property
    def without_loss(self) -> float:
        """Cuts without a loss as a part of all reductions, %; NaN without any."""
        early = int(self.cuts.sum())
        every = early + self.losses
        return 100 * early / every if every else float("nan")

    @property
    def start_ends_early(self) -> float:
        """100 if slow start first ends in avoidance below ssthresh, 0 if by a loss or at ssthresh; NaN if never."""
        after = np.flatnonzero(self.phase != SLOW_START)
        if not after.size or after[0] == 0:
            return float("nan")
        k = int(after[0])
        return 100.0 * bool(self.phase[k] == AVOIDANCE and self.cwnd[k] < self.ssthresh[0] - STEP)

    @property
    def starts_and_recovers(self) -> bool:
        """True if the first loss leads to fast recovery, and the recovery to avoidance."""
        later = self.phase[np.concatenate(([True], np.diff(self.phase) != 0))]
        k = int(np.argmax(later > AVOIDANCE))
        return bool(later[k] == RECOVERY and k + 1 < later.size and later[k + 1] == AVOIDANCE)

    @property
    def rises_below_base(self) -> float:
        """Of the rises of Vegas' window in avoidance, those at an RTT below its base RTT, %."""
        avoiding = self._open & (self.phase[1:] == AVOIDANCE) & ~np.isnan(self.rtt[1:])
        rises = avoiding & (np.diff(self.cwnd) > 0)
        return _part(self.rtt[1:] < self.base_rtt[1:], rises)

    @property
    def cuts_above_base(self) -> float:
        """Of the round trips of Vegas in avoidance whose RTT is above its base RTT, those that cut the window, %."""
        ends = self._open & (self.phase[1:] == AVOIDANCE) & (np.diff(self.rtt) != 0) & ~np.isnan(self.rtt[:-1])
        return _part(self.cuts, ends & (self.rtt[1:] > self.base_rtt[1:]))

    def kept(self, limit: float) -> float:
        """Return the part of the window that a fast recovery leaves (ssthresh), mean over the run, %.

        Parameters
        ----------
        limit : float, bytes
            The TCP window, which bounds the window in use.
        """
        recovery = self.phase == RECOVERY
        at = 1 + np.flatnonzero(recovery[1:] & (self.phase[:-1] <= AVOIDANCE))
        return float(np.mean(100 * self.ssthresh[at] / np.minimum(self.cwnd[at - 1], limit))) if at.size else np.nan

    def growth(self, segment: float) -> float:
        """Return the growth of the window in avoidance in segments for each window of acknowledged data; no unit."""
        rows = self._open & (self.phase[1:] == AVOIDANCE) & (self.phase[:-1] == AVOIDANCE)
        windows = (np.diff(self.snd_una) / self.cwnd[:-1])[rows].sum()
        return float(np.diff(self.cwnd)[rows].sum() / segment / windows) if windows > 0 else float("nan")

    @property
    def _recoveries(self) -> list[tuple[int, int]]:
        """First row of each fast recovery, and the row after it; one that the run cuts off isn't listed."""
        recovery = np.concatenate(([False], self.phase == RECOVERY))
        starts = np.flatnonzero(recovery[1:] & ~recovery[:-1])
        ends = [np.flatnonzero(~recovery[1 + s :]) for s in starts]
        return [(int(s), int(s + e[0])) for s, e in zip(starts, ends, strict=True) if e.size]

    @property
    def outlast_partial(self) -> float:
        """Fast recoveries that continue after an ACK of new data, %; NaN without any."""
        found = [bool((np.diff(self.snd_una[a:b]) > 0).any()) for a, b in self._recoveries]
        return 100 * float(np.mean(found)) if found else float("nan")

    @property
    def end_complete(self) -> float:
        """Of the fast recoveries with an ACK of part of the data, those that end with all of it acknowledged, %.

        The data is that sent before the recovery. Such a partial ACK shows that several segments were lost. NaN
        without any.
        """
        several = [(a, b) for a, b in self._recoveries if (np.diff(self.snd_una[a:b]) > 0).any()]
        found = [bool(self.snd_una[b] >= self.snd_nxt[max(a - 1, 0)] - STEP) for a, b in several]
        return 100 * float(np.mean(found)) if found else float("nan")


def _part(which: Marks, of: Marks) -> float:
    return 100 * float((which & of).sum() / of.sum()) if of.any() else float("nan")


def early_repairs(packets: pl.DataFrame) -> float:
    """Return the share of repairs before the third duplicate ACK, of those that a duplicate ACK releases, %.

    Parameters
    ----------
    packets : polars.DataFrame
        The frames of one connection in their order, as captured at its sender: ``t_ns``, ``len`` (payload), ``seq``
        and ``ack`` (relative or not), ``data`` (True for the direction of the data).

    Returns
    -------
    float
        NaN without repairs.
    """
    highest, last, duplicates, released = -1.0, -1.0, 0, -np.inf
    found: list[bool] = []
    columns = (packets[c].to_numpy() for c in ("t_ns", "len", "seq", "ack", "data"))
    for t, size, seq, ack, data in zip(*columns, strict=True):
        if not data:
            duplicates = duplicates + 1 if ack == last else 0
            last, released = ack, t
        elif size:
            first = seq == last and seq < highest and duplicates > 0
            if first and 1e-9 * (t - released) <= INSTANT:
                found.append(duplicates < THIRD)
            highest = max(highest, seq + size)
    return 100 * float(np.mean(found)) if found else float("nan")
