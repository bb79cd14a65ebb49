"""Measurements of the experiments, by queue and variant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.results import Results, Run
from dumbbell.studies.cells import Cells

__all__ = ["QUEUES", "VARIANTS", "Curves", "Load", "Teeth"]

Floats = npt.NDArray[np.float64]

VARIANTS = ("reno", "cubic")
QUEUES = {
    "large": "100 packets",
    "small": "20 packets",
    "two": "two queues",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
}
"""In the order of the scenario's sweep; the words for them."""
QUEUE, VARIANT = "network.bottleneck.queue", "flows.long.variant"
MSS = 1448
"""Payload of a full segment, bytes."""


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """Replace the swept queues by the names of `QUEUES`."""
    names = dict(zip(frame[QUEUE].unique(maintain_order=True), QUEUES, strict=True))
    return frame.with_columns(pl.col(QUEUE).replace_strict(names))


class Load:
    """The experiment with ping and page; ``n`` repetitions."""

    def __init__(self, results: Results) -> None:
        flows = _named(results.flows)
        keys = [QUEUE, VARIANT]
        self._flows = {name: Cells(flows.filter(pl.col("name") == name), keys) for name in flows["name"].unique()}
        times = _named(results.transfers).with_columns(took=pl.col("end_s") - pl.col("start_s"))
        groups = [*keys, "repetition", "flow"]
        medians = times.group_by(groups, maintain_order=True).agg(pl.col("took").median())
        self._pages = {name: Cells(medians.filter(pl.col("flow") == name), keys) for name in medians["flow"].unique()}
        self._single = times.filter(pl.col("flow") == "page")
        self.n = results.scenario.repetitions

    def ping(self, queue: str, variant: str, *, loaded: bool = True) -> Floats:
        """Return the mean RTT of ten pings by repetition; (n,) float64, ms."""
        return self._flows["ping" if loaded else "ping alone"].get("rtt_mean_ms", queue, variant)

    def page(self, queue: str, variant: str, *, loaded: bool = True) -> Floats:
        """Return the median time of the page's downloads by repetition; (n,) float64, s."""
        return self._pages["page" if loaded else "page alone"].get("took", queue, variant)

    def pages(self, queue: str, variant: str) -> Floats:
        """Return the time of each single download beside the long transfer; (5 n,) float64, s."""
        rows = self._single.filter((pl.col(QUEUE) == queue) & (pl.col(VARIANT) == variant))
        return rows["took"].drop_nulls().to_numpy()

    def goodput(self, queue: str, variant: str) -> Floats:
        """Return the long transfer's goodput by repetition; (n,) float64, Mbit/s."""
        return 1e-6 * self._flows["long"].get("goodput_bps", queue, variant)


@dataclass(frozen=True, slots=True)
class Teeth:
    """The teeth of one window over time: (k,) float64 each.

    Attributes
    ----------
    length : s
    height : segments
    concave, convex : no unit
        Growth in the first (last) third less that in the middle third, as a part of the whole: 0 for a straight line.
    """

    length: Floats
    height: Floats
    concave: Floats
    convex: Floats


class Curves:
    """The experiment with series."""

    def __init__(self, results: Results) -> None:
        self.results = results
        order = list(dict.fromkeys(repr(run.cell[QUEUE]) for run in results.runs))
        names = dict(zip(order, QUEUES, strict=True))
        self._runs: dict[tuple[str, str], list[Run]] = {
            (names[repr(runs[0].cell[QUEUE])], str(runs[0].cell[VARIANT])): runs for runs in results.by_cell()
        }
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
        run = self._runs[queue, variant][repetition]
        table = self.results.table(run, "flow/long")
        t, cwnd = table["t_ns"].to_numpy() * 1e-9, table["cwnd"].to_numpy() / MSS
        avoiding = table["phase"].to_numpy() == _AVOIDANCE
        starts = np.flatnonzero(avoiding & ~np.concatenate(([False], avoiding[:-1])))[2:]
        found = []
        for begin in starts:
            ends = np.flatnonzero(~avoiding[begin:])
            if not ends.size or ends[0] < 4:
                continue
            one, w = t[begin : begin + ends[0]], cwnd[begin : begin + ends[0]]
            a, b, c, d = np.interp(np.linspace(one[0], one[-1], 4), one, w)
            if d - a >= 1:
                concave, convex = ((b - a) - (c - b)) / (d - a), ((d - c) - (c - b)) / (d - a)
                found.append((one[-1] - one[0], d - a, concave, convex))
        columns = np.array(found).reshape(-1, 4).T
        return Teeth(*columns)

    def each(self, queue: str, variant: str, what: str) -> Floats:
        """Return the median over the teeth of each repetition; (n,) float64, NaN without teeth."""
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            values = getattr(self.teeth(queue, variant, repetition), what)
            found.append(float(np.median(values)) if values.size else np.nan)
        return np.array(found)

    def whole(self, queue: str, variant: str, bend: float) -> Floats:
        """Return the share of teeth that are concave and convex by at least ``bend``, by repetition; (n,) float64."""
        found = []
        for repetition in range(len(self._runs[queue, variant])):
            teeth = self.teeth(queue, variant, repetition)
            both = (teeth.concave >= bend) & (teeth.convex >= bend)
            found.append(float(both.mean()) if both.size else np.nan)
        return np.array(found)


_AVOIDANCE = 1
"""Code of congestion avoidance in the series' column ``phase``."""
