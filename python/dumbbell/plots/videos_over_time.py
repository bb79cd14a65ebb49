"""Figures of videos and pages: the buffer and bit rate of players over time, the objects of a page as a waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.plots.flows_over_time import flow_label, in_segments, title_of
from dumbbell.plots.queues_over_time import backlog, discipline_of, queues_of
from dumbbell.plots.spec import Curve, Mark, Panel, Picture, Span
from dumbbell.plots.style import distinct
from dumbbell.registry import unknown

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = ["buffer_curve", "stalls_of", "video", "waterfall"]

STALLED = 2
"""The code of a stalled player."""
MOST = 100
"""Objects that a waterfall shows at most."""


def _videos(results: Results, run: Run, flow: Sequence[str] | None) -> list[str]:
    known = [t.removeprefix("video/") for t in results.tables(run) if t.startswith("video/")]
    if not known:
        raise ResultsError('no series of videos: a flow needs application = { kind = "video", ... }, and trace.series')
    for name in flow or ():
        if name not in known:
            raise ResultsError(unknown("video", name, known))
    return list(flow) if flow else known


def buffer_curve(table: pl.DataFrame, label: str, style: Any) -> Curve:  # noqa: ANN401 - a name or a Look
    """Return the buffer level of a player, s: it rises when a segment arrives and falls by the time while playing."""
    t, level = table["t_ns"].to_numpy() * 1e-9, table["buffer_ns"].to_numpy() * 1e-9
    state = table["state"].to_numpy()
    # A row has the level after the change; just before it, playback had taken the time since the row before.
    played = np.where(state[:-1] == 1, np.diff(t), 0.0)
    before = np.maximum(level[:-1] - played, 0.0)
    x, y = np.repeat(t, 2)[1:], np.empty(2 * t.size - 1)
    y[0::2], y[1::2] = level, before
    return Curve(label, style, x, y)


def stalls_of(table: pl.DataFrame, end: float) -> list[tuple[float, float]]:
    """Return the intervals in which a player was stalled, s."""
    t, state = table["t_ns"].to_numpy() * 1e-9, table["state"].to_numpy()
    ends = np.append(t[1:], end)
    found: list[tuple[float, float]] = []
    for begin, until, code in zip(t.tolist(), ends.tolist(), state.tolist(), strict=True):
        if code != STALLED or until <= begin:
            continue
        if found and found[-1][1] == begin:
            found[-1] = (found[-1][0], until)
        else:
            found.append((begin, until))
    return found


def video(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw buffer level, bit rate, congestion window and queue of videos over time, with their stalls."""
    names = _videos(results, run, flow)
    tables = {name: results.table(run, f"video/{name}") for name in names}
    end = max(float(table["t_ns"].max() or 0) * 1e-9 for table in tables.values())  # type: ignore[arg-type]
    span = (0.0, end)
    looks = dict(zip(names, distinct([f"video {n}" for n in range(len(names))]), strict=True))
    buffers, rates, windows = [], [], []
    spans: list[Span] = []
    for name, table in tables.items():
        t = table["t_ns"].to_numpy() * 1e-9
        buffers.append(buffer_curve(table, name, looks[name]))
        rates.append(Curve(name, looks[name], t, table["bitrate"].to_numpy() * 1e-6, kind="steps"))
        spans += [Span(begin, until, "stalled", "timeout") for begin, until in stalls_of(table, end)]
        if f"flow/{name}" in results.tables(run):
            series = results.table(run, f"flow/{name}")
            sizes = in_segments(run, name, series["cwnd"].to_numpy())
            windows.append(Curve(name, looks[name], series["t_ns"].to_numpy() * 1e-9, sizes, kind="steps"))
    panels = [
        Panel("", "time, s", "buffer, s", buffers, spans=spans, x_range=span),
        Panel("", "time, s", "bit rate, Mbit/s", rates, spans=spans, x_range=span, height=0.6),
    ]
    if windows:
        panels.append(Panel("", "time, s", "cwnd, segments", windows, spans=spans, x_range=span, height=0.6))
    if any(t.startswith("queue/") for t in results.tables(run)):
        (queue, *_) = queues_of(results, run)
        label = f"queue {queue} ({discipline_of(run, queue)})"
        curve = backlog(results, run, queue, "total", label, span)
        panels.append(Panel("", "time, s", "backlog, packets", [curve], spans=spans, x_range=span, height=0.6))
    what = f"Buffer and bit rate of {', '.join(names)} over time"
    return Picture("video", title_of(run, what), _seen(run, names), panels, markers=False)


def _seen(run: Run, names: Sequence[str]) -> str:
    """Say what the viewers saw, from the results."""
    parts = []
    for row in (row for row in run.flows if row["name"] in names):
        startup = row["startup_delay_s"]
        began = f"starts after {startup:.3g} s" if startup is not None else "does not start"
        rate = f"{row['mean_bitrate_bps'] * 1e-6:.3g} Mbit/s in the mean" if row["mean_bitrate_bps"] else "no segment"
        stalls = f"{row['stalls']} stalls of {row['stall_s']:.3g} s in all" if row["stalls"] else "no stall"
        parts.append(f"{row['name']} {began}: {stalls}, {rate}.")
    return " ".join(parts)


def waterfall(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:  # noqa: ARG001 - as the others
    """Draw the objects of a page, or the segments of a video: requests, first bytes, last bytes."""
    rows = [row for row in run.transfers if row.get("object") is not None]
    known = list(dict.fromkeys(str(row["flow"]) for row in rows))
    if not known:
        raise ResultsError(
            'no objects were loaded: a flow needs application = { kind = "page", preset = ... } or a video'
        )
    one = (flow or known)[0]
    if one not in known:
        raise ResultsError(unknown("flow", one, known))
    shown = [row for row in rows if row["flow"] == one][:MOST]
    flow_row = next(row for row in run.flows if row["name"] == one)
    end = max((row["end_s"] or row["start_s"] for row in shown), default=0.0)
    spans: list[Span] = []
    for n, row in enumerate(shown):
        first = row["first_byte_s"] if row["first_byte_s"] is not None else end
        spans.append(Span(row["start_s"], first, "from the request to the first byte", "idle", n))
        if row["first_byte_s"] is not None:
            last = row["end_s"] if row["end_s"] is not None else end
            spans.append(Span(first, last, "to the last byte", "cruise", n))
    onload, begin = flow_row.get("onload_s"), float(flow_row["start_s"])
    loads = int(flow_row["transfers_started"]) if flow_row["application"] == "page" else 0
    marks = [Mark(begin + float(onload), "onload", "top")] if onload is not None and loads == 1 else []
    names = [f"{row['object']} ({row['connection']})" for row in shown]
    height = max(1.0, 0.055 * len(shown))
    panel = Panel("", "time, s", "", [], marks, spans=spans, strips=names, x_range=(begin, end), height=height)
    title = title_of(run, f"Waterfall of {flow_label(run, one)}")
    note = "In parentheses: the number of the connection."
    if len(shown) == MOST:
        note += f" The first {MOST} objects are shown."
    return Picture("waterfall", title, "", [panel], markers=False, note=note)
