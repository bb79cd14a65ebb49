"""Statistics of results: each cell over its repetitions, comparisons on the same seeds, fairness, the warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import (
    Compared,
    compare_all,
    edges_of,
    jain,
    rate_per_window,
    rtt_slope,
    share_ratios,
    summarize_all,
    warm_up,
)
from dumbbell.registry import unknown
from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.swept_values import paths_of
from dumbbell.results.runs.column import Frame

if TYPE_CHECKING:
    from dumbbell.metrics.intervals import Interval
    from dumbbell.results.results import Results

__all__ = ["comparisons", "fairness", "settled", "sharing", "spread", "statistics"]

Floats = npt.NDArray[np.float64]
WINDOW = 0.1
"""Length of the windows in which the warm-up is searched, s."""


def _metrics(table: pl.DataFrame) -> list[str]:
    """The columns behind the cell, run, repetition and seed."""
    return table.columns[table.columns.index("seed") + 1 :]


def _of_metric(results: Results, metric: str) -> tuple[list[str], pl.DataFrame]:
    """Return the columns that name a metric's samples, and a frame with them, the repetition and the metric.

    Of a stored table, no other columns are read.
    """
    for name in get_args(Frame):
        who = "flow" if name == "transfers" else "name"
        frame = results.columns(name, ["run", "repetition", who, metric])
        if metric in frame.columns and metric not in ("run", "repetition", who):
            break
    else:
        numbers = {c for table in results.frames().values() for c in _metrics(table) if table.schema[c].is_numeric()}
        raise ResultsError(unknown("metric", metric, sorted(numbers)))
    if not frame.schema[metric].is_numeric():
        raise ResultsError(f"metric '{metric}' is no number")
    return [*paths_of(frame), who], frame


def _samples(results: Results, metric: str) -> tuple[list[str], dict[tuple[object, ...], Floats]]:
    """Return a metric's values by cell and flow (or queue), in the order of the repetitions."""
    keys, frame = _of_metric(results, metric)
    # A repetition without a value keeps its place: values are paired by it.
    values = pl.col(metric).cast(pl.Float64).fill_null(np.nan).sort_by("repetition", maintain_order=True)
    groups = frame.group_by(keys, maintain_order=True).agg(values)
    ends = groups[metric].list.len().cum_sum().to_numpy()
    split = np.split(groups[metric].explode().to_numpy(), ends[:-1])
    return keys, dict(zip(groups.select(keys).iter_rows(), split, strict=True))


def spread(results: Results, metric: str) -> pl.DataFrame:
    """Return ``mean``, ``median`` and ``sd`` of a metric by cell and flow (or queue), without intervals and values."""
    keys, frame = _of_metric(results, metric)
    of = pl.col(metric).cast(pl.Float64)
    return frame.group_by(keys, maintain_order=True).agg(mean=of.mean(), median=of.median(), sd=of.std())


def statistics(results: Results, metric: str, *, interval: Interval = "bca", level: float = 0.95) -> pl.DataFrame:
    """Summarize a metric by cell and flow (or queue): see `Results.statistics`."""
    keys, samples = _samples(results, metric)
    found = summarize_all(list(samples.values()), interval=interval, level=level)
    rows = [
        {
            **dict(zip(keys, key, strict=True)),
            "n": s.n, "mean": s.mean, "median": s.median, "sd": s.sd, "min": s.min, "max": s.max,
            "low": s.low, "high": s.high, "values": samples[key].tolist(),
        }
        for key, s in zip(samples, found, strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.selectors.float().fill_nan(None))


def comparisons(
    results: Results, metric: str, by: str, *, level: float = 0.95
) -> list[tuple[dict[str, object], Compared]]:
    """Compare the values of one swept path with each other on the same seeds: see `Results.comparisons`."""
    keys, samples = _samples(results, metric)
    paths = [k for k in keys[:-1] if k == by or k.endswith(f".{by}")]
    if len(paths) != 1:
        raise ResultsError(unknown("swept path", by, keys[:-1]) + ("" if keys[:-1] else ": nothing is swept here"))
    place = keys.index(paths[0])
    groups: dict[tuple[object, ...], dict[str, Floats]] = {}
    for key, values in samples.items():
        groups.setdefault((*key[:place], *key[place + 1 :]), {})[str(key[place])] = values
    others = [*keys[:place], *keys[place + 1 :]]
    every: dict[str, Floats] = {}
    pairs: list[tuple[str, str]] = []
    where: list[tuple[dict[str, object], str, str]] = []
    for number, (rest, cells) in enumerate(groups.items()):
        names = list(cells)
        every |= {f"{number} {name}": values for name, values in cells.items()}
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if len(cells[a]) == len(cells[b]):
                    pairs.append((f"{number} {a}", f"{number} {b}"))
                    where.append((dict(zip(others, rest, strict=True)), a, b))
    found = compare_all(every, pairs=pairs, level=level)
    return [(cell, replace(c, a=a, b=b)) for (cell, a, b), c in zip(where, found, strict=True)]


def sharing(results: Results, flows: Sequence[str] | None) -> list[str]:
    """Name the flows whose shares are compared; by default those that send as much as they can."""
    frame = results.flows
    known = frame["name"].unique(maintain_order=True).to_list()
    bulk = set(frame.filter(pl.col("application") == "bulk")["name"])
    names = list(flows) if flows else [name for name in known if name in bulk]
    for name in names:
        if name not in known:
            raise ResultsError(unknown("flow", name, known))
    if len(names) < 2:
        raise ResultsError("fairness needs at least two flows")
    return names


def fairness(results: Results, flows: Sequence[str] | None = None, window_s: float | None = None) -> pl.DataFrame:
    """Compute how flows share, by run, or by run and window: see `Results.fairness`."""
    return _by_run(results, flows) if window_s is None else _by_window(results, window_s, flows)


def _by_run(results: Results, flows: Sequence[str] | None) -> pl.DataFrame:
    chosen = results.flows.filter(pl.col("name").is_in(sharing(results, flows)))
    keys = chosen.columns[: chosen.columns.index("name")]
    rows = []
    for key, part in chosen.partition_by(keys, maintain_order=True, as_dict=True).items():
        rates = part["goodput_bps"].to_numpy()
        ratios = share_ratios(rates)
        idle = part["idle_rtt_ms"].cast(pl.Float64).fill_null(np.nan).round(6).to_numpy()
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "jain": float(jain(rates)),
                "least_share_ratio": float(ratios.min()),
                "largest_share_ratio": float(ratios.max()),
                "rtt_slope": rtt_slope(idle, rates) if np.isfinite(idle).all() else np.nan,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("rtt_slope").fill_nan(None))


def _by_window(results: Results, window_s: float, flows: Sequence[str] | None) -> pl.DataFrame:
    names = sharing(results, flows)
    parts = []
    for run in results.runs:
        if not {f"flow/{name}" for name in names} <= set(results.tables(run)):
            raise ResultsError("fairness over time needs series: set trace.series = true (--trace on the command line)")
        rows = [row for row in run.flows if row["name"] in names]
        edges = edges_of(max(r["start_s"] for r in rows), min(r["stop_s"] for r in rows), window_s)
        tables = [results.table(run, f"flow/{name}") for name in names]
        rates = [rate_per_window(t["t_ns"].to_numpy() * 1e-9, t["delivered"].to_numpy(), edges) for t in tables]
        parts.append(
            pl.DataFrame({"time_s": edges[1:], "jain": jain(np.stack(rates, axis=-1))}).select(
                *(pl.lit(label(value)).alias(path) for path, value in run.cell.items()),
                pl.lit(run.index).alias("run"),
                pl.lit(run.repetition).alias("repetition"),
                "time_s",
                pl.col("jain").fill_nan(None),
            )
        )
    return pl.concat(parts)


def settled(results: Results, window_s: float = WINDOW, warm_up_s: float | None = None) -> pl.DataFrame:
    """Compute each flow's goodput without the warm-up: see `Results.settled`."""
    rows = []
    for run in results.runs:
        for name in results.tables(run):
            if not name.startswith("flow/"):
                continue
            table = results.table(run, name)
            flow = next(row for row in run.flows if row["name"] == name.removeprefix("flow/"))
            edges = edges_of(flow["start_s"], flow["stop_s"], window_s)
            rates = rate_per_window(table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy(), edges)
            if not rates.size:
                raise ResultsError(f"flow '{flow['name']}' has no window of {window_s:g} s: give shorter ones")
            cut = warm_up(rates) if warm_up_s is None else min(round(warm_up_s / window_s), rates.size - 1)
            rows.append(
                {
                    **{path: label(value) for path, value in run.cell.items()},
                    "run": run.index, "repetition": run.repetition, "name": flow["name"],
                    "whole_bps": float(rates.mean()),
                    "warm_up_s": None if cut is None else cut * window_s,
                    "settled_bps": None if cut is None else float(rates[cut:].mean()),
                }
            )  # fmt: skip
    if not rows:
        raise ResultsError("no series of flows were kept: set trace.series = true (--trace on the command line)")
    return pl.DataFrame(rows, infer_schema_length=None)
