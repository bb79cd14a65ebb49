"""Cumulative distributions: of a metric over runs, of single transfers, of series over time, of packets' delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import ResultsError
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.by_cell import counted, looks_of
from dumbbell.plots.cell_table import CellTable, Shown, word
from dumbbell.plots.flows_over_time import in_segments
from dumbbell.plots.spec import Curve, Floats, Panel, Picture
from dumbbell.plots.style import Look, distinct
from dumbbell.registry import unknown
from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.summary import short_names

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["cdf"]

Weighted = tuple[Floats, Floats]
"""Values and their weights."""

FEW = 12
"""Values up to which each is marked."""
SERIES = {
    "cwnd": ("flow", "cwnd", 1.0, "cwnd, segments"),
    "inflight": ("flow", "inflight", 1.0, "in flight, segments"),
    "rtt": ("rtt", "rtt_ns", 1e-6, "RTT, ms"),
    "srtt": ("flow", "srtt_ns", 1e-6, "srtt, ms"),
    "backlog": ("queue", "packets", 1.0, "backlog, packets"),
    "sojourn": ("departures", "sojourn_ns", 1e-6, "sojourn, ms"),
}
"""Columns of series with a distribution of their own: kind of table, column, factor, axis label."""


def cdf(results: Results, shown: Shown) -> Picture:
    """Draw the distribution of any metric over runs or transfers, or of a column of series.

    Of series: ``cwnd``, ``inflight``, ``srtt`` and ``backlog`` as shares of time, ``rtt`` and ``sojourn`` as shares
    of packets.
    """
    metric = shown.metric
    if metric in SERIES:
        return _of_series(results, shown)
    table = CellTable.of(results, shown)
    apart = table.column(shown.by, "by") or table.free()
    drawn = quantity(metric)
    looks = looks_of(table, apart, dashes=True)
    transfers = metric in results.transfers.columns and metric not in {*results.flows.columns, *results.queues.columns}
    share = "share of transfers" if transfers else "share of runs"
    parts = table.panels(apart)
    samples = [{key[0]: (v, np.ones(v.size)) for key, v in one.groups(apart, each=True).items()} for one in parts]
    panels = [Panel(one.title, drawn.label, share, _steps(found, looks, drawn.name), y_top=1.02)
              for one, found in zip(parts, samples, strict=True)]  # fmt: skip
    n = counted(len(v) for found in samples for v, _ in found.values())
    title = f"Distribution of {drawn.name}{f' by {table.name(apart)}' if apart else ''}, {n}"
    return Picture("cdf", title, "", panels, columns=min(2, len(panels)), markers=False)


def _steps(samples: Mapping[str, Weighted], looks: Mapping[str, Look], what: str) -> list[Curve]:
    """Return the share of values up to each, as steps; few values are marked too."""
    curves = []
    for side, look in looks.items():
        if side not in samples:
            continue
        values, weights = samples[side]
        order = np.argsort(values, kind="stable")
        x, share = values[order], np.cumsum(weights[order]) / weights.sum()
        name = side or what
        curves.append(Curve(name, look, np.concatenate((x[:1], x)), np.concatenate(([0.0], share)), kind="steps"))
        if x.size <= FEW:
            curves.append(Curve(name, look, x, share, kind="points"))
    return curves


def _of_series(results: Results, shown: Shown) -> Picture:
    """Draw the distribution of a column of series, one curve per flow (or queue) and cell."""
    metric = shown.metric
    if shown.by is not None:
        raise ResultsError(f"--by: the distribution of '{metric}' has a curve for each flow or queue and cell")
    kind, column, factor, x_label = SERIES[metric]
    where = shown.where or {}
    samples: dict[str, list[Weighted]] = {}
    for run in results.runs:
        short = short_names(list(run.cell))
        cell = {short[path]: word(label(value)) for path, value in run.cell.items()}
        if any(cell.get(path, word(label(run.cell.get(path)))) != word(value) for path, value in where.items()):
            continue
        known = [t for t in results.tables(run) if t.startswith(f"{kind}/")]
        for name in _chosen(known, kind, shown.flow):
            table = results.arrays(run, f"{kind}/{name}")
            values, weights = _weighted(table, column, by_time=kind in {"flow", "queue"})
            values = in_segments(run, name, values) if x_label.endswith("segments") else values * factor
            samples.setdefault(", ".join([name, *cell.values()]), []).append((values, weights))
    whole = {key: (np.concatenate([v for v, _ in parts]), np.concatenate([w for _, w in parts]))
             for key, parts in samples.items()}  # fmt: skip
    whole = {key: (v, w) for key, (v, w) in whole.items() if v.size and w.sum() > 0}
    if not whole:
        kept = {"flow": "flows", "queue": "queues", "rtt": "flows"}.get(kind, kind)
        raise ResultsError(f'no {kept} were kept: set trace.series = true, or a list with "{kept}"')
    looks = dict(zip(whole, distinct([key.split(", ")[-1] for key in whole], dashes=True), strict=True))
    share = "share of time" if kind in {"flow", "queue"} else "share of packets"
    panel = Panel("", x_label, share, _steps(whole, looks, metric), y_top=1.02)
    return Picture("cdf", f"Distribution of {x_label.split(',')[0]}", "", [panel], markers=False)


def _chosen(known: Sequence[str], kind: str, flow: Sequence[str] | None) -> list[str]:
    """Select tables by their owner; by default all flows, and the queues of routers."""
    names = [t.removeprefix(f"{kind}/") for t in known]
    for name in flow or ():
        if name not in names:
            raise ResultsError(unknown("flow" if kind in {"flow", "rtt"} else "queue", name, names))
    if flow:
        return list(flow)
    return names if kind in {"flow", "rtt"} else [n for n in names if n.startswith("r")] or names


def _weighted(table: Mapping[str, npt.NDArray[np.generic]], column: str, *, by_time: bool) -> Weighted:
    """Return a column's values with the time until the next row, or with equal weights; without missing values."""
    values = np.asarray(table[column], dtype=np.float64)
    if by_time:
        t = np.asarray(table["t_ns"], dtype=np.float64)
        weights = np.diff(t, append=t[-1:])
    else:
        weights = np.ones(values.size)
    kept = np.isfinite(values) & (weights > 0)
    return values[kept], weights[kept]
