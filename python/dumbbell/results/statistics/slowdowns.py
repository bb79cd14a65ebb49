"""Completion times of generated transfers: slowdown by size, with intervals over repetitions; rounds of incast.

A transfer counts if it began within the measured time (`measure_from`). Its flow completion time is ``took_s``: from
its start, when the sender opens the connection or writes, to its last byte at the receiver. ``slowdown`` is that time
divided by the time on the empty path (`derived_columns.transfer_metrics`). A transfer that had not completed
at the end of the run has neither; it is counted as ``incomplete``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import number, summarize_all
from dumbbell.registry import unknown
from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.summary import Summary, short_names
from dumbbell.results.frames.swept_values import paths_of
from dumbbell.scenario.flow.workload import Workload
from dumbbell.scenario.units import Volume

if TYPE_CHECKING:
    from dumbbell.results.results import Results
    from dumbbell.scenario import Scenario

__all__ = [
    "ALL",
    "STATISTICS",
    "groups_of",
    "interval_text",
    "rounds",
    "slowdown_table",
    "slowdowns",
    "transfer_summary",
]

Floats = npt.NDArray[np.float64]
ALL = "all"
"""Name of the bin of all sizes."""
BINS = 10
"""Bins without given edges: each has a tenth of the transfers or more, as in Li et al., "HPCC", SIGCOMM 2019."""
STATISTICS = ("mean", "median", "p95", "p99")
"""Statistics of the transfers of a bin, in one repetition."""
FEWEST = {"mean": 1, "median": 1, "p95": 20, "p99": 100}
"""Transfers that each needs: a 99th percentile of fewer than 100 values is their maximum."""
SHOWN = (
    ("median ms", "took_s", "median", 1e3),
    ("p99 ms", "took_s", "p99", 1e3),
    ("mean slowdown", "slowdown", "mean", 1.0),
    ("p99 slowdown", "slowdown", "p99", 1.0),
)
"""Columns of the summary: heading, metric, statistic of a repetition, factor."""


def groups_of(scenario: Scenario) -> dict[str, str]:
    """Return the flow that each flow with a workload stands for: its own name, or that of its group."""
    flows = (flow for cell in scenario.cells for flow in cell.scenario.single_flows)
    return {flow.name: flow.group or flow.name for flow in flows if isinstance(flow.application, Workload)}


def slowdowns(
    results: Results,
    *,
    metric: str = "slowdown",
    bins: Sequence[str] | None = None,
    flow: Sequence[str] | None = None,
    level: float = 0.95,
) -> pl.DataFrame:
    """Summarize generated transfers by size: see `Results.slowdowns`."""
    if metric not in {"slowdown", "took_s"}:
        raise ResultsError(unknown("metric", metric, ["slowdown", "took_s"]))
    frame, swept = _transfers(results, flow)
    edges = None if bins is None else _edges(bins)
    rows: list[dict[str, Any]] = []
    samples: list[Floats] = []
    repetitions = frame["repetition"].unique().sort().to_list()
    for key, part in frame.partition_by([*swept, "group"], maintain_order=True, as_dict=True).items():
        found = edges if edges is not None else _tenths(part["bytes"].to_numpy())
        for name, low, high in [*_spans(found), (ALL, 0.0, np.inf)]:
            inside = part.filter((pl.col("bytes") > low) & (pl.col("bytes") <= high))
            if inside.is_empty():
                continue
            values = {r: np.zeros(0) for r in repetitions}
            done = inside.drop_nulls(metric)
            for (r,), one in done.partition_by("repetition", as_dict=True).items():
                values[r] = one[metric].to_numpy()
            sizes = inside["bytes"].to_numpy()
            head = {
                **dict(zip([*swept, "flow"], key, strict=True)),
                "size": name,
                "from_bytes": int(sizes.min()),
                "to_bytes": int(sizes.max()),
                "median_bytes": float(np.median(sizes)),
                "transfers": done.height,
                "incomplete": inside.height - done.height,
            }
            for statistic in STATISTICS:
                rows.append({**head, "statistic": statistic})
                samples.append(np.array([_statistic(statistic, values[r]) for r in repetitions]))
    summaries = summarize_all(samples, statistic="mean", level=level)
    made = [
        {**row, "n": s.n, "value": s.mean, "low": s.low, "high": s.high} for row, s in zip(rows, summaries, strict=True)
    ]
    return pl.DataFrame(made, infer_schema_length=None).with_columns(pl.col("value", "low", "high").fill_nan(None))


def transfer_summary(results: Results) -> Summary:
    """Return a row for each cell and flow with generated transfers: means over repetitions, of all sizes together."""
    frame, swept = _transfers(results, None)
    rows: list[tuple[Any, ...]] = []
    for key, part in frame.partition_by([*swept, "group"], maintain_order=True, as_dict=True).items():
        repetitions = part.partition_by("repetition")
        values: list[Any] = [
            float(np.mean([one.height for one in repetitions])),
            float(np.mean([one["end_s"].null_count() for one in repetitions])),
        ]
        for _, metric, statistic, factor in SHOWN:
            each = [_statistic(statistic, one[metric].drop_nulls().to_numpy()) for one in repetitions]
            found = [factor * value for value in each if not np.isnan(value)]
            values.append(float(np.mean(found)) if found else None)
        rows.append((*key, *values))
    headings = ("transfers", "incomplete", *(heading for heading, *_ in SHOWN))
    return Summary((*short_names(swept).values(), "name"), headings, rows)


def slowdown_table(results: Results) -> pl.DataFrame:
    """Return slowdowns by size for people: a row for each cell, flow and bin, texts only."""
    table = slowdowns(results)
    swept = table.columns[: table.columns.index("flow")]
    short = short_names(swept)
    rows = []
    for key, part in table.partition_by([*swept, "flow", "size"], maintain_order=True, as_dict=True).items():
        first = part.row(0, named=True)
        row = dict(zip([*(short[path] for path in swept), "flow", "size"], key, strict=True))
        row |= {"transfers": first["transfers"], "incomplete": first["incomplete"]}
        for one in part.iter_rows(named=True):
            row[one["statistic"]] = interval_text(one)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def interval_text(row: dict[str, Any]) -> str:
    """Write the value of a row of `slowdowns` and its interval."""
    if row["value"] is None:
        return "no value"
    if row["low"] is None:
        return number(row["value"])
    return f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]"


def rounds(results: Results, flow: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rounds of transfers that begin together: see `Results.rounds`."""
    frame, swept = _transfers(results, flow)
    together = {
        flow.name
        for cell in results.scenario.cells
        for flow in cell.scenario.flows
        if isinstance(flow.application, Workload) and flow.application.arrivals.together
    }
    frame = frame.filter(pl.col("group").is_in(together))
    if frame.is_empty():
        raise ResultsError("no transfers begin together: set arrivals.together = true in a flow with a count")
    keys = [*swept, "run", "repetition", "group", "number"]
    last = pl.when(pl.col("end_s").null_count() == 0).then(pl.col("end_s").max())
    return (
        frame.group_by(keys, maintain_order=True)
        .agg(
            start_s=pl.col("start_s").min(),
            transfers=pl.len(),
            bytes=pl.col("bytes").sum(),
            took_s=last - pl.col("start_s").min(),
        )
        .rename({"group": "flow"})
    )


def _transfers(results: Results, flow: Sequence[str] | None) -> tuple[pl.DataFrame, list[str]]:
    """Return the transfers of workloads that began in the measured time, with their group, and the swept columns."""
    frame, groups = results.transfers, groups_of(results.scenario)
    if frame.is_empty() or not groups:
        raise ResultsError('the results have no generated transfers: an application of kind "workload" makes them')
    swept = paths_of(frame)
    begin = {
        tuple(label(value) for value in cell.values.values()): cell.scenario.measure_from.seconds
        for cell in results.scenario.cells
    }
    frame = frame.filter(pl.col("flow").is_in(list(groups))).with_columns(
        group=pl.col("flow").replace_strict(groups, return_dtype=pl.String)
    )
    if len(set(begin.values())) == 1:
        frame = frame.filter(pl.col("start_s") >= next(iter(begin.values())))
    else:
        cells = frame.select(swept).rows()
        frame = frame.filter(pl.Series([t >= begin[c] for c, t in zip(cells, frame["start_s"], strict=True)]))
    known = list(dict.fromkeys(groups.values()))
    for name in flow or ():
        if name not in known:
            raise ResultsError(unknown("flow with a workload", name, known))
    if flow:
        frame = frame.filter(pl.col("group").is_in(list(flow)))
    if frame.is_empty():
        raise ResultsError("no transfer began in the measured time")
    return frame, swept


def _edges(bins: Sequence[str]) -> list[float]:
    """Read the upper edges of bins, such as "100 kB"."""
    try:
        edges = [float(Volume(text).bytes) for text in bins]
    except ValueError as e:
        raise ResultsError(f"bins: {e}") from None
    if edges != sorted(set(edges)):
        raise ResultsError("bins: sizes must ascend")
    return edges


def _tenths(sizes: npt.NDArray[np.int64]) -> list[float]:
    """Return the upper edges of bins with at least a tenth of the transfers each; equal sizes are in one bin."""
    ordered = np.sort(sizes)
    least = -(-ordered.size // BINS)
    edges: list[float] = []
    used = 0
    while ordered.size - used >= 2 * least:
        edges.append(float(ordered[used + least - 1]))
        used = int(np.searchsorted(ordered, edges[-1], side="right"))
    while edges and ordered.size - np.searchsorted(ordered, edges[-1], side="right") < least:
        del edges[-1]  # the last bin would have fewer
    return edges


def _spans(edges: Sequence[float]) -> list[tuple[str, float, float]]:
    """Return name, lower and upper edge of each bin; the upper one belongs to it."""
    ends = [0.0, *edges, np.inf]
    names = [f"up to {size_text(b)}" for b in edges]
    names.append(f"over {size_text(edges[-1])}" if edges else "any")
    return list(zip(names, ends[:-1], ends[1:], strict=True))


def size_text(size: float) -> str:
    """Write a size with three digits and a decimal prefix."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} B"


def _statistic(name: str, values: Floats) -> float:
    """Return a statistic of one repetition's transfers; percentiles by nearest rank. NaN with too few of them."""
    if values.size < FEWEST[name]:
        return float("nan")
    if name == "mean":
        return float(values.mean())
    share = {"median": 0.5, "p95": 0.95, "p99": 0.99}[name]
    return float(np.quantile(values, share, method="inverted_cdf"))
