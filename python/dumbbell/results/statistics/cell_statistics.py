"""Statistics of results: each cell over its repetitions, comparisons on the same seeds, fairness, the warm-up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
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
from dumbbell.metrics.intervals import UNBOUNDED
from dumbbell.registry import unknown
from dumbbell.results.columns import column
from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.swept_values import paths_of
from dumbbell.results.runs.column import Frame
from dumbbell.results.statistics.difference_that_matters import margin_of
from dumbbell.results.statistics.shifted_copies import copied_cells, refusal

if TYPE_CHECKING:
    from dumbbell.metrics.intervals import Interval
    from dumbbell.results.results import Results
    from dumbbell.scenario import Cell

__all__ = ["comparisons", "fairness", "settled", "sharing", "spread", "statistics"]

Floats = npt.NDArray[np.float64]
WINDOW = 0.1
"""Length of the windows in which the warm-up is searched, s."""
MOST_COMPARISONS = 20_000
"""Most comparisons of one call: they take some seconds."""
COMPLEMENTARY = -0.99
"""Correlation over repetitions below which one flow has what the other leaves. Two flows that fill a link have -1 up to
the rounding to packets."""


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


def _copies(results: Results, paths: Sequence[str]) -> dict[tuple[str, ...], Cell]:
    """Return the cells whose repetitions are copies, by the values of their swept paths as frames have them."""
    return {tuple(str(label(cell.values.get(p))) for p in paths): cell for cell in copied_cells(results)}


def statistics(results: Results, metric: str, *, interval: Interval | None = None, level: float = 0.95) -> pl.DataFrame:
    """Summarize a metric by cell and flow (or queue): see `Results.statistics`."""
    keys, samples = _samples(results, metric)
    copies = _copies(results, keys[:-1])
    known = column(metric)
    bounds = UNBOUNDED if known is None else known.range
    found = summarize_all(list(samples.values()), interval=interval, level=level, bounds=bounds)
    rows = []
    for key, s in zip(samples, found, strict=True):
        cell = copies.get(tuple(map(str, key[:-1])))
        known_ends = cell is None and not math.isnan(s.low)
        ends = dict(zip(("low", "high", "level"), (s.low, s.high, s.level) if known_ends else (None,) * 3, strict=True))
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "n": s.n, "mean": s.mean, "median": s.median, "sd": s.sd, "min": s.min, "max": s.max,
                **ends, "refused": None if cell is None else refusal(cell), "values": samples[key].tolist(),
            }
        )  # fmt: skip
    table = pl.DataFrame(rows, infer_schema_length=None, schema_overrides=_ALWAYS)
    return table.with_columns(pl.selectors.float().fill_nan(None))


_ALWAYS = {"low": pl.Float64, "high": pl.Float64, "level": pl.Float64, "refused": pl.String}
"""Types of columns that may have no value in any row."""


def comparisons(
    results: Results,
    metric: str,
    by: str,
    *,
    level: float = 0.95,
    margin: str | None = None,
    names: Sequence[str] | None = None,
) -> list[tuple[dict[str, object], Compared]]:
    """Compare the values of one swept path with each other on the same seeds: see `Results.comparisons`."""
    keys, samples = _samples(results, metric)
    paths = [k for k in keys[:-1] if k == by or k.endswith(f".{by}")]
    if len(paths) != 1:
        raise ResultsError(unknown("swept path", by, keys[:-1]) + ("" if keys[:-1] else ": nothing is swept here"))
    matters = margin_of(metric, margin)
    chosen = set(family(results, samples, paths[0], names))
    place = keys.index(paths[0])
    groups: dict[tuple[object, ...], dict[str, tuple[object, ...]]] = {}
    for key in samples:
        if key[-1] in chosen:
            groups.setdefault((*key[:place], *key[place + 1 :]), {})[str(key[place])] = key
    made = sum(len(cells) * (len(cells) - 1) // 2 for cells in groups.values())
    if made > MOST_COMPARISONS:
        raise ResultsError(
            f"{paths[0]}: {made:,} pairs of its values: at most {MOST_COMPARISONS:,} are compared; sweep fewer values, "
            "or plot the metric over them"
        )
    copies = _copies(results, keys[:-1])
    others = [*keys[:place], *keys[place + 1 :]]
    every: dict[str, Floats] = {}
    refused: dict[str, str] = {}
    pairs: list[tuple[str, str]] = []
    where: list[tuple[dict[str, object], str, str]] = []
    for number, (rest, cells) in enumerate(groups.items()):
        for name, key in cells.items():
            every[f"{number} {name}"] = samples[key]
            if cell := copies.get(tuple(map(str, key[:-1]))):
                refused[f"{number} {name}"] = refusal(cell)
        for a, b in combinations(cells, 2):
            if len(samples[cells[a]]) == len(samples[cells[b]]):
                pairs.append((f"{number} {a}", f"{number} {b}"))
                where.append((dict(zip(others, rest, strict=True)), a, b))
    found = compare_all(every, pairs=pairs, level=level, margin=matters, refused=refused)
    return [(rest, replace(c, a=a, b=b)) for (rest, a, b), c in zip(where, found, strict=True)]


def family(
    results: Results, samples: Mapping[tuple[object, ...], Floats], path: str, names: Sequence[str] | None
) -> list[str]:
    """Return the flows (or queues) whose values are compared.

    These are the given ones, or the flow that the swept path belongs to. Of two flows that share a link the second
    has what the first leaves: its comparisons would be the same ones again.
    """
    known = list(dict.fromkeys(str(key[-1]) for key in samples))
    if names:
        for name in names:
            if name not in known:
                raise ResultsError(unknown("flow or queue", name, known))
        return list(names)
    measured = [name for name in known if any(np.isfinite(v).any() for key, v in samples.items() if key[-1] == name)]
    parts = path.split(".")
    if parts[0] == "flows" and results.scenario.cells:
        flows = results.scenario.cells[0].scenario.single_flows
        swept = {flow.name for flow in flows if parts[1] in {flow.name, flow.group}}
        return [name for name in measured if name in swept] or measured
    found: list[str] = []
    for name in measured:
        if not any(_complementary(samples, name, other) for other in found):
            found.append(name)
    return found


def _complementary(samples: Mapping[tuple[object, ...], Floats], name: str, other: str) -> bool:
    """Return True if one flow has what the other leaves, so that both vary alike."""
    cells = [key[:-1] for key in samples if key[-1] == name and (*key[:-1], other) in samples]
    both = [(samples[*cell, name], samples[*cell, other]) for cell in cells]
    both = [(a - a.mean(), b - b.mean()) for a, b in both if a.shape == b.shape]
    first, second = (np.concatenate(side) if both else np.empty(0) for side in zip(*both, strict=True) or ((), ()))
    spread = math.sqrt(float((first**2).sum() * (second**2).sum())) if first.size else 0.0
    return spread > 0 and float((first * second).sum()) / spread < COMPLEMENTARY


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
