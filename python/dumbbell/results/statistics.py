"""Statistics of results: each cell over its repetitions, comparisons on the same seeds, fairness, the warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    share_ratios,
    summarise_all,
    warm_up,
)
from dumbbell.registry import unknown
from dumbbell.results.frames import label

if TYPE_CHECKING:
    from dumbbell.metrics.summary import Interval
    from dumbbell.results.results import Results

__all__ = ["comparisons", "fairness", "settled", "statistics"]

Floats = npt.NDArray[np.float64]
WINDOW = 0.1
"""Windows in which the warm-up is looked for, s."""


def _metrics(table: pl.DataFrame) -> list[str]:
    """The columns behind the cell, run, repetition and seed."""
    return table.columns[table.columns.index("seed") + 1 :]


def _samples(results: Results, metric: str) -> tuple[list[str], dict[tuple[object, ...], Floats]]:
    """Give a metric's values by cell and flow (or queue), in the order of the repetitions."""
    tables = (results.flows, results.queues, results.transfers)
    frame = next((table for table in tables if metric in table.columns), None)
    if frame is None:
        numbers = {c for table in tables for c in _metrics(table) if table.schema[c].is_numeric()}
        raise ResultsError(unknown("metric", metric, sorted(numbers)))
    if not frame.schema[metric].is_numeric():
        raise ResultsError(f"metric '{metric}' is no number")
    keys = [*frame.columns[: frame.columns.index("run")], "flow" if frame is results.transfers else "name"]
    parts = frame.sort("repetition", maintain_order=True).partition_by(keys, maintain_order=True, as_dict=True)
    order = frame.select(keys).unique(maintain_order=True).iter_rows()
    # A repetition without a value keeps its place: values are paired by it.
    return keys, {key: parts[key][metric].cast(pl.Float64).fill_null(np.nan).to_numpy() for key in order}


def statistics(results: Results, metric: str, *, interval: Interval = "bca", level: float = 0.95) -> pl.DataFrame:
    """Summarise a metric by cell and flow (or queue): see `Results.statistics`."""
    keys, samples = _samples(results, metric)
    found = summarise_all(list(samples.values()), interval=interval, level=level)
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
        raise ResultsError(unknown("swept path", by, keys[:-1]))
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
    return [
        (cell, Compared(a, b, c.difference, c.p, c.adjusted, c.level))
        for (cell, a, b), c in zip(where, found, strict=True)
    ]


def fairness(results: Results, flows: Sequence[str] | None = None) -> pl.DataFrame:
    """Tell how flows share, by run: see `Results.fairness`."""
    frame = results.flows
    known = frame["name"].unique(maintain_order=True).to_list()
    bulk = set(frame.filter(pl.col("application") == "bulk")["name"])
    names = list(flows) if flows else [name for name in known if name in bulk]
    for name in names:
        if name not in known:
            raise ResultsError(unknown("flow", name, known))
    if len(names) < 2:
        raise ResultsError("fairness needs two flows at least")
    keys = frame.columns[: frame.columns.index("name")]
    rows = []
    chosen = frame.filter(pl.col("name").is_in(names))
    for key, part in chosen.partition_by(keys, maintain_order=True, as_dict=True).items():
        rates = part["goodput_bps"].to_numpy()
        ratios = share_ratios(rates)
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "jain": float(jain(rates)),
                "least_share_ratio": float(ratios.min()),
                "largest_share_ratio": float(ratios.max()),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def settled(results: Results, window_s: float = WINDOW) -> pl.DataFrame:
    """Cut the warm-up off each flow's goodput: see `Results.settled`."""
    rows = []
    for run in results.runs:
        for name in results.tables(run):
            if not name.startswith("flow/"):
                continue
            table = results.table(run, name)
            flow = next(row for row in run.flows if row["name"] == name.removeprefix("flow/"))
            edges = edges_of(flow["start_s"], flow["stop_s"], window_s)
            rates = rate_per_window(table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy(), edges)
            cut = warm_up(rates) if rates.size else None
            rows.append(
                {
                    **{path: label(value) for path, value in run.cell.items()},
                    "run": run.index, "repetition": run.repetition, "name": flow["name"],
                    "whole_bps": float(rates.mean()) if rates.size else None,
                    "warm_up_s": None if cut is None else cut * window_s,
                    "settled_bps": None if cut is None else float(rates[cut:].mean()),
                }
            )  # fmt: skip
    if not rows:
        raise ResultsError("no series of flows were kept: set trace.series = true (--trace on the command line)")
    return pl.DataFrame(rows, infer_schema_length=None)
