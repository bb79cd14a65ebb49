"""Measurements of the four experiments, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dumbbell import registry
from dumbbell.metrics import edges_of, rate_per_window
from dumbbell.plots.queues_over_time import backlog
from dumbbell.results import Results, Run
from dumbbell.studies.shared import Floats, column, seconds

__all__ = ["BOTTLENECK", "MSS", "PAIRS", "QUEUES", "Bloat", "Pair", "Series", "Stage", "stages"]

BOTTLENECK = "r1->r2"
MSS = 1448
"""Payload of a full segment with timestamps, bytes."""


class Series:
    """The series of the only run: the flow ``tcp``, times in s, windows in segments."""

    def __init__(self, results: Results) -> None:
        table = results.arrays(0, "flow/tcp")
        self.t = seconds(table)
        self.cwnd, self.ssthresh = (column(table, c) / MSS for c in ("cwnd", "ssthresh"))
        self.srtt = seconds(table, "srtt_ns")
        self.w_max = column(table, "w_max") if "w_max" in table else np.full(self.t.size, np.nan)
        names = registry.phases()
        self.phase = [names[p] for p in table["phase"]]
        self.waiting = backlog(results, results.runs[0], BOTTLENECK, "droptail", "packets waiting")
        self.utilization = next(q["utilization"] for q in results.runs[0].queues if q["name"] == BOTTLENECK)


@dataclass(frozen=True)
class Stage:
    """A whole epoch of congestion avoidance, between two recoveries.

    Attributes
    ----------
    t, cwnd, srtt : (n,) float64, s, segments, s
    before : float
        The window when the loss before it was found, segments.
    w_max : float
        CUBIC's plateau, segments; NaN for others.
    """

    t: Floats
    cwnd: Floats
    srtt: Floats
    before: float
    w_max: float


def stages(series: Series) -> list[Stage]:
    """Cut a series at its recoveries; the first epoch, after slow start, and the last one are not whole."""
    recovery = np.array([p == "recovery" for p in series.phase])
    begins = np.flatnonzero(np.diff(recovery.astype(np.int64)) == 1) + 1
    ends = np.flatnonzero(np.diff(recovery.astype(np.int64)) == -1) + 1
    found = []
    for n, end in enumerate(ends):
        after = begins[begins > end]
        if not after.size:
            break
        rows = slice(end, after[0])
        before = float(series.cwnd[begins[n] - 1])
        w_max = float(series.w_max[end])
        found.append(Stage(series.t[rows], series.cwnd[rows], series.srtt[rows], before, w_max))
    return found


QUEUES = {
    "droptail-20": "20 packets",
    "droptail-200": "200 packets",
    "codel-200": "CoDel, 200",
    "fq_codel-200": "FQ-CoDel, 200",
}
"""The queues of the experiment `bloat`, by the name that `queue_name` returns."""


def queue_name(run: Run) -> str:
    """Name the queue of a run."""
    setting = run.cell["network.bottleneck.queue"]
    return f"{setting['discipline']}-{str(setting['limit']).split()[0]}"


class Bloat:
    """A ping beside a download."""

    BASE = 30.0
    """Round trip without load, ms."""
    RATE = 5.0
    """Mbit/s."""
    PACKET = 1500
    START = 5.0

    def __init__(self, results: Results) -> None:
        self._results = results
        self._runs: dict[str, list[Run]] = {}
        for run in results.runs:
            self._runs.setdefault(queue_name(run), []).append(run)

    def _rows(self, queue: str, flow: str, metric: str) -> Floats:
        rows = [next(f for f in run.flows if f["name"] == flow) for run in self._runs[queue]]
        return np.array([row[metric] for row in rows], dtype=np.float64)

    def ping(self, queue: str, metric: str = "rtt_p50_ms") -> Floats:
        """Return a metric of the ping under load, ms, by repetition."""
        return self._rows(queue, "ping", metric)

    def goodput(self, queue: str) -> Floats:
        """Return the download's goodput, Mbit/s, by repetition."""
        return self._rows(queue, "download", "goodput_bps") * 1e-6

    def full(self, queue: str) -> float:
        """Return the delay of a full queue, ms."""
        return float(queue.split("-")[1]) * self.PACKET * 8 / self.RATE / 1000

    def series(self, queue: str) -> tuple[Floats, Floats]:
        """Return the ping times of the first repetition over time, s and ms."""
        table = self._results.arrays(self._runs[queue][0], "ping/ping")
        return seconds(table), 1000 * seconds(table, "rtt_ns")

    def idle(self) -> Floats:
        """Return the median ping before the download, ms, for each run of the first queue."""
        values = []
        for run in self._runs["droptail-20"]:
            table = self._results.arrays(run, "ping/ping")
            values.append(1000 * float(np.median(seconds(table, "rtt_ns")[seconds(table) < self.START])))
        return np.array(values)


WINDOW = 2.0
"""Windows that rates over time are shown in, s."""
PAIRS = (("reno", "reno"), ("cubic", "cubic"), ("cubic", "reno"), ("bbr", "cubic"))


class Pair:
    """Two flows on one link."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in results.runs:
            self._runs.setdefault((run.cell["flows.first.variant"], run.cell["flows.second.variant"]), []).append(run)
        self.n = results.scenario.repetitions
        self.edges = edges_of(0.0, results.scenario.duration.seconds, WINDOW)

    def goodput(self, pair: tuple[str, str]) -> Floats:
        """Return the goodput of the two flows, Mbit/s; (n, 2)."""
        return np.array([[f["goodput_bps"] * 1e-6 for f in run.flows] for run in self._runs[pair]])

    def over_time(self, pair: tuple[str, str]) -> tuple[Floats, Floats]:
        """Return the goodput of each flow of the first repetition in each window, Mbit/s."""
        rows = []
        for name in ("first", "second"):
            table = self._results.arrays(self._runs[pair][0], f"flow/{name}")
            rows.append(rate_per_window(seconds(table), table["delivered"], self.edges) * 1e-6)
        return rows[0], rows[1]
