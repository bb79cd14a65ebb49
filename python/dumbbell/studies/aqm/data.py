"""Measurements of the experiments without phases: metrics by discipline and repetition."""

from __future__ import annotations

import numpy as np

from dumbbell.results import Results, Run
from dumbbell.studies.shared import Floats

__all__ = ["BOTTLENECK", "LABELS", "RTTS", "Section", "discipline", "look_of", "page_times"]

BOTTLENECK = "r1->r2"
QUEUE = "network.bottleneck.queue"
LABELS = {
    "droptail": "DropTail", "red": "ARED", "codel": "CoDel", "pie": "PIE", "pi2": "PI2", "dualpi2": "DualPI2",
    "fq_codel": "FQ-CoDel", "fq_pie": "FQ-PIE", "cake": "CAKE",
}  # fmt: skip
"""Names of disciplines in texts."""
RTTS = {"0.75 ms": 5, "4.5 ms": 20, "12 ms": 50, "24.5 ms": 100, "49.5 ms": 200, "99.5 ms": 400, "139.5 ms": 560}
"""Round trips of category II in §6.2, ms, by the access delay that makes them."""


def discipline(run: Run) -> str:
    """Name a run's discipline."""
    return str(run.cell[QUEUE]["discipline"])


def look_of(name: str) -> str:
    """Return a discipline's look; those with a queue for each flow are dashed and hollow, unlike their base."""
    return f"{name}:2" if name in {"fq_codel", "fq_pie", "dualpi2"} else name


class Section:
    """An experiment: runs by discipline, and by the value of another swept path if one exists.

    Parameters
    ----------
    results : Results
    beside : str, optional
        The other swept path.
    """

    def __init__(self, results: Results, beside: str | None = None) -> None:
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in results.runs:
            self._runs.setdefault((discipline(run), str(run.cell[beside]) if beside else ""), []).append(run)
        self.names = list(dict.fromkeys(name for name, _ in self._runs))
        self.others = list(dict.fromkeys(other for _, other in self._runs))
        self.n = results.scenario.repetitions
        self.capacity = max(q["capacity_bps"] for q in results.runs[0].queues if q["name"] == BOTTLENECK) * 1e-6

    def has(self, flow: str) -> bool:
        """Return True if a flow of that name exists."""
        return any(f["name"] == flow for f in next(iter(self._runs.values()))[0].flows)

    def runs(self, name: str, other: str | None = None) -> list[Run]:
        """Return the runs of a cell, by repetition."""
        return self._runs[name, self.others[0] if other is None else other]

    def queue(self, metric: str, name: str, other: str | None = None) -> Floats:
        """Return a metric of the bottleneck by repetition; (n,)."""
        rows = [next(q for q in run.queues if q["name"] == BOTTLENECK) for run in self.runs(name, other)]
        return np.array([row[metric] for row in rows], dtype=np.float64)

    def flow(self, metric: str, flow: str, name: str, other: str | None = None) -> Floats:
        """Return a metric of a flow by repetition; (n,), NaN where it has none."""
        rows = [next(f for f in run.flows if f["name"] == flow) for run in self.runs(name, other)]
        return np.array([row[metric] for row in rows], dtype=np.float64)

    def goodput(self, name: str, other: str | None = None, flow: str | None = None) -> Floats:
        """Return the goodput of a flow, or of all together, Mbit/s; (n,)."""
        if flow is not None:
            return self.flow("goodput_bps", flow, name, other) * 1e-6
        runs = self.runs(name, other)
        return np.array([sum(f["goodput_bps"] or 0.0 for f in run.flows) for run in runs]) * 1e-6

    def transfer_times(self, flow: str, name: str, other: str | None = None) -> Floats:
        """Return the mean time that a flow's transfers took, s; (n,), NaN where none has ended."""
        means = []
        for run in self.runs(name, other):
            took = [t["end_s"] - t["start_s"] for t in run.transfers if t["flow"] == flow and t["end_s"] is not None]
            means.append(float(np.mean(took)) if took else float("nan"))
        return np.array(means)

    def page_times(self, name: str) -> Floats:
        """Return the median time that pages took, s; (n,)."""
        return np.array([float(np.median(page_times(run))) for run in self.runs(name)])

    def delay(self, name: str, other: str | None = None) -> Floats:
        """Return the mean queueing delay, ms; (n,)."""
        return self.queue("mean_sojourn_ms", name, other)

    def drop_rate(self, name: str, other: str | None = None) -> Floats:
        """Return the part of the packets that arrive at the bottleneck that is dropped, %; (n,)."""
        return 100 * self.queue("drops", name, other) / self.queue("arrivals", name, other)


def page_times(run: Run) -> Floats:
    """Return the load time of each page, s: from its first connection to the end of its last; (pages,).

    A page is the transfers of one number of all flows ``web-...``; one that hasn't ended in all of them is left out.
    """
    pages: dict[int, list[tuple[float, float | None]]] = {}
    web = [f["name"] for f in run.flows if str(f["name"]).startswith("web")]
    for transfer in run.transfers:
        if transfer["flow"] in web:
            pages.setdefault(transfer["number"], []).append((transfer["start_s"], transfer["end_s"]))
    whole = [
        max(e for _, e in parts if e is not None) - min(s for s, _ in parts)
        for parts in pages.values()
        if len(parts) == len(web) and all(end is not None for _, end in parts)
    ]
    return np.array(whole)
