"""Measurements of the experiments, in the report's terms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from dumbbell.metrics import edges_of, jain, rate_per_window, shares
from dumbbell.results import Results
from dumbbell.studies.cells import Cells
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["VARIANTS", "Alone", "Over", "Pairs", "pair_name"]

VARIANTS = ("cubic", "reno", "vegas", "bbr")
"""In the order of the report's matrix."""
WINDOW = 1.0
"""Seconds of a window in which shares over time are counted."""


def pair_name(first: str, second: str) -> str:
    """Write a pair, the flow that starts first in front."""
    return f"{LABELS[first]} then {LABELS[second]}"


class Alone:
    """Part 1: one flow, by a swept column and its variant."""

    def __init__(self, results: Results, *paths: str) -> None:
        flows = results.flows
        keys = [*paths, "flows.iperf.variant"]
        self._cells = {name: Cells(flows.filter(pl.col("name") == name), keys) for name in flows["name"].unique()}
        cells = self._cells["iperf"].keys()
        self.points = list(dict.fromkeys(cell[:-1] for cell in cells))
        self.n = results.scenario.repetitions

    def get(self, metric: str, variant: str, *point: str | float, flow: str = "iperf") -> Floats:
        """Return a metric by repetition, rates in Mbit/s; (n,) float64."""
        factor = 1e-6 if metric.endswith("_bps") else 1.0
        return factor * self._cells[flow].get(metric, *point, variant)

    def part(self, *point: str | float) -> Floats:
        """Return Vegas' goodput over the mean of Reno's and CUBIC's; (n,) float64."""
        others = (self.get("goodput_bps", "reno", *point) + self.get("goodput_bps", "cubic", *point)) / 2
        return np.asarray(self.get("goodput_bps", "vegas", *point) / others)


class Pairs:
    """Part 2: every ordered pair at one depth of the buffer (or one round trip)."""

    def __init__(self, results: Results, frame: pl.DataFrame | None = None) -> None:
        flows = results.flows if frame is None else frame
        keys = ["flows.first.variant", "flows.second.variant"]
        flows = flows.with_columns(pl.col(keys).str.replace(r"^bbr1\(.*$", "bbr"))  # BBR with other parameters
        self._cells = {name: Cells(flows.filter(pl.col("name") == name), keys) for name in ("first", "second")}
        self._medians: dict[tuple[str, str], tuple[float, float]] = {}
        self.n = results.scenario.repetitions

    def medians(self, first: str, second: str) -> tuple[float, float]:
        """Return the median goodput of both flows over the repetitions, Mbit/s."""
        if (first, second) not in self._medians:
            one, two = np.median(self.both(first, second), axis=0)
            self._medians[first, second] = (float(one), float(two))
        return self._medians[first, second]

    def both(self, first: str, second: str, metric: str = "goodput_bps") -> Floats:
        """Return a metric of both flows by repetition, rates in Mbit/s; (n, 2) float64."""
        factor = 1e-6 if metric.endswith("_bps") else 1.0
        found = [factor * self._cells[name].get(metric, first, second) for name in ("first", "second")]
        return np.stack(found, axis=-1)

    def share(self, first: str, second: str) -> Floats:
        """Return the share of the flow that starts first, by repetition; (n,) float64, 0 to 1."""
        return np.asarray(shares(self.both(first, second))[:, 0])

    def jain(self, first: str, second: str) -> Floats:
        """Return Jain's index by repetition; (n,) float64."""
        return jain(self.both(first, second))


def _variant(value: object) -> str:
    """Return a swept variant by its name; one with parameters is BBR."""
    return "bbr" if isinstance(value, Mapping) else str(value)


class Over:
    """Shares over time: the experiment with series, at one of its settings (path -> value)."""

    def __init__(self, results: Results, setting: Mapping[str, str]) -> None:
        self._results = results
        end = results.scenario.duration.seconds - WINDOW  # the series' last row is exact, those before up to 0.1 s old
        self.edges = edges_of(5.0, end, WINDOW)
        self._runs = {
            (_variant(runs[0].cell["flows.first.variant"]), _variant(runs[0].cell["flows.second.variant"])): runs
            for runs in results.by_cell()
            if all(runs[0].cell[key] == value for key, value in setting.items())
        }

    def repetitions(self, first: str, second: str) -> int:
        """Return the number of repetitions of a pair."""
        return len(self._runs[first, second])

    def rates(self, first: str, second: str, repetition: int = 0) -> Floats:
        """Return both flows' goodput by window from 5 s, Mbit/s; (windows, 2) float64."""
        run = self._runs[first, second][repetition]
        found = []
        for name in ("first", "second"):
            table = self._results.table(run, f"flow/{name}")
            t, total = table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy()
            found.append(1e-6 * rate_per_window(t, total, self.edges))
        return np.stack(found, axis=-1)

    def last(self, first: str, second: str, flow: str, column: str) -> Floats | None:
        """Return the last value of a column of a flow's series, by repetition; (n,) float64, the column's unit.

        None if the back end doesn't record it: a kernel reports only some of a variant's own columns.
        """
        series = [self._results.table(run, f"flow/{flow}") for run in self._runs[first, second]]
        if any(column not in table.columns for table in series):
            return None
        return np.array([table[column].to_list()[-1] for table in series])

    def restless(self, first: str, second: str) -> Floats:
        """Return the movement of the first flow's share in the second half, by repetition; (n,) float64.

        Its standard deviation over windows of one second, from 0 to 0.5.
        """
        found = []
        for repetition in range(len(self._runs[first, second])):
            both = self.rates(first, second, repetition)
            late = shares(both[len(both) // 2 :])[:, 0]
            found.append(np.nanstd(late))
        return np.array(found)
