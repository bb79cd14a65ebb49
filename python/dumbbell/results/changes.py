"""Two sets of results side by side: what changed, and what of it is more than chance."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import holm
from dumbbell.metrics.bootstrap import statistic_of
from dumbbell.registry import unknown
from dumbbell.results.frames import label
from dumbbell.results.record import Run
from dumbbell.results.results import Results
from dumbbell.results.summary import short_names

__all__ = ["BETTER", "METRICS", "Change", "compare", "p_value"]

Floats = npt.NDArray[np.float64]

BETTER: dict[str, Literal["more", "less"]] = {
    "goodput_bps": "more",
    "utilization": "more",
    "rtt_mean_ms": "less",
    "rtt_p50_ms": "less",
    "rtt_p95_ms": "less",
    "rtt_p99_ms": "less",
    "drop_rate": "less",
    "retransmitted_packets": "less",
    "timeouts": "less",
    "completion_time_s": "less",
    "mean_sojourn_ms": "less",
    "p99_sojourn_ms": "less",
}
"""Whether more of a metric is better, for those of which that can be said."""
METRICS = ("goodput_bps", "rtt_p95_ms", "drop_rate", "completion_time_s", "utilization", "p99_sojourn_ms")
"""What is compared unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity in both sets of results.

    Attributes
    ----------
    cell, who, metric : str
        Where, of which flow or queue, which column.
    a, b : float
        Medians, the metric's unit.
    n : int
        Repetitions compared; of the same seeds where `paired`.
    p : float
        Two-sided, of Student's t on the pairs (Welch's where the seeds differ); 0 where every pair differs by the
        same, 1 where nothing differs; NaN for fewer than two values.
    adjusted : float
        The same among all comparisons made (Holm).
    paired : bool
    """

    cell: str
    who: str
    metric: str
    a: float
    b: float
    n: int
    p: float
    adjusted: float
    paired: bool

    @property
    def relative(self) -> float:
        """The change as a part of a, no unit; NaN where a is zero."""
        return (self.b - self.a) / abs(self.a) if self.a else math.nan

    def shown(self, level: float = 0.95) -> bool:
        """Whether a difference is shown, among all comparisons."""
        return bool(self.adjusted <= 1 - level)

    def worse(self, level: float = 0.95) -> bool:
        """Whether b is shown to be worse."""
        better = BETTER.get(self.metric)
        if better is None or not self.shown(level):
            return False
        return self.b < self.a if better == "more" else self.b > self.a

    def document(self) -> dict[str, Any]:
        """Give it in plain values."""
        values = {
            name: getattr(self, name) for name in ("cell", "who", "metric", "a", "b", "n", "p", "adjusted", "paired")
        }
        values["relative"], values["shown"], values["worse"] = self.relative, self.shown(), self.worse()
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}


def p_value(a: npt.ArrayLike, b: npt.ArrayLike, *, pairs: bool) -> float:
    """Give the two-sided p-value for a difference of means; see `Change.p`."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if min(first.size, second.size) < 2:
        return math.nan
    from scipy.stats import ttest_ind, ttest_rel  # noqa: PLC0415 - slow to import

    if pairs:
        difference = first - second
        if np.ptp(difference) == 0:
            return 1.0 if difference[0] == 0 else 0.0
        return float(ttest_rel(first, second).pvalue)
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return 1.0 if first[0] == second[0] else 0.0
    return float(ttest_ind(first, second, equal_var=False).pvalue)


def compare(a: Results, b: Results, metrics: Sequence[str] | None = None) -> list[Change]:
    """Compare every cell, flow and queue that both results have.

    Raises
    ------
    ResultsError
        If they have no cell in common, or a metric is unknown.
    """
    cells_a, cells_b = ({json.dumps(runs[0].cell, sort_keys=True): runs for runs in r.by_cell()} for r in (a, b))
    common = [key for key in cells_a if key in cells_b]
    if not common:
        raise ResultsError("the two have no cell in common: nothing to compare")
    known = {c for r in (a, b) for c in (*r.flows.columns, *r.queues.columns)}
    for metric in metrics or ():
        if metric not in known:
            raise ResultsError(unknown("metric", metric, sorted(known)))
    wanted = metrics or METRICS
    found = []
    for key in common:
        for kind in ("flows", "queues"):
            found += _cell(cells_a[key], cells_b[key], kind, wanted)
    adjusted = holm([change.p for change in found])
    return [replace(change, adjusted=float(p)) for change, p in zip(found, adjusted, strict=True)]


def _cell(a: Sequence[Run], b: Sequence[Run], kind: str, metrics: Sequence[str]) -> list[Change]:
    """Compare the flows or queues of one cell, each comparison as if it were the only one."""
    seeds = [run.seed for run in a if run.seed in {r.seed for r in b}]
    pairs = len(seeds) >= min(len(a), len(b))
    rows_a, rows_b = (_rows(runs, kind, seeds if pairs else None) for runs in (a, b))
    short = short_names(list(a[0].cell))
    cell = ", ".join(f"{short[path]} {label(value)}" for path, value in a[0].cell.items())
    found = []
    for name in rows_a:
        for metric in metrics:
            first, second = (_values(rows.get(name, []), metric) for rows in (rows_a, rows_b))
            if not first.size or not second.size or (pairs and first.size != second.size):
                continue
            p = p_value(first, second, pairs=pairs)
            middle_a, middle_b = (float(statistic_of(v, "median")) for v in (first, second))
            n = min(first.size, second.size)
            found.append(Change(cell, name, metric, middle_a, middle_b, n, p, p, pairs))
    return found


def _rows(runs: Sequence[Run], kind: str, seeds: Sequence[int] | None) -> dict[str, list[dict[str, Any]]]:
    if seeds is not None:
        runs = sorted((r for r in runs if r.seed in seeds), key=lambda r: seeds.index(r.seed))
    rows: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        for row in getattr(run, kind):
            if kind == "flows" or row["utilization"] > 0.05:
                rows.setdefault(row["name"], []).append(row)
    return rows


def _values(rows: Sequence[dict[str, Any]], metric: str) -> Floats:
    values = [row.get(metric) for row in rows]
    return np.array([v for v in values if isinstance(v, int | float)], dtype=np.float64)
