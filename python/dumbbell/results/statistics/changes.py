"""Two sets of results side by side: every change, tested for significance."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import ResultsError
from dumbbell.metrics.needed_repetitions import too_few
from dumbbell.metrics.significance import LEVEL, compare_means, holm, holm_levels
from dumbbell.registry import unknown
from dumbbell.results.columns import better
from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.summary import IN_USE, short_names
from dumbbell.results.results import Results
from dumbbell.results.runs.record import Run

__all__ = ["METRICS", "Change", "compare"]

Floats = npt.NDArray[np.float64]

METRICS = ("goodput_bps", "rtt_p95_ms", "drop_rate", "completion_time_s", "utilization", "p99_sojourn_ms")
"""Metrics that are compared by default."""


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity in both sets of results.

    Attributes
    ----------
    cell, who, metric : str
        The cell, the flow or queue, the column.
    a, b : float
        Means over the repetitions compared, the metric's unit.
    n : int
        Repetitions compared; of the same seeds if `paired`.
    low, high : float
        Interval of the change b - a, the metric's unit, at the level of Holm's step; NaN where none can be given.
    p : float
        Two-sided p-value of this comparison alone: Student's t on the pairs, Welch's t where the seeds differ.
        NaN for less than two repetitions.
    adjusted : float
        The p-value among all comparisons made, by Holm.
    paired : bool
        True if the repetitions of both have the same seeds.
    level : float
        Confidence level of all comparisons together, no unit.
    few : str
        Why the test cannot reach its level with these repetitions; empty if it can.
    """

    cell: str
    who: str
    metric: str
    a: float
    b: float
    n: int
    low: float
    high: float
    p: float
    adjusted: float
    paired: bool
    level: float = LEVEL
    few: str = ""

    @property
    def relative(self) -> float:
        """The change as a part of a, no unit; NaN where a is zero."""
        return (self.b - self.a) / abs(self.a) if self.a else math.nan

    @property
    def significant(self) -> bool:
        """True if the change is significant among all comparisons."""
        return bool(self.adjusted <= 1 - self.level)

    @property
    def worse(self) -> bool:
        """True if b is significantly worse; False for metrics without a better direction."""
        direction = better().get(self.metric)
        if direction is None or not self.significant:
            return False
        return self.b < self.a if direction == "more" else self.b > self.a

    @property
    def verdict(self) -> str:
        """The result in words: "worse", "differs" or "no difference shown", the last with its reason."""
        if self.significant:
            return "worse" if self.worse else "differs"
        return f"no difference shown{f': {self.few}' if self.few else ''}"

    def document(self) -> dict[str, Any]:
        """Return the change as plain values; None for a number that doesn't exist."""
        names = ("cell", "who", "metric", "a", "b", "n", "p", "adjusted", "paired", "relative", "low", "high")
        values = {name: getattr(self, name) for name in names}
        values |= {"shown": self.significant, "worse": self.worse, "verdict": self.verdict}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}


def compare(
    a: Results | str | os.PathLike[str],
    b: Results | str | os.PathLike[str],
    metrics: Sequence[str] | None = None,
    *,
    level: float = LEVEL,
) -> list[Change]:
    """Compare every cell, flow and queue that two sets of results share.

    Parameters
    ----------
    a, b : Results or path
        The results, or the directories that hold them. Repetitions are paired by their seed where both have the
        same seeds.
    metrics : sequence of str, optional
        Columns of `Results.flows` and `Results.queues`; default: `METRICS`.
    level : float, no unit
        Confidence level of all comparisons together (Holm's correction).

    Returns
    -------
    list of Change
        In the order of the cells; ``b - a`` of each quantity with its interval and p-value.

    Raises
    ------
    ResultsError
        If they have no cell in common, if a metric is unknown, or if a directory can't be read.

    Examples
    --------
    >>> import dumbbell
    >>> scenario = dumbbell.Scenario(
    ...     name="one flow",
    ...     duration="5 s",
    ...     repetitions=3,
    ...     start_jitter="100 ms",
    ...     network={
    ...         "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"},
    ...         "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    ...     },
    ...     flows=[{"name": "tcp", "variant": "cubic"}],
    ... )
    >>> slower = scenario.with_changes({"network.bottleneck.rate": "5 Mbit/s"})
    >>> changes = dumbbell.compare(dumbbell.run(scenario), dumbbell.run(slower), ["goodput_bps"])
    >>> [(change.who, change.n, change.verdict) for change in changes]
    [('tcp', 3, 'worse')]
    """
    first, second = (r if isinstance(r, Results) else Results.load(r) for r in (a, b))
    cells_a, cells_b = (
        {json.dumps(runs[0].cell, sort_keys=True): runs for runs in r.by_cell()} for r in (first, second)
    )
    common = [key for key in cells_a if key in cells_b]
    if not common:
        raise ResultsError("the two have no cell in common: nothing to compare")
    known = {c for r in (first, second) for c in (*r.flows.columns, *r.queues.columns)}
    for metric in metrics or ():
        if metric not in known:
            raise ResultsError(unknown("metric", metric, sorted(known)))
    samples = [
        sample
        for key in common
        for kind in ("flows", "queues")
        for sample in _samples(cells_a[key], cells_b[key], kind, metrics or METRICS)
    ]
    p = [compare_means(s.b, s.a, pairs=s.paired).p for s in samples]
    steps = zip(samples, holm(p), holm_levels(p, level), strict=True)
    return [replace(_change(s, float(own)), adjusted=float(adjusted), level=level) for s, adjusted, own in steps]


@dataclass(frozen=True, slots=True)
class _Sample:
    """The values of one quantity on both sides; with pairs, by seed."""

    cell: str
    who: str
    metric: str
    a: Floats
    b: Floats
    paired: bool


def _change(sample: _Sample, level: float) -> Change:
    """Test one quantity at the level of its step of Holm's procedure."""
    a, b = sample.a, sample.b
    if sample.paired:
        whole = ~(np.isnan(a) | np.isnan(b))
        a, b = a[whole], b[whole]
    test = compare_means(b, a, pairs=sample.paired, level=level)
    mean_a, mean_b = (float(np.nanmean(side)) for side in (a, b))
    where = (sample.cell, sample.who, sample.metric)
    return Change(*where, mean_a, mean_b, test.n, test.low, test.high, test.p, test.p, sample.paired, few=too_few(test))


def _samples(a: Sequence[Run], b: Sequence[Run], kind: str, metrics: Sequence[str]) -> list[_Sample]:
    """Collect the values of one cell's flows or queues that both sides have."""
    seeds = [run.seed for run in a if run.seed in {r.seed for r in b}]
    pairs = len(seeds) >= min(len(a), len(b))
    rows_a, rows_b = (_rows(runs, kind, seeds if pairs else None) for runs in (a, b))
    short = short_names(list(a[0].cell))
    cell = ", ".join(f"{short[path]} {label(value)}" for path, value in a[0].cell.items())
    found = []
    for name in rows_a:
        for metric in metrics:
            first, second = (_values(rows.get(name, []), metric) for rows in (rows_a, rows_b))
            both = ~(np.isnan(first) | np.isnan(second)) if pairs and first.size == second.size else None
            if both is not None and both.any():
                found.append(_Sample(cell, name, metric, first, second, paired=True))
            elif not pairs and not np.isnan(first).all() and not np.isnan(second).all():
                found.append(_Sample(cell, name, metric, first, second, paired=False))
    return found


def _rows(runs: Sequence[Run], kind: str, seeds: Sequence[int] | None) -> dict[str, list[dict[str, Any]]]:
    """Group the rows of runs by flow or queue, in the order of the seeds; without links that carry only ACKs."""
    if seeds is not None:
        runs = sorted((r for r in runs if r.seed in seeds), key=lambda r: seeds.index(r.seed))
    rows: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        for row in getattr(run, kind):
            if kind == "flows" or row["utilization"] > IN_USE:
                rows.setdefault(row["name"], []).append(row)
    return rows


def _values(rows: Sequence[dict[str, Any]], metric: str) -> Floats:
    """Return a metric by repetition; NaN where a repetition has no value, so that pairs stay pairs."""
    values = [row.get(metric) for row in rows]
    return np.array([v if isinstance(v, int | float) else math.nan for v in values], dtype=np.float64)
