"""Slowdown of generated transfers over their size, as the literature of data centers draws it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.common.words import counted
from dumbbell.exceptions import ResultsError
from dumbbell.metrics import number
from dumbbell.plots.cell_table import word
from dumbbell.plots.spec import Curve, Panel, Picture
from dumbbell.plots.style import distinct
from dumbbell.results.frames.summary import short_names
from dumbbell.results.statistics.slowdowns import ALL, slowdowns

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["slowdown"]

PANELS = (("mean", "mean"), ("median", "median"), ("p99", "99th percentile"))
MOST_CURVES = 12
"""Most curves of a panel: more can't be distinguished."""


def slowdown(results: Results, *, metric: str = "slowdown", flow: Sequence[str] | None = None) -> Picture:
    """Draw mean, median and 99th percentile of the slowdown of generated transfers (or took_s) over their size."""
    if metric not in {"slowdown", "took_s"}:
        raise ResultsError(f"--metric: '{metric}' given: slowdown and took_s are possible")
    table = slowdowns(results, metric=metric, flow=flow).filter(pl.col("size") != ALL)
    swept = table.columns[: table.columns.index("flow")]
    paths = [path for path in short_names(swept) if table[path].n_unique() > 1]
    named = [*paths, *(["flow"] if table["flow"].n_unique() > 1 else [])]
    keys = table.select(*swept, "flow").unique(maintain_order=True).rows(named=True)
    if len(keys) > MOST_CURVES:
        raise ResultsError(f"the figure would have {len(keys)} curves: at most {MOST_CURVES} are possible (--flow)")
    labels = [", ".join(word(key[name]) for name in named) or str(key["flow"]) for key in keys]
    looks = distinct(labels, dashes=True)
    what = "slowdown" if metric == "slowdown" else "completion time, s"
    panels, lacking = [], []
    for statistic, title in PANELS:
        curves = []
        for key, text, look in zip(keys, labels, looks, strict=True):
            same = [pl.col(name).eq_missing(value) for name, value in key.items()]
            rows = table.filter(pl.col("statistic") == statistic, *same).drop_nulls("value").sort("median_bytes")
            x, y, low, high = (rows[c].cast(pl.Float64).to_numpy() for c in ("median_bytes", "value", "low", "high"))
            curves.append(Curve(text, look, x / 1000, y, low, high))
        if not any(curve.x.size for curve in curves):
            lacking.append(title)
            continue
        ticks = _decades([float(v) for curve in curves for v in curve.x])
        panels.append(Panel(title, "size, kB", what, curves, x_log=True, y_log=True, y_from_zero=False, x_ticks=ticks))
    of_means = table.filter(pl.col("statistic") == "mean")
    n = counted(max(of_means["n"].to_list()), "repetition")
    title = f"{'Slowdown' if metric == 'slowdown' else 'Completion time'} of transfers by size, {n}"
    note = "Bins have a tenth of the transfers each, drawn at their median size. Bands: 95 % intervals of the mean over"
    note += " repetitions."
    note += f" Too few transfers in a bin for the {' and the '.join(lacking)}." if lacking else ""
    return Picture("slowdown", title, _reading(of_means), panels, columns=len(panels), share_y=True, note=note)


def _decades(values: Sequence[float]) -> tuple[float, ...]:
    """Return the powers of ten between values; none if they lie within one."""
    first, last = math.ceil(math.log10(min(values))), math.floor(math.log10(max(values)))
    return tuple(10.0**n for n in range(first, last + 1)) if last > first else ()


def _reading(means: pl.DataFrame) -> str:
    """Name the smallest and the largest mean."""
    found = means.drop_nulls("value").sort("value")
    if found.is_empty():
        return ""
    low, high = found.row(0, named=True), found.row(-1, named=True)
    return (
        f"Means by bin lie between {number(low['value'])} ({low['size']}) and {number(high['value'])} ({high['size']})."
    )
