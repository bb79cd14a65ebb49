"""Measurements of the experiments, by queue and variant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
import polars as pl

from dumbbell.results import Results, Run
from dumbbell.results.frames.run_frames import label
from dumbbell.scenario import Scenario
from dumbbell.studies.bufferbloat.cubic import Epoch, plateau_time
from dumbbell.studies.cells import Cells
from dumbbell.studies.shared import Floats
from dumbbell.studies.windows import Window

__all__ = [
    "ANY",
    "BEGUN",
    "EARLY",
    "PINGED",
    "POOLED",
    "QUEUES",
    "SETTLED",
    "SINCE",
    "START",
    "VARIANT",
    "VARIANTS",
    "Curves",
    "Load",
    "Pages",
    "Paths",
    "Teeth",
    "first_pings",
]

VARIANTS = ("reno", "cubic")
QUEUES = {"large": "100 packets", "small": "20 packets", "two": "two queues", "codel": "CoDel", "fq_codel": "FQ-CoDel"}
"""In the order of the scenario's sweep; the words for them."""
QUEUE, VARIANT, START = "network.bottleneck.queue", "flows.long.variant", "flows.long.start"
DELAY = "network.bottleneck.delay"
SINCE_BEGUN = "since"
BEGUN = {"202 s": "20 to 36 s", "182 s": "40 to 56 s", "112 s": "110 to 126 s"}
"""Start of the transfer in the scenario -> the time from it to the page's start at 230 s; each up to 8 s later."""
SINCE = tuple(BEGUN.values())
EARLY = SINCE[0]
ANY = "20 to 126 s"
POOLED = {ANY: SINCE}
"""Name of several ranges together."""
PINGED = {"20 to 36 s": "2 to 18 s", "40 to 56 s": "22 to 38 s", "110 to 126 s": "92 to 108 s"}
"""Time from the start of the transfer to the page -> to the first ping, which is sent at 212 s or up to 8 s later."""
LOW = 0.1
"""Part below the median from which the top of a tooth is a low one: a tenth of the window is seen in a graph."""
PRINTED = 3
"""Pings of ten that the report prints."""
MSS = 1448
"""Payload of a full segment, bytes."""


def _queues(scenario: Scenario) -> dict[str, str]:
    """Return the name of each queue of a scenario's sweep, a beginning of `QUEUES`, by its words in a frame."""
    swept = list(dict.fromkeys(str(label(cell.values[QUEUE])) for cell in scenario.cells))
    return dict(zip(swept, islice(QUEUES, len(swept)), strict=True))


def _named(frame: pl.DataFrame, scenario: Scenario) -> pl.DataFrame:
    """Replace the swept queues by the names of `QUEUES`."""
    names = _queues(scenario)
    return frame.with_columns(pl.col(QUEUE).replace_strict(names))


def _timed(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the time since the start of the transfer, in words."""
    return frame.with_columns(pl.col(START).replace_strict(BEGUN).alias(SINCE_BEGUN))


class Load:
    """The experiment with ping and page before and beside the transfer; ``n`` repetitions.

    `since` is one of `SINCE`, or a name of `POOLED` for the runs of several.
    """

    def __init__(self, results: Results) -> None:
        flows = _timed(_named(results.flows, results.scenario))
        keys = [QUEUE, SINCE_BEGUN, VARIANT]
        self._flows = {name: Cells(flows.filter(pl.col("name") == name), keys) for name in flows["name"].unique()}
        times = _timed(_named(results.transfers, results.scenario))
        self._pages = {name: Cells(times.filter(pl.col("flow") == name), keys) for name in times["flow"].unique()}
        queues = _queues(results.scenario)
        self._runs = {
            (queues[str(label(c[0].cell[QUEUE]))], BEGUN[str(c[0].cell[START])], str(c[0].cell[VARIANT])): c
            for c in results.by_cell()
        }
        self._results = results
        self.since = list(dict.fromkeys(since for _, since, _ in self._runs))
        self.n = results.scenario.repetitions

    def ping(self, queue: str, variant: str, since: str = EARLY, *, loaded: bool = True) -> Floats:
        """Return the mean RTT of ten pings by repetition; (n,) float64, ms."""
        name = "ping" if loaded else "ping alone"
        return self._pooled(since, lambda s: self._flows[name].get("rtt_mean_ms", queue, s, variant))

    def printed_pings(self, queue: str, variant: str, since: str = EARLY, *, loaded: bool = True) -> Floats:
        """Return the mean RTT of the first three pings, which the report prints, by repetition; (n,) float64, ms."""
        name = f"ping/{'ping' if loaded else 'ping alone'}"
        return self._pooled(since, lambda s: first_pings(self._results, self._runs.get((queue, s, variant), []), name))

    def page(self, queue: str, variant: str, since: str = EARLY, *, loaded: bool = True) -> Floats:
        """Return the time of the page by repetition; (n,) float64, s."""
        name = "page" if loaded else "page alone"
        return self._pooled(since, lambda s: self._pages[name].get("took_s", queue, s, variant))

    def goodput(self, queue: str, variant: str, since: str = EARLY) -> Floats:
        """Return the long transfer's goodput by repetition; (n,) float64, Mbit/s."""
        return 1e-6 * self._pooled(since, lambda s: self._flows["long"].get("goodput_bps", queue, s, variant))

    def _pooled(self, since: str, get: Callable[[str], Floats]) -> Floats:
        return np.concatenate([get(one) for one in POOLED.get(since, (since,))])


def first_pings(results: Results, runs: Sequence[Run], name: str) -> Floats:
    """Return the mean RTT of the first three pings of each run; (n,) float64, ms."""
    tables = (results.table(run, name) for run in runs)
    return np.array([1e-6 * float(table["rtt_ns"][:PRINTED].to_numpy().mean()) for table in tables])


@dataclass(frozen=True, slots=True)
class Teeth:
    """The teeth of one window over time: (k,) float64 each.

    Attributes
    ----------
    length : s
    height, top : segments
        Growth within the tooth, and the window at its end.
    concave, convex : no unit
        Growth in the first (last) third less that in the middle third, as a part of the whole: 0 for a straight line.
    """

    length: Floats
    height: Floats
    top: Floats
    concave: Floats
    convex: Floats

    @property
    def of_k(self) -> Floats:
        """Lengths as parts of the K that the cubic function has after a loss at the tooth's top; no unit."""
        return self.length / plateau_time(self.top)


class Curves:
    """The experiment with series.

    Parameters
    ----------
    results : Results
    where : callable, optional
        Chooses the cells, if the scenario sweeps more than queues and variants.
    """

    def __init__(self, results: Results, where: Callable[[Run], bool] = lambda _run: True) -> None:
        self.results = results
        names = _queues(results.scenario)
        self._runs: dict[tuple[str, str], Sequence[Run]] = {
            (names[str(label(runs[0].cell[QUEUE]))], str(runs[0].cell[VARIANT])): runs
            for runs in results.by_cell()
            if where(runs[0])
        }
        self.queues = list(dict.fromkeys(queue for queue, _ in self._runs))
        self.n = results.scenario.repetitions

    def window(self, queue: str, variant: str, repetition: int = 0) -> tuple[Floats, Floats]:
        """Return the congestion window over time: s, segments."""
        table = self.results.table(self._runs[queue, variant][repetition], "flow/long")
        return table["t_ns"].to_numpy() * 1e-9, table["cwnd"].to_numpy() / MSS

    def waiting(self, queue: str, variant: str, repetition: int = 0) -> tuple[Floats, Floats]:
        """Return the packets waiting at the bottleneck over time: s, packets."""
        table = self.results.table(self._runs[queue, variant][repetition], "queue/r1->r2")
        return table["t_ns"].to_numpy() * 1e-9, table["packets"].to_numpy().astype(np.float64)

    def teeth(self, queue: str, variant: str, repetition: int = 0) -> Teeth:
        """Split the window at its reductions, from the third on, when the effects of the start are over."""
        found = []
        for one, w in self.rises(queue, variant, repetition):
            a, b, c, d = np.interp(np.linspace(one[0], one[-1], 4), one, w)
            concave, convex = ((b - a) - (c - b)) / (d - a), ((d - c) - (c - b)) / (d - a)
            found.append((one[-1] - one[0], d - a, d, concave, convex))
        columns = np.array(found).reshape(-1, 5).T
        return Teeth(*columns)

    def rises(self, queue: str, variant: str, repetition: int = 0) -> list[tuple[Floats, Floats]]:
        """Return the window over time of each tooth: s, segments; those that rise by less than a segment left out."""
        table = self.results.table(self._runs[queue, variant][repetition], "flow/long")
        t, cwnd = table["t_ns"].to_numpy() * 1e-9, table["cwnd"].to_numpy() / MSS
        avoiding = table["phase"].to_numpy() == _AVOIDANCE
        starts = np.flatnonzero(avoiding & ~np.concatenate(([False], avoiding[:-1])))[2:]
        found = []
        for begin in starts:
            ends = np.flatnonzero(~avoiding[begin:])
            if not ends.size or ends[0] < 4:
                continue
            one, w = t[begin : begin + ends[0]], cwnd[begin : begin + ends[0]]
            if w[-1] - w[0] >= 1:
                found.append((one, w))
        first, last = self.span(queue, variant, repetition)
        return [(one, w) for one, w in found if first <= one[0] and one[-1] <= last]

    def span(self, queue: str, variant: str, repetition: int = 0) -> tuple[float, float]:
        """Return begin and end of the time whose teeth count; s."""
        del queue, variant, repetition
        return 0.0, np.inf

    def settled(self, queue: str, variant: str, repetition: int = 0) -> tuple[float, float]:
        """Return begin and end of the time whose waiting packets count; s."""
        first, last = self.span(queue, variant, repetition)
        return max(first, SETTLED), last

    def epochs(self, queue: str, variant: str, repetition: int = 0) -> list[Epoch]:
        """Return CUBIC's rises in avoidance, from the third on; none without CUBIC's columns in the series."""
        table = self.results.table(self._runs[queue, variant][repetition], "flow/long")
        if not {"w_max", "k", "w_est"} <= set(table.columns):
            return []
        t, cwnd = table["t_ns"].to_numpy() * 1e-9, table["cwnd"].to_numpy() / MSS
        w_max, k, w_est = (table[c].to_numpy() for c in ("w_max", "k", "w_est"))
        avoiding = (table["phase"].to_numpy() == _AVOIDANCE) & ~np.isnan(k)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], avoiding, [False])).astype(np.int8)))
        pieces = [slice(a, b) for a, b in edges.reshape(-1, 2)[2:] if b - a >= FEWEST_ROWS]
        return [
            Epoch(t[s] - t[s][0], cwnd[s], w_est[s], float(np.nanmax([w_max[s][0], cwnd[s][0]])), float(k[s][0]))
            for s in pieces
        ]

    def of_epochs(self, queue: str, variant: str, what: Callable[[list[Epoch]], float]) -> Floats:
        """Return a property of CUBIC's rises by repetition; (n,) float64."""
        return np.array([what(self.epochs(queue, variant, r)) for r in range(len(self._runs[queue, variant]))])

    def start_friendly(self, queue: str, variant: str) -> Floats:
        """Return the share of the first rise in CUBIC's Reno-friendly region, by repetition; (n,) float64, %."""
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            table = self.results.table(self._runs[queue, variant][repetition], "flow/long")
            if not {"w_max", "k", "w_est"} <= set(table.columns):
                return np.array([], dtype=np.float64)
            t, w = self.window(queue, variant, repetition)
            top = int(np.argmax(np.diff(w) < 0))
            k, w_est = table["k"].to_numpy(), table["w_est"].to_numpy()
            begun = np.flatnonzero(~np.isnan(k[:top]))
            inside = np.zeros(top, dtype=bool)
            if begun.size:
                s = begun[0]
                one = Epoch(t[s:top] - t[s], w[s:top], w_est[s:top], float(w[s]), float(k[s]))
                inside[s:] = one.friendly
            found.append(100 * float(np.average(inside, weights=np.diff(t[: top + 1]))))
        return np.array(found)

    def windows(self, queue: str, variant: str) -> list[Window]:
        """Return the window with its phases, by repetition."""
        return [Window.read(self.results.table(run, "flow/long")) for run in self._runs[queue, variant]]

    def first_losses(self, queue: str, variant: str) -> Floats:
        """Return 100 if the first rise ends in fast recovery and that in avoidance, otherwise 0; (n,) float64, %."""
        return np.array([100.0 * one.starts_and_recovers for one in self.windows(queue, variant)])

    def each(self, queue: str, variant: str, what: str) -> Floats:
        """Return the median over the teeth of each repetition; (n,) float64, NaN without teeth."""
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            values = getattr(self.teeth(queue, variant, repetition), what)
            found.append(float(np.median(values)) if values.size else np.nan)
        return np.array(found)

    def spread_of_lengths(self, queue: str, variant: str, *, over_time: bool) -> Floats:
        """Return the standard deviation of the lengths of the teeth as a part of their mean, by repetition; (n,).

        Over time a tooth counts by its length, as in a graph; otherwise each counts once.
        """
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            values = self.teeth(queue, variant, repetition).length
            if values.size < 2:
                found.append(np.nan)
                continue
            weights = values if over_time else np.ones(values.size)
            mean = np.average(values, weights=weights)
            found.append(float(np.sqrt(np.average((values - mean) ** 2, weights=weights)) / mean))
        return np.array(found)

    def low_tops(self, queue: str, variant: str) -> Floats:
        """Return the share of teeth whose top is low (`LOW`) beside the median top, by repetition; (n,) float64."""
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            tops = self.teeth(queue, variant, repetition).top
            found.append(float((tops <= (1 - LOW) * np.median(tops)).mean()) if tops.size else np.nan)
        return np.array(found)

    def start_bend(self, queue: str, variant: str) -> Floats:
        """Return the bend of the window in slow start, from its first growth on, by repetition; (n,) float64.

        Growth in the second half of the time less that in the first, as a part of the whole: 0 for a straight line.
        """
        found = []
        for repetition, run in enumerate(self._runs[queue, variant]):
            t, w = self.window(queue, variant, repetition)
            begin = int(np.argmax(w > w[0]))
            end = int(np.argmax(self.results.table(run, "flow/long")["phase"].to_numpy() != _SLOW_START)) - 1
            a, b, c = np.interp(np.linspace(t[begin], t[end], 3), t, w)
            found.append(float((c - 2 * b + a) / (c - a)))
        return np.array(found)

    def first_peak(self, queue: str, variant: str) -> Floats:
        """Return the window at the end of its first rise, by repetition; (n,) float64, segments."""
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            _, w = self.window(queue, variant, repetition)
            found.append(float(w[int(np.argmax(np.diff(w) < 0))]))
        return np.array(found)

    def backlog(self, queue: str, variant: str) -> tuple[Floats, Floats]:
        """Return the mean and the largest number of waiting packets from 40 s on; (n,) float64 each."""
        means, largest = [], []
        for repetition in range(len(self._runs[queue, variant])):
            t, packets = self.waiting(queue, variant, repetition)
            first, last = self.settled(queue, variant, repetition)
            late = (t >= first) & (t <= last)
            means.append(float(np.average(packets[late][:-1], weights=np.diff(t[late]))))
            largest.append(float(packets[late].max()))
        return np.array(means), np.array(largest)

    def spread_of_waiting(self, queue: str, variant: str) -> Floats:
        """Return the standard deviation of the waiting packets over time as a part of their mean; (n,) float64.

        From 40 s on, by repetition.
        """
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            t, packets = self.waiting(queue, variant, repetition)
            first, last = self.settled(queue, variant, repetition)
            late = (t >= first) & (t <= last)
            values, weights = packets[late][:-1], np.diff(t[late])
            mean = np.average(values, weights=weights)
            found.append(float(np.sqrt(np.average((values - mean) ** 2, weights=weights)) / mean))
        return np.array(found)

    def straight(self, queue: str, variant: str, bend: float) -> Floats:
        """Return the share of teeth that bend by less than ``bend`` at both ends, by repetition; (n,) float64."""
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            teeth = self.teeth(queue, variant, repetition)
            both = (np.abs(teeth.concave) < bend) & (np.abs(teeth.convex) < bend)
            found.append(float(both.mean()) if both.size else np.nan)
        return np.array(found)

    def whole(self, queue: str, variant: str, bend: float, *, over_time: bool = False) -> Floats:
        """Return the share of teeth that are concave and convex by at least ``bend``, by repetition; (n,) float64.

        Over time a tooth counts by its length, as in a graph; otherwise each counts once.
        """
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            teeth = self.teeth(queue, variant, repetition)
            both = (teeth.concave >= bend) & (teeth.convex >= bend)
            weights = teeth.length if over_time else np.ones(both.size)
            found.append(float(np.average(both, weights=weights)) if both.size else np.nan)
        return np.array(found)


class Pages(Curves):
    """The experiment with pages: its teeth and waiting packets between the start of the first page and the last end.

    Without pages the transfer alone would be in the numbers: its teeth are longer.
    """

    def __init__(self, results: Results) -> None:
        super().__init__(results)
        times = results.transfers.group_by("run").agg(pl.col("start_s").min(), pl.col("end_s").max())
        self._spans = {run: (first, last) for run, first, last in times.select("run", "start_s", "end_s").iter_rows()}

    def span(self, queue: str, variant: str, repetition: int = 0) -> tuple[float, float]:
        """Return the time from the start of the first page to the end of the last one; s."""
        return self._spans[self._runs[queue, variant][repetition].index]


SETTLED = 40.0
"""Time from which the start has no effect, s."""
FEWEST_ROWS = 5
"""Rows of the series from which a rise counts."""
_SLOW_START, _AVOIDANCE = 0, 1
"""Codes of slow start and of congestion avoidance in the series' column ``phase``."""


def _has_delay(delay: str, run: Run) -> bool:
    return str(run.cell[DELAY]) == delay


class Paths:
    """The long transfer over paths with two round trips: its teeth, and CUBIC's rises.

    Attributes
    ----------
    delays : list of str
        One-way delays, in the words of the scenario.
    """

    def __init__(self, results: Results) -> None:
        self._curves = {
            delay: Curves(results, partial(_has_delay, delay))
            for delay in dict.fromkeys(str(run.cell[DELAY]) for run in results.runs)
        }
        self.delays = list(self._curves)

    def length(self, delay: str, queue: str, variant: str) -> Floats:
        """Return the length of a tooth as a part of the cubic function's K, median by repetition; (n,) float64."""
        return self._curves[delay].each(queue, variant, "of_k")

    def of_epochs(self, delay: str, queue: str, variant: str, what: Callable[[list[Epoch]], float]) -> Floats:
        """Return a property of CUBIC's rises by repetition; (n,) float64."""
        return self._curves[delay].of_epochs(queue, variant, what)
