"""Small multiples over time: one row of panels for each cell of a sweep, all with the same axes.

As papers on congestion control compare algorithms: left the congestion window (or another quantity of the sender),
right the queue that it makes. Results of a single cell have a row for each flow, with its goodput beside its window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import edges_of, rate_per_window
from dumbbell.plots.axis_values import AxisValues
from dumbbell.plots.cell_table import word
from dumbbell.plots.flows_over_time import WINDOWS, events_of, flows_of, in_segments, span_of
from dumbbell.plots.queues_over_time import backlog, queues_of
from dumbbell.plots.spec import Curve, Floats, Panel, Picture
from dumbbell.plots.style import distinct
from dumbbell.registry import unknown
from dumbbell.results.frames.run_frames import label as short_form
from dumbbell.results.frames.summary import short_names

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = ["MOST", "timelapse"]

MOST = 8
"""Rows of panels at most."""
HEIGHT = 0.55
"""Height of a panel in parts of a usual one."""


@dataclass(frozen=True, slots=True)
class _Row:
    """The run and the flows of one row of panels."""

    title: str
    run: Run
    flows: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A quantity of a sender over time: the label of its axis, and its values from the series of a flow."""

    label: str
    values: Callable[[Run, str, pl.DataFrame], Floats]


QUANTITIES = {
    "cwnd": _Quantity("cwnd, segments", lambda run, one, table: in_segments(run, one, table["cwnd"].to_numpy())),
    "inflight": _Quantity(
        "in flight, segments", lambda run, one, table: in_segments(run, one, table["inflight"].to_numpy())
    ),
    "srtt": _Quantity("srtt, ms", lambda _run, _one, table: table["srtt_ns"].to_numpy() * 1e-6),
}
GOODPUT = "goodput"
TITLES = {
    "cwnd": "Congestion windows",
    "inflight": "Data in flight",
    "srtt": "Smoothed RTTs (srtt)",
    GOODPUT: "Goodput",
}


def timelapse(
    results: Results,
    *,
    metric: str | None = None,
    flow: Sequence[str] | None = None,
    window_s: float | None = None,
    where: Mapping[str, object] | None = None,
) -> Picture:
    """Draw a row of panels for each cell, all with the same axes: windows (or goodput) and queue over time.

    Raises
    ------
    ResultsError
        For an unknown metric, and for a condition that no cell meets.
    """
    known = [*QUANTITIES, GOODPUT]
    chosen = metric or "cwnd"
    if chosen not in known:
        raise ResultsError(f"--metric: {unknown('quantity over time', chosen, known)}")
    rows = list(_rows(results, flow, where or {}))
    shown = rows[:MOST]
    span = span_of(results, *(row.run for row in shown))
    window = window_s or (span[1] - span[0]) / WINDOWS
    left = [_senders(results, row, chosen, window, span) for row in shown]
    alone = len({row.run.index for row in shown}) == 1  # the flows of a row share one queue
    other = "cwnd" if chosen == GOODPUT else GOODPUT
    right = [_senders(results, row, other, window, span) if alone else _queue(results, row, span) for row in shown]
    panels = [panel for pair in zip(_same(left), _same(right), strict=True) for panel in pair]
    note = "All panels of a column have the same axes."
    if not alone:
        note = f"Repetition 0 of each cell. {note} Shaded: the smallest to the largest backlog of a window of time."
    if len(rows) > MOST:
        note = f"The first {MOST} of {len(rows)} rows; --where selects others. {note}"
    title = f"{TITLES[chosen]} and {TITLES[other].lower() if alone else 'queue'} over time"
    return Picture("timelapse", title, "", panels, columns=2, markers=False, note=note)


def _rows(results: Results, flow: Sequence[str] | None, where: Mapping[str, object]) -> Iterator[_Row]:
    runs = [min(cell, key=lambda run: run.repetition) for cell in results.by_cell()]
    paths = list(dict.fromkeys(path for run in runs for path in run.cell))
    short = short_names(paths)
    for given, value in where.items():
        ends = [path for path in paths if path == given or path.endswith(f".{given}") or short[path] == given]
        if len(ends) != 1:
            raise ResultsError(f"--where: {unknown('column', given, list(short.values()))}")
        values = list(dict.fromkeys(word(short_form(run.cell.get(ends[0]))) for run in runs))
        if word(value) not in values:
            raise ResultsError(f"--where {given}: {unknown('value', word(value), values)}")
        runs = [run for run in runs if word(short_form(run.cell.get(ends[0]))) == word(value)]
    if len(runs) == 1:
        (run,) = runs
        for name in flows_of(results, run, flow):
            variant = next((str(row["variant"]) for row in run.flows if row["name"] == name), "")
            yield _Row(name if variant in name else f"{name}: {variant}", run, [name])
        return
    words = {path: [word(short_form(run.cell.get(path))) for run in runs] for path in paths}
    varied = [path for path in paths if len(set(words[path])) > 1]
    places = {path: {w: n for n, w in enumerate(AxisValues.of(words[path]).words)} for path in varied}
    runs.sort(key=lambda run: [places[path][word(short_form(run.cell.get(path)))] for path in varied])
    for run in runs:
        cell = ", ".join(f"{short[path]} {word(short_form(run.cell.get(path)))}" for path in varied)
        yield _Row(cell, run, flows_of(results, run, flow))


def _senders(results: Results, row: _Row, chosen: str, window: float, span: tuple[float, float]) -> Panel:
    """Draw a quantity of each flow of a row; of a single flow also the losses and timeouts."""
    looks = distinct([f"flow {k}" for k in range(len(row.flows))])
    label = f"goodput per {window:.3g} s, Mbit/s" if chosen == GOODPUT else QUANTITIES[chosen].label
    curves: list[Curve] = []
    for name, style in zip(row.flows, looks, strict=True):
        table = results.table(row.run, f"flow/{name}")
        t = table["t_ns"].to_numpy() * 1e-9
        shown = chosen if len(row.flows) == 1 else name
        if chosen == GOODPUT:
            edges = edges_of(*span, window)
            rate = rate_per_window(t, table["delivered"].to_numpy(), edges) * 1e-6
            curves.append(Curve(shown, style, (edges[:-1] + edges[1:]) / 2, rate))
            continue
        curve = Curve(shown, style, t, QUANTITIES[chosen].values(row.run, name, table), kind="steps")
        curves.append(curve)
        if len(row.flows) == 1:
            curves += events_of(results, row.run, name, table, curve)
    return Panel(row.title, "time, s", label, curves, x_range=span, height=HEIGHT)


def _queue(results: Results, row: _Row, span: tuple[float, float]) -> Panel:
    """Draw the queue where packets wait longest."""
    names = queues_of(results, row.run)
    waiting = {found["name"]: found["mean_backlog_bytes"] or 0.0 for found in row.run.queues}
    name = max(names, key=lambda name: waiting.get(name, 0.0))
    curve = backlog(results, row.run, name, "droptail", "mean backlog", span)
    return Panel(name, "time, s", "backlog, packets", [curve], x_range=span, height=HEIGHT)


def _same(panels: Sequence[Panel]) -> list[Panel]:
    """Give panels the same y axis: from zero to just above the largest value of any."""
    tops = [float(np.nanmax(c.y if c.high is None else c.high)) for p in panels for c in p.curves if c.y.size]
    top = 1.05 * max(tops, default=0.0)
    return [replace(panel, y_top=top or None) for panel in panels]
