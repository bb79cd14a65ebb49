"""Figures of the queues of one run over time: backlog, drops, packets per second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import edges_of
from dumbbell.plots.downsample import summary_of_steps
from dumbbell.plots.flows_over_time import span_of, title_of
from dumbbell.plots.spec import Curve, Floats, Panel, Picture
from dumbbell.plots.style import Look, distinct
from dumbbell.registry import unknown

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = ["backlog", "discipline_of", "iograph", "queue", "queues_of"]

WINDOWS = 200
"""Windows of a run in which the backlog is summarized."""
RATES = 100
"""Windows of a run in which drops are counted."""
TOGETHER = 2
"""Queues that share a panel; more have a panel each."""


def queues_of(results: Results, run: Run, queue: Sequence[str] | None = None, kind: str = "queue") -> list[str]:
    """Name the queues of a run that left a table; by default those where packets waited longest, one at least.

    Raises
    ------
    ResultsError
        Without such tables, and for an unknown queue.
    """
    known = [t.removeprefix(f"{kind}/") for t in results.tables(run) if t.startswith(f"{kind}/")]
    if not known:
        table = {"queue": "queues"}.get(kind, kind)
        raise ResultsError(f'no series of {table} were kept: set trace.series = true, or a list with "{table}"')
    for name in queue or ():
        if name not in known:
            raise ResultsError(unknown("queue", name, known))
    if queue:
        return list(queue)
    backlogs = {row["name"]: row["mean_backlog_bytes"] or 0.0 for row in run.queues}
    most = max(backlogs.get(name, 0.0) for name in known)
    return [n for n in known if backlogs.get(n, 0.0) >= 0.2 * most and backlogs.get(n, 0.0) > 0] or known[:1]


def discipline_of(run: Run, name: str) -> str:
    """Return the queue discipline of a link."""
    return next((str(row["discipline"]) for row in run.queues if row["name"] == name), name)


def backlog(
    results: Results,
    run: Run,
    name: str,
    style: str | Look,
    label: str | None = None,
    span: tuple[float, float] | None = None,
) -> Curve:
    """Return the mean backlog of a queue in windows of time, between its smallest and largest value, in packets."""
    table = results.table(run, f"queue/{name}")
    t, packets = table["t_ns"].to_numpy() * 1e-9, table["packets"].to_numpy().astype(np.float64)
    begin, end = span or span_of(results, run)
    edges = edges_of(begin, end, (end - begin) / WINDOWS)
    # A queue is empty until its first row.
    mean, low, high = summary_of_steps(np.append(begin, t), np.append(0.0, packets), edges)
    return Curve(label or f"{name} ({discipline_of(run, name)})", style, (edges[:-1] + edges[1:]) / 2, mean, low, high)


def _average(table: pl.DataFrame) -> Curve | None:
    """Return the average queue that RED controls, if the discipline records it."""
    if "avg" not in table.columns:
        return None
    return Curve("avg of RED", "ssthresh", table["t_ns"].to_numpy() * 1e-9, table["avg"].to_numpy(), kind="steps")


def _per_second(times: Floats, edges: Floats) -> Floats:
    count, _ = np.histogram(times, edges)
    return np.asarray(count / np.diff(edges))


def queue(results: Results, run: Run, *, queue: Sequence[str] | None = None) -> Picture:
    """Draw the backlog of queues over time, and the rates of drops and marks."""
    names = queues_of(results, run, queue)
    looks = distinct([f"queue {n}" for n in range(len(names))])
    span = span_of(results, run)
    edges = edges_of(*span, (span[1] - span[0]) / RATES)
    middle = (edges[:-1] + edges[1:]) / 2
    backlogs: list[Curve] = []
    averages: list[list[Curve]] = []
    rates: list[Curve] = []
    for name, style in zip(names, looks, strict=True):
        table = results.table(run, f"queue/{name}")
        backlogs.append(backlog(results, run, name, style))
        average = _average(table)
        averages.append([average] if average is not None else [])
        if f"drops/{name}" in results.tables(run):
            rate = _per_second(results.table(run, f"drops/{name}")["t_ns"].to_numpy() * 1e-9, edges)
            shown = style if len(names) > 1 else "drop"
            rates.append(Curve(f"drops at {name}", shown, middle, rate, kind="line"))
        marks = table["marks"].to_numpy().astype(np.int64)
        if marks.size and marks[-1] > 0:
            times = np.repeat(table["t_ns"].to_numpy() * 1e-9, np.diff(marks, prepend=0))
            rates.append(Curve(f"marks at {name}", "mark", middle, _per_second(times, edges), kind="line"))
    label = "backlog, packets"
    if len(names) <= TOGETHER:
        curves = [c for b, a in zip(backlogs, averages, strict=True) for c in (b, *a)]
        panels = [Panel("", "time, s", label, curves, x_range=span)]
    else:
        panels = [
            Panel(name, "time, s", label, [b, *a], x_range=span, height=0.6)
            for name, b, a in zip(names, backlogs, averages, strict=True)
        ]
    if rates:
        panels.append(Panel("Drops and marks" if any("marks" in c.label for c in rates) else "Drops", "time, s",
                            "packets/s", rates, x_range=span, height=0.55))  # fmt: skip
    note = f"Line: mean of {(span[1] - span[0]) / WINDOWS:.3g} s; shaded: from the smallest to the largest backlog."
    if rates:
        note += f" Drops are counted in windows of {edges[1] - edges[0]:.3g} s."
    what = "Backlog and drops over time" if rates else "Backlog over time"
    return Picture("queue", title_of(run, what), "", panels, markers=False, note=note)


def iograph(
    results: Results, run: Run, *, queue: Sequence[str] | None = None, window_s: float | None = None
) -> Picture:
    """Draw an I/O graph of a queue: packets per second that left it, and that it dropped."""
    names = queues_of(results, run, queue, "departures")
    span = span_of(results, run)
    edges = edges_of(*span, window_s or 1.0)
    drawn: list[Curve] = []
    for name in names:
        for table, label, style in (("departures", "all packets", "total"), ("drops", "dropped", "drop")):
            if f"{table}/{name}" not in results.tables(run):
                continue
            t = results.table(run, f"{table}/{name}")["t_ns"].to_numpy() * 1e-9
            shown = label if len(names) == 1 else f"{name}: {label}"
            drawn.append(Curve(shown, style, (edges[:-1] + edges[1:]) / 2, _per_second(t, edges)))
    panel = Panel("", "time, s", "packets/s", drawn, x_range=span)
    note = f"Packets that left the queue, or were dropped, in windows of {edges[1] - edges[0]:.3g} s."
    return Picture("iograph", title_of(run, f"I/O graph of {', '.join(names)}"), "", [panel], markers=False, note=note)
