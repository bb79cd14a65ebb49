"""Measurements of experiment 3: metrics while the CBR stream runs, and series over the whole run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from dumbbell.backends import Table
from dumbbell.metrics import mean_per_window, packet_ack_delays, rate_per_window, segment_rate
from dumbbell.results import Results, Run
from dumbbell.studies.cells import Cells
from dumbbell.studies.ns2_cbr.data import METRICS
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.shared import Floats
from dumbbell.studies.windows import Window

__all__ = ["AFTER", "BEFORE", "BOTTLENECK", "EDGES", "QUEUES", "Average", "Experiment3", "queue_name"]

BOTTLENECK = "r1->r2"
ACCESS = "s1->r1"
PACKET = 1000
"""Payload of a packet, bytes."""
EDGES = np.arange(0.0, 25.01, 0.5)
"""Windows of the series, s: half a second is about eight round trips."""
CBR_START = 5.0
BEFORE, AFTER = (3.0, 5.0), (5.1, 7.1)
"""Spans before and after the CBR stream starts, s; it starts within 0.1 s."""

QUEUES = {
    "droptail": "DropTail, 10 packets",
    "red": "RED at ns-2's defaults",
    "droptail-bdp": "DropTail, 1 BDP",
    "red-bdp": "RED that suits the path",
}
"""The four queues. The report has the first one, and a RED whose parameters it doesn't state."""


def queue_name(setting: Any) -> str:  # noqa: ANN401
    """Name a queue of the sweep: its discipline, and whether its limit is the bandwidth-delay product."""
    return f"{setting['discipline']}{'-bdp' if str(setting['limit']).endswith('bdp') else ''}"


def _seconds(table: Table) -> Floats:
    """Take the time out of a traced table, s."""
    return table["t_ns"].astype(np.float64) * 1e-9


TCP = 0
"""Number of the data of the scenario's first flow, TCP, in the column ``flow`` of the drops."""
EARLY = 1
"""Code of an early drop in the column ``reason`` of the drops."""


@dataclass(frozen=True, slots=True)
class Average:
    """The average of a RED queue over time.

    Attributes
    ----------
    time : (n,) float64, s
    average : (n,) float64, packets or bytes, as RED counts
    packets : (n,) float64
        Those that wait.
    early : (m,) float64, s
        Times of early drops.
    """

    time: Floats
    average: Floats
    packets: Floats
    early: Floats

    def between(self, low: float, high: float) -> float:
        """Return the share of time in which the average lies from ``low`` to ``high``, %."""
        inside = (self.average[:-1] >= low) & (self.average[:-1] <= high)
        return 100 * float(np.average(inside, weights=np.diff(self.time)))

    def likelihoods(self) -> tuple[float, float]:
        """Return the share of arriving packets that are dropped early, %: the average in its lower, its upper half.

        The halves are those of the arrivals. An arrival is a packet that enters the queue, or an early drop.
        """
        entered = self.average[1:][np.diff(self.packets) > 0]
        at = np.clip(np.searchsorted(self.time, self.early, side="right") - 1, 0, None)
        dropped = self.average[at]
        middle = np.median(np.concatenate([entered, dropped]))

        def share(drops: int, rest: int) -> float:
            return 100 * drops / (drops + rest) if drops + rest else float("nan")

        upper, lower = int((dropped > middle).sum()), int((dropped <= middle).sum())
        return share(lower, int((entered <= middle).sum())), share(upper, int((entered > middle).sum()))


class Experiment3:
    """One flow over four queues: Reno and SACK in the report's experiment.

    Attributes
    ----------
    n : int
        Repetitions.
    variants : tuple of str
        In the order of the scenario.
    queues : list of str
        The queues that were run, in the order of `QUEUES`: a real kernel has no RED of ns-2.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._runs: dict[tuple[str, str], list[Run]] = {}
        names = {}
        for run in results.runs:
            queue = queue_name(run.cell["network.bottleneck.queue"])
            names[run.index] = queue
            self._runs.setdefault((run.cell["flows.tcp.variant"], queue), []).append(run)
        self.n = results.scenario.repetitions
        self.variants = tuple(dict.fromkeys(variant for variant, _queue in self._runs))
        self.queues = [q for q in QUEUES if q in {queue for _variant, queue in self._runs}]

        def named(frame: pl.DataFrame) -> pl.DataFrame:
            return frame.with_columns(
                queue=pl.col("run").replace_strict(names, return_dtype=pl.String), who=pl.col("flows.tcp.variant")
            )

        flows = named(results.flows)
        queues = named(results.queues).filter(pl.col("name") == BOTTLENECK)
        keys = ["who", "queue"]
        self._flow, self._cbr = (Cells(flows.filter(pl.col("name") == name), keys) for name in ("tcp", "cbr"))
        self._queue = Cells(queues, keys)

    def _need(self, queue: str) -> None:
        if queue not in self.queues:
            raise NotRunError(f"{QUEUES[queue]} was not run")

    def get(self, metric: str, variant: str, queue: str) -> Floats:
        """Return a metric (of `METRICS`) while the CBR stream runs, by repetition; (n,) float64."""
        self._need(queue)
        column, factor, _unit = METRICS[metric]
        cells = self._queue if metric.endswith("queue delay") else self._flow
        return factor * cells.get(column, variant, queue)

    def settings(self, queue: str) -> dict[str, Any]:
        """Return the parameters of a queue, as the scenario sets them."""
        self._need(queue)
        cells = (run.cell["network.bottleneck.queue"] for runs in self._runs.values() for run in runs)
        return next(dict(setting) for setting in cells if queue_name(setting) == queue)

    def drops(self, kind: str, variant: str, queue: str) -> Floats:
        """Count drops ("full" or "early") at the bottleneck while the CBR stream runs, by repetition; (n,)."""
        self._need(queue)
        return self._queue.get(f"drops_{kind}", variant, queue)

    def early_of_tcp(self, variant: str, queue: str) -> Floats:
        """Return the early drops in all dropped packets of TCP while the CBR stream runs, by repetition; (n,), %."""
        self._need(queue)
        found = []
        for run in self._runs[variant, queue]:
            rows = self._results.arrays(run, f"drops/{BOTTLENECK}")
            mine = (_seconds(rows) >= AFTER[0]) & (rows["flow"] == TCP)
            early = (rows["reason"] == EARLY)[mine]
            found.append(100 * float(early.mean()) if early.size else np.nan)
        return np.array(found)

    def dropped(self, flow: str, variant: str, queue: str) -> Floats:
        """Count a flow's ("tcp" or "cbr") dropped packets while the CBR stream runs, by repetition; (n,)."""
        return (self._flow if flow == "tcp" else self._cbr).get("dropped_packets", variant, queue)

    @cached_property
    def _series(self) -> dict[tuple[str, str], list[dict[str, Floats]]]:
        """The TCP flow's series of every run: time in s, the rest in bytes."""

        def read(run: Run) -> dict[str, Floats]:
            table = self._results.arrays(run, "flow/tcp")
            columns = {c: table[c].astype(np.float64) for c in ("delivered", "snd_una", "snd_nxt", "cwnd", "ssthresh")}
            return {"time": _seconds(table), **columns}

        return {cell: [read(run) for run in runs] for cell, runs in self._runs.items()}

    def throughput_series(self, variant: str, queue: str) -> Floats:
        """Return throughput per window of `EDGES`, Mbit/s; (n, k)."""
        self._need(queue)
        rows = self._series[variant, queue]
        return np.array([rate_per_window(s["time"], s["delivered"], EDGES) / 1e6 for s in rows])

    def latency_series(self, variant: str, queue: str) -> Floats:
        """Return the mean time from a packet's first transmission to its ACK per window of `EDGES`, ms; (n, k)."""
        self._need(queue)
        rows = []
        for s in self._series[variant, queue]:
            when, delay = packet_ack_delays(s["time"], s["snd_una"], s["snd_nxt"], PACKET)
            rows.append(mean_per_window(when, 1000 * delay, EDGES))
        return np.array(rows)

    def throughput_in(self, span: tuple[float, float], variant: str, queue: str) -> Floats:
        """Return the throughput within a span of time, Mbit/s, by repetition; (n,)."""
        self._need(queue)
        return np.array([segment_rate(s["time"], s["delivered"], *span) / 1e6 for s in self._series[variant, queue]])

    def one_run(self, variant: str, queue: str) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the series of the first repetition: the flow, and the bottleneck's backlog (time, packets, avg)."""
        self._need(queue)
        table = self._results.arrays(self._runs[variant, queue][0], f"queue/{BOTTLENECK}")
        backlog = {"time": _seconds(table), "packets": table["packets"].astype(np.float64)}
        if "avg" in table:
            backlog["avg"] = table["avg"].astype(np.float64)
        return self._series[variant, queue][0], backlog

    def windows(self, variant: str, queue: str) -> list[Window]:
        """Return the TCP flow's window over time, by repetition."""
        self._need(queue)
        return [Window.read(self._results.table(run, "flow/tcp")) for run in self._runs[variant, queue]]

    def averages(self, variant: str, queue: str) -> list[Average]:
        """Return RED's average of the queue while the CBR stream runs, by repetition."""
        self._need(queue)
        found = []
        for run in self._runs[variant, queue]:
            rows = self._results.arrays(run, f"queue/{BOTTLENECK}")
            drops = self._results.arrays(run, f"drops/{BOTTLENECK}")
            if "avg" not in rows:
                raise NotRunError(f"{QUEUES[queue]} has no average")
            late, early = _seconds(rows) >= AFTER[0], (drops["reason"] == EARLY) & (_seconds(drops) >= AFTER[0])
            packets = rows["packets"].astype(np.float64)[late]
            found.append(
                Average(_seconds(rows)[late], rows["avg"].astype(np.float64)[late], packets, _seconds(drops)[early])
            )
        return found

    @cached_property
    def largest_cwnd(self) -> float:
        """The largest cwnd of any run, packets."""
        return max(float(s["cwnd"].max()) for rows in self._series.values() for s in rows) / PACKET

    def largest(self, column: str, queue: str) -> float:
        """Return the largest ``packets`` (waiting) or ``avg`` (RED's average) at the bottleneck in any run."""
        self._need(queue)
        found = [
            self._results.arrays(run, f"queue/{BOTTLENECK}")[column].max()
            for (_variant, name), runs in self._runs.items()
            if name == queue
            for run in runs
        ]
        return float(max(found))

    def early_drops(self, queue: str) -> tuple[int, int]:
        """Count the drops of all runs before the CBR stream starts: in the sender's own link, at the bottleneck."""
        self._need(queue)
        counts = [0, 0]
        for (_variant, name), runs in self._runs.items():
            for run in runs if name == queue else []:
                for k, link in enumerate((ACCESS, BOTTLENECK)):
                    counts[k] += int((_seconds(self._results.arrays(run, f"drops/{link}")) < CBR_START).sum())
        return counts[0], counts[1]
