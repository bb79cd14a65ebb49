"""Measurements of the experiments: metrics by variant, by the other varied value, and by repetition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.results import Results, Run
from dumbbell.studies.shared import Floats, column, seconds

__all__ = ["BDP", "LABELS", "Part", "largest_rise", "reached", "time_until"]

BOTTLENECK = "r1->r2"
LABELS = {"sack": "standard TCP", "cubic": "CUBIC", "vegas": "Vegas", "bbr": "BBR"}
"""Names of variants in texts; standard TCP is NewReno with SACK [§6.1]."""
BDP = 100e6 * 0.1 / 8 * 1448 / 1500
"""Payload that the path of §5.3 holds, bytes."""


class Part:
    """An experiment: runs by variant and by the values of further swept paths.

    Parameters
    ----------
    results : Results
    variant : str
        The path that distinguishes variants.
    beside : sequence of str
        Further paths.
    """

    def __init__(self, results: Results, variant: str, beside: Sequence[str] = ()) -> None:
        self._results = results
        self._runs: dict[tuple[str, ...], list[Run]] = {}
        for run in results.runs:
            key = (str(run.cell[variant]), *(str(run.cell[path]) for path in beside))
            self._runs.setdefault(key, []).append(run)
        self.variants = [v for v in LABELS if any(key[0] == v for key in self._runs)]
        self.n = results.scenario.repetitions

    def values(self, place: int) -> list[str]:
        """List the values of a further path, in the order of the sweep."""
        return list(dict.fromkeys(key[1 + place] for key in self._runs))

    def cells(self) -> list[tuple[str, ...]]:
        """List the values that vary beside the variant, in the order of the sweep."""
        return list(dict.fromkeys(key[1:] for key in self._runs))

    def runs(self, variant: str, *key: str) -> list[Run]:
        """Return the runs of a cell, by repetition."""
        return self._runs[variant, *key]

    def queue(self, metric: str, variant: str, *key: str, name: str = BOTTLENECK) -> Floats:
        """Return a metric of a queue; (n,)."""
        rows = [next(q for q in run.queues if q["name"] == name) for run in self.runs(variant, *key)]
        return np.array([row[metric] for row in rows], dtype=np.float64)

    def drop_rate(self, variant: str, *key: str) -> Floats:
        """Return the part of the packets that arrive at the central link that is dropped, %; (n,)."""
        return 100 * self.queue("drops", variant, *key) / self.queue("arrivals", variant, *key)

    def goodput(self, variant: str, *key: str, flow: str = "") -> Floats:
        """Return the goodput of all flows whose names begin so, Mbit/s; (n,)."""
        runs = self.runs(variant, *key)
        return 1e-6 * np.array(
            [sum(f["goodput_bps"] or 0.0 for f in run.flows if str(f["name"]).startswith(flow)) for run in runs]
        )

    def dropped(self, variant: str, *key: str, flow: str) -> Floats:
        """Count the dropped packets of all flows whose names begin so; (n,)."""
        runs = self.runs(variant, *key)
        return np.array(
            [sum(f["dropped_packets"] for f in run.flows if str(f["name"]).startswith(flow)) for run in runs],
            dtype=np.float64,
        )

    def series(self, what: str, flow: str, variant: str, *key: str) -> list[tuple[Floats, Floats]]:
        """Return a column of a flow's series with its times, s, by repetition."""
        tables = [self._results.arrays(run, f"flow/{flow}") for run in self.runs(variant, *key)]
        return [(seconds(table), column(table, what)) for table in tables]

    def start(self, flow: str, variant: str, *key: str) -> Floats:
        """Return the start of a flow, s; (n,)."""
        runs = self.runs(variant, *key)
        return np.array([next(f["start_s"] for f in run.flows if f["name"] == flow) for run in runs])


def reached(time: Floats, values: Floats, level: float) -> float:
    """Return the time at which a series first reaches a level; NaN if it never does."""
    at = np.flatnonzero(values >= level)
    return float(time[at[0]]) if at.size else float("nan")


def time_until(time: Floats, values: Floats, level: float, begin: float) -> float:
    """Return the time after `begin` at which a step function first is at a level or above; NaN if never."""
    before = np.flatnonzero(time <= begin)
    if before.size and values[before[-1]] >= level:
        return 0.0
    later = time > begin
    return reached(time[later], values[later], level) - begin


def largest_rise(time: Floats, values: Floats, begin: float, end: float, span: float) -> float:
    """Return the largest rise of a step function in one span of time within begin .. end, in its unit."""
    moments = np.arange(begin, max(end, begin + span) + 1e-9, span / 5)
    place = np.maximum(np.searchsorted(time, moments, side="right") - 1, 0)
    level = values[place]
    return float(np.max(level[5:] - level[:-5], initial=0.0))
