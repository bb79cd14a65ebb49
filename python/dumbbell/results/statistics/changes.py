"""Two sets of results side by side: every change, tested for significance."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import ResultsError
from dumbbell.metrics.margins import Margin, Verdict, claim, verdict
from dumbbell.metrics.needed_repetitions import too_few
from dumbbell.metrics.significance import LEAST, LEVEL, compare_means, holm, holm_levels, whole_pairs
from dumbbell.registry import unknown
from dumbbell.results.columns import better
from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.summary import IN_USE, short_names
from dumbbell.results.results import Results
from dumbbell.results.runs.record import Run
from dumbbell.results.statistics.difference_that_matters import margin_of
from dumbbell.results.statistics.shifted_copies import copied_cells, refusal

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
    margin : Margin, optional
        The difference that matters.
    beyond : bool, optional
        True if the change is at least the margin; None without a margin.
    claim_p : float
        p-value, among all comparisons by Holm, of the claim about the margin: at least it, or equal within it.
    refused : str
        Why the repetitions are no evidence; empty if they are.
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
    margin: Margin | None = None
    beyond: bool | None = None
    claim_p: float = math.nan
    refused: str = ""

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
        """True if b is significantly worse, and not equal within the margin; False without a better direction."""
        direction = better().get(self.metric)
        if direction is None or not self.significant or self.verdict == "equal within the margin":
            return False
        return self.b < self.a if direction == "more" else self.b > self.a

    @property
    def verdict(self) -> Verdict:
        """The result in words."""
        if self.refused:
            return "refused"
        shown = bool(self.claim_p <= 1 - self.level)
        return verdict(self.b - self.a, significant=self.significant, beyond=self.beyond, shown=shown)

    def sentence(self, unit: str = "", factor: float = 1.0) -> str:
        """Write the verdict with its margin, and with too few repetitions; `factor`: to the unit."""
        text = (
            self.verdict if self.margin is None else self.verdict.replace("the margin", self.margin.text(unit, factor))
        )
        few = "" if self.significant or self.refused else self.few
        return f"{'worse: ' if self.worse else ''}{text}{f': {few}' if few else ''}"

    def document(self) -> dict[str, Any]:
        """Return the change as plain values; None for a number that doesn't exist."""
        names = ("cell", "who", "metric", "a", "b", "n", "p", "adjusted", "paired", "relative", "low", "high")
        values = {name: getattr(self, name) for name in names}
        values |= {"shown": self.significant, "worse": self.worse, "verdict": self.verdict}
        values |= {"margin": None if self.margin is None else self.margin.of(self.a, self.b), "claim_p": self.claim_p}
        values["reason"] = self.refused or self.few or None
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}


def compare(
    a: Results | str | os.PathLike[str],
    b: Results | str | os.PathLike[str],
    metrics: Sequence[str] | None = None,
    *,
    level: float = LEVEL,
    margin: str | None = None,
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
    margin : str, optional
        The difference that matters: a part of the larger mean such as "1 %", a value in the unit of the metrics, or
        "none". Default: that of each metric (see the reference of metrics).

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
    ...     network={
    ...         "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"},
    ...         "access": {"rate": "1 Gbit/s", "delay": "1 ms", "jitter": "1.2 ms"},
    ...     },
    ...     flows=[{"name": "tcp", "variant": "cubic"}],
    ... )
    >>> slower = scenario.with_changes({"network.bottleneck.rate": "5 Mbit/s"})
    >>> changes = dumbbell.compare(dumbbell.run(scenario), dumbbell.run(slower), ["goodput_bps"])
    >>> [(change.who, change.n, change.verdict) for change in changes]
    [('tcp', 3, 'lower by at least the margin')]
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
    margins = {metric: margin_of(metric, margin) for metric in metrics or METRICS}
    refused = {json.dumps(c.values, sort_keys=True): refusal(c) for r in (first, second) for c in copied_cells(r)}
    samples = [
        sample
        for key in common
        for kind in ("flows", "queues")
        for sample in _samples(cells_a[key], cells_b[key], kind, margins, refused.get(key, ""))
    ]
    tests = [compare_means(s.b, s.a, pairs=s.paired) for s in samples]
    p = [math.nan if s.refused else test.p for s, test in zip(samples, tests, strict=True)]
    claims = [_claim(s) for s in samples]
    steps = zip(samples, p, holm(p), holm_levels(p, level), claims, holm([p for _, p in claims]), strict=True)
    return [
        replace(
            _change(s, float(own)),
            p=alone,
            adjusted=float(adjusted),
            level=level,
            beyond=beyond,
            claim_p=float(claim_p),
        )
        for s, alone, adjusted, own, (beyond, _), claim_p in steps
    ]


@dataclass(frozen=True, slots=True)
class _Sample:
    """The values of one quantity on both sides; with pairs, without those that lack a value."""

    cell: str
    who: str
    metric: str
    a: Floats
    b: Floats
    paired: bool
    margin: Margin | None
    refused: str


def _claim(sample: _Sample) -> tuple[bool | None, float]:
    """Test the claim about the margin."""
    a, b, margin = sample.a, sample.b, sample.margin
    if margin is None or sample.refused or min(a.size, b.size) < LEAST:
        return None, math.nan
    size = margin.of(float(a.mean()), float(b.mean()))
    return claim(b, a, size, pairs=sample.paired) if size > 0 else (None, math.nan)


def _change(sample: _Sample, level: float) -> Change:
    """Test one quantity at the level of its step of Holm's procedure."""
    a, b = sample.a, sample.b
    test = compare_means(b, a, pairs=sample.paired, level=level)
    low, high = (math.nan, math.nan) if sample.refused else (test.low, test.high)
    return Change(
        sample.cell, sample.who, sample.metric, float(a.mean()), float(b.mean()), test.n, low, high, test.p, test.p,
        sample.paired, few=too_few(test), margin=sample.margin, refused=sample.refused,
    )  # fmt: skip


def _samples(
    a: Sequence[Run], b: Sequence[Run], kind: str, margins: Mapping[str, Margin | None], refused: str
) -> list[_Sample]:
    """Collect the values of one cell's flows or queues that both sides have."""
    seeds = [run.seed for run in a if run.seed in {r.seed for r in b}]
    pairs = len(seeds) >= min(len(a), len(b))
    rows_a, rows_b = (_rows(runs, kind, seeds if pairs else None) for runs in (a, b))
    short = short_names(list(a[0].cell))
    cell = ", ".join(f"{short[path]} {label(value)}" for path, value in a[0].cell.items())
    found = []
    for name in rows_a:
        for metric, margin in margins.items():
            first, second = (_values(rows.get(name, []), metric) for rows in (rows_a, rows_b))
            if pairs:
                if first.size != second.size:
                    continue
                first, second = whole_pairs(first, second)
            else:
                first, second = (side[~np.isnan(side)] for side in (first, second))
            if first.size and second.size:
                found.append(_Sample(cell, name, metric, first, second, pairs, margin, refused))
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
