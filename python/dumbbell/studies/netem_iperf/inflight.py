"""Windows and rates over time, in the report's two cells of bytes in flight and in those beside them."""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np
import polars as pl

from dumbbell.metrics import rate_per_window
from dumbbell.results import Results, Run
from dumbbell.studies.netem_iperf.data import DELAY, LOSS, MSS, VARIANT, payload
from dumbbell.studies.shared import Floats

__all__ = ["Inflight", "Windows"]

WINDOW = 1.0
"""Seconds over which a rate is taken."""
SETTLED = 10.0
"""Seconds from the first reduction until nothing is left of slow start's window: some 50 round trips at 100 ms."""
RECOVERY = 2
"""Least code of a recovery in the series' column ``phase``: fast recovery, then recovery after a timeout."""


class Inflight:
    """The experiment with series, by cell and variant."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._runs = {
            (f"{runs[0].cell[DELAY]}, {runs[0].cell[LOSS]}", str(runs[0].cell[VARIANT])): runs
            for runs in results.by_cell()
        }
        self._read: dict[str, Windows] = {}
        self._mss = payload(results.scenario)

    def get(self, metric: str, cell: str, variant: str) -> Floats:
        """Return a metric of `Windows` by repetition; (n,) float64. A cell's words are such as ``"10 ms, 0.1 %"``."""
        return np.array([getattr(self._windows(run), metric) for run in self._runs[cell, variant]])

    def _windows(self, run: Run) -> Windows:
        if run.key not in self._read:
            drops = self._results.table(run, "drops/r1->r2")["t_ns"].to_numpy() * 1e-9
            self._read[run.key] = Windows(self._results.table(run, "flow/iperf"), drops, self._mss)
        return self._read[run.key]


class Windows:
    """The windows of one run.

    A reduction is the beginning of a recovery, or a timeout, with ssthresh below the window before.

    Parameters
    ----------
    table : polars.DataFrame
        The series of the sender.
    drops : (n,) float64, s
        Times of its lost segments.
    mss : int, bytes
        Payload of its full segments.
    """

    def __init__(self, table: pl.DataFrame, drops: Floats | None = None, mss: int = MSS) -> None:
        self._mss = mss
        self._table, self._drops = table, np.array([]) if drops is None else drops
        self._t = table["t_ns"].to_numpy() * 1e-9
        self._delivered = table["delivered"].to_numpy()
        self._inflight = table["inflight"].cast(pl.Float64).to_numpy()
        cwnd, ssthresh = (table[c].cast(pl.Float64).to_numpy() for c in ("cwnd", "ssthresh"))
        recovering = table["phase"].to_numpy() >= RECOVERY
        self._expired = np.diff(table["timeouts"].cast(pl.Float64).to_numpy()) > 0
        begun = (recovering[1:] & ~recovering[:-1]) | self._expired
        self._reduced = begun & (ssthresh[1:] < cwnd[:-1])
        at = 1 + np.flatnonzero(self._reduced)
        self._times, self._before, self._after = self._t[at], cwnd[at - 1], ssthresh[at]

    @property
    def _settled(self) -> float:
        """The time from which on nothing is left of slow start's window, s."""
        return float(self._times[0]) + SETTLED if self._times.size else float(self._t[-1])

    @property
    def kept(self) -> float:
        """The part of the window that a reduction leaves, median over the run, %."""
        return _median(100 * self._after / self._before)

    @property
    def taken(self) -> float:
        """The part of the window that a reduction takes, median over the run, %."""
        return 100 - self.kept

    @property
    def taken_again(self) -> float:
        """The same of the reductions that come before the window has regained its size before the last one, %."""
        again = self._before[1:] < self._before[:-1]
        return _median(100 - 100 * (self._after[1:] / self._before[1:])[again])

    @property
    def answered(self) -> float:
        """The share of loss events that the window answers by a reduction of its own, %; NaN without losses.

        Losses within a round trip after the first one are one event [RFC 5681 §4.3]. Every timeout counts as a
        reduction here, also one that leaves ssthresh as it was. A reduction answers the first event before it that
        has no answer yet, unless a later event is more than the shortest round trip ago, so that the reduction can
        be the answer to that one.
        """
        srtt = self._table["srtt_ns"].cast(pl.Float64).to_numpy()
        reductions = list(self._t[1:][self._reduced | self._expired])
        events: list[float] = []
        for drop in self._drops:
            row = max(int(np.searchsorted(self._t, drop, side="right")) - 1, 0)
            if not events or drop - events[-1] > 1e-9 * srtt[row]:
                events.append(float(drop))
        shortest = 1e-9 * float(np.min(srtt[srtt > 0], initial=np.inf))
        found = []
        for event, after in itertools.pairwise([*events, np.inf]):
            answers = [t for t in reductions if event < t < after + shortest]
            found.append(bool(answers))
            if answers:
                reductions.remove(answers[0])
        return 100 * float(np.mean(found)) if found else np.nan

    @property
    def growth(self) -> float:
        """How fast the window grows between two reductions, median over the run, packets/s."""
        return _median((self._before[1:] - self._after[:-1]) / np.diff(self._times) / self._mss)

    @property
    def reductions(self) -> float:
        """Reductions a minute."""
        return 60 * self._times.size / float(self._t[-1] - self._t[0])

    @property
    def overshoot(self) -> float:
        """The largest window that a reduction ends, as a multiple of the mean data in flight; both when settled."""
        largest = np.max(self._before[self._times >= self._settled], initial=0.0)
        if not largest:
            return np.nan
        later = self._t >= self._settled
        steps = np.diff(self._t, append=self._t[-1])[later]
        return float(largest / np.average(self._inflight[later], weights=steps))

    @cached_property
    def variation(self) -> float:
        """The standard deviation of the rate over seconds, as a part of its mean, when settled."""
        rates = rate_per_window(self._t, self._delivered, np.arange(self._settled, float(self._t[-1]), WINDOW))
        return float(rates.std() / rates.mean()) if rates.size > 1 else np.nan


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else np.nan
