"""Figures of one run over time: windows, queues, round trips, rates, sequence numbers.

Times are seconds of the run. Long series are thinned when they are drawn, without hiding a peak; the figure's rows
keep every value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import edges_of, rate_per_window
from dumbbell.plots.spec import Curve, Panel, Picture, Span
from dumbbell.registry import phases as registry_phases
from dumbbell.registry import unknown
from dumbbell.results.frames import label as short_form
from dumbbell.results.summary import short_names

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = ["cwnd", "flows_of", "goodput", "inflight", "iograph", "phases", "queue", "queues_of", "rtt", "sequence"]

WINDOWS = 100
"""Default number of windows of a run where rates are shown."""
KB = 1e-3


def flows_of(results: Results, run: Run, flow: Sequence[str] | None = None) -> list[str]:
    """Name the TCP flows of a run that left a series; ResultsError if none did, or if a requested one did not."""
    known = [t.removeprefix("flow/") for t in results.tables(run) if t.startswith("flow/")]
    if not known:
        raise ResultsError("no series of flows were kept: set trace.series = true (--trace on the command line)")
    for name in flow or ():
        if name not in known:
            raise ResultsError(unknown("flow", name, known))
    return list(flow) if flow else known


def queues_of(results: Results, run: Run, queue: Sequence[str] | None = None, kind: str = "queue") -> list[str]:
    """Name the queues of a run that left a table; by default those where packets waited longest, one at least."""
    known = [t.removeprefix(f"{kind}/") for t in results.tables(run) if t.startswith(f"{kind}/")]
    if not known:
        table = {"queue": "queues"}.get(kind, kind)
        raise ResultsError(f'no series of {table} were kept: set trace.series = true, or a list with "{table}"')
    for name in queue or ():
        if name not in known:
            raise ResultsError(unknown("queue", name, known))
    if queue:
        return list(queue)
    backlog = {row["name"]: row["mean_backlog_bytes"] or 0.0 for row in run.queues}
    most = max(backlog.get(name, 0.0) for name in known)
    return [name for name in known if backlog.get(name, 0.0) >= 0.2 * most and backlog.get(name, 0.0) > 0] or known[
        :1
    ]


def _variant(run: Run, flow: str) -> str:
    return next((str(row["variant"]) for row in run.flows if row["name"] == flow), flow)


def _looks(run: Run, flows: Sequence[str]) -> dict[str, str]:
    """Assign each flow its variant's look; the second flow of a variant gets another one."""
    looks: dict[str, str] = {}
    for flow in flows:
        base = _variant(run, flow)
        looks[flow] = base if base not in looks.values() else f"{base}:2"
    return looks


def _label(run: Run, flow: str) -> str:
    variant = _variant(run, flow)
    return flow if variant in flow else f"{flow} ({variant})"


def _title(run: Run, what: str) -> str:
    short = short_names(list(run.cell))
    cell = ", ".join(f"{short[path]} {short_form(value)}" for path, value in run.cell.items())
    return f"{what}{f' ({cell})' if cell else ''}, repetition {run.repetition}"


def phases(table: pl.DataFrame) -> list[Span]:
    """Return the intervals that a sender spent in each phase, from its series."""
    if table.is_empty():
        return []
    names = registry_phases()
    t, phase = table["t_ns"].to_numpy() * 1e-9, table["phase"].to_numpy()
    starts = np.flatnonzero(np.concatenate(([True], np.diff(phase.astype(np.int64)) != 0)))
    ends = np.concatenate((t[starts[1:]], t[-1:]))
    spans = zip(t[starts], ends, phase[starts], strict=True)
    return [Span(float(a), float(b), names[p], names[p]) for a, b, p in spans if b > a]


def _dropped(results: Results, run: Run, flow: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the times at which packets of a flow were dropped at any queue, s."""
    number = [row["name"] for row in run.flows].index(flow)
    times = []
    for name in results.tables(run):
        if name.startswith("drops/"):
            table = results.table(run, name)
            times.append(table.filter(pl.col("flow") == number)["t_ns"].to_numpy() * 1e-9)
    return np.sort(np.concatenate(times)) if times else np.zeros(0)


def _of_flows(
    results: Results,
    run: Run,
    flow: Sequence[str] | None,
    what: str,
    y_label: str,
    name: str,
    curves: Callable[[str, pl.DataFrame, str], list[Curve]],
    *,
    events: bool = True,
) -> Picture:
    """Draw one panel for all flows; with a single flow its phases, losses and timeouts too."""
    names = flows_of(results, run, flow)
    looks = _looks(run, names)
    drawn: list[Curve] = []
    spans: list[Span] = []
    for one in names:
        table = results.table(run, f"flow/{one}")
        mine = curves(one, table, looks[one])
        drawn += mine
        if len(names) == 1 and events:
            spans = phases(table)
            drawn += _events(results, run, one, mine[0], spans)
    panel = Panel("", "time, s", y_label, drawn, spans=spans)
    return Picture(name, _title(run, what), "", [panel], markers=False)


def _events(results: Results, run: Run, flow: str, curve: Curve, spans: Sequence[Span]) -> list[Curve]:
    """Mark the packets lost and the timeouts on a curve."""
    marks = []
    timeouts = np.array([s.begin for s in spans if s.label == "timeout"])
    for label, look, times in (
        ("packet lost", "drop", _dropped(results, run, flow)),
        ("timeout", "timeout", timeouts),
    ):
        if times.size and curve.x.size:
            place = np.clip(np.searchsorted(curve.x, times, side="right") - 1, 0, None)
            marks.append(Curve(label, look, times, curve.y[place], kind="events"))
    return marks


def cwnd(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the congestion window over time, with the slow start threshold of a single flow."""

    def curves(one: str, table: pl.DataFrame, look: str) -> list[Curve]:
        t = table["t_ns"].to_numpy() * 1e-9
        found = [Curve(_label(run, one), look, t, table["cwnd"].to_numpy() * KB, kind="steps")]
        if flow is not None and len(flow) == 1:
            ssthresh = table["ssthresh"].to_numpy() * KB
            ssthresh = np.where(ssthresh > 4 * np.nanmax(found[0].y, initial=1.0), np.nan, ssthresh)
            found.append(Curve("ssthresh", "constant", t, ssthresh, kind="steps"))
        return found

    return _of_flows(results, run, flow, "Congestion window", "cwnd, kB", "cwnd", curves)


def inflight(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the bytes in flight over time; for a single flow also phases, losses and timeouts."""

    def curves(one: str, table: pl.DataFrame, look: str) -> list[Curve]:
        t = table["t_ns"].to_numpy() * 1e-9
        return [Curve(_label(run, one), look, t, table["inflight"].to_numpy() * KB, kind="steps")]

    return _of_flows(results, run, flow, "Bytes in flight", "in flight, kB", "inflight", curves)


def rtt(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the senders' smoothed round-trip times over time."""

    def curves(one: str, table: pl.DataFrame, look: str) -> list[Curve]:
        t = table["t_ns"].to_numpy() * 1e-9
        return [Curve(_label(run, one), look, t, table["srtt_ns"].to_numpy() * 1e-6, kind="steps")]

    return _of_flows(results, run, flow, "Smoothed round-trip time", "srtt, ms", "rtt", curves, events=False)


def sequence(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw sequence numbers over time: the highest sent, acknowledged and delivered."""
    (one, *_) = flows_of(results, run, flow)
    table = results.table(run, f"flow/{one}")
    t = table["t_ns"].to_numpy() * 1e-9
    drawn = [
        Curve("next to send", "reno", t, table["snd_nxt"].to_numpy() * KB, kind="steps"),
        Curve("acknowledged", "newreno", t, table["snd_una"].to_numpy() * KB, kind="steps"),
        Curve("delivered in order", "total", t, table["delivered"].to_numpy() * KB, kind="steps"),
    ]
    spans = phases(table)
    drawn += _events(results, run, one, drawn[0], spans)
    panel = Panel("", "time, s", "sequence number, kB", drawn, spans=spans)
    return Picture("sequence", _title(run, f"Sequence numbers of {one}"), "", [panel], markers=False)


def goodput(
    results: Results, run: Run, *, flow: Sequence[str] | None = None, window_s: float | None = None
) -> Picture:
    """Draw the payload delivered per window of time."""
    edges = edges_of(0.0, results.scenario.duration.seconds, window_s or results.scenario.duration.seconds / WINDOWS)

    def curves(one: str, table: pl.DataFrame, look: str) -> list[Curve]:
        rates = rate_per_window(table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy(), edges)
        return [Curve(_label(run, one), look, (edges[:-1] + edges[1:]) / 2, rates * 1e-6)]

    wide = f"goodput per {edges[1] - edges[0]:g} s, Mbit/s"
    return _of_flows(results, run, flow, "Goodput over time", wide, "goodput", curves, events=False)


def queue(results: Results, run: Run, *, queue: Sequence[str] | None = None) -> Picture:
    """Draw the backlog of queues over time, and the dropped packets."""
    drawn: list[Curve] = []
    for name in queues_of(results, run, queue):
        table = results.table(run, f"queue/{name}")
        t = table["t_ns"].to_numpy() * 1e-9
        backlog = Curve(name, _discipline(run, name), t, table["packets"].to_numpy().astype(np.float64), kind="steps")
        drawn.append(backlog)
        if f"drops/{name}" in results.tables(run):
            times = np.sort(results.table(run, f"drops/{name}")["t_ns"].to_numpy() * 1e-9)
            if times.size and t.size:
                place = np.clip(np.searchsorted(t, times, side="right") - 1, 0, None)
                drawn.append(Curve(f"dropped at {name}", "drop", times, backlog.y[place], kind="events"))
    panel = Panel("", "time, s", "waiting, packets", drawn)
    return Picture("queue", _title(run, "Queues over time"), "", [panel], markers=False)


def _discipline(run: Run, name: str) -> str:
    return next((str(row["discipline"]) for row in run.queues if row["name"] == name), name)


def iograph(
    results: Results, run: Run, *, queue: Sequence[str] | None = None, window_s: float | None = None
) -> Picture:
    """Draw an I/O graph of a queue: packets per second that left it, and that it dropped."""
    names = queues_of(results, run, queue, "departures")
    edges = edges_of(0.0, results.scenario.duration.seconds, window_s or 1.0)
    drawn: list[Curve] = []
    for name in names:
        for table, label, look in (("departures", "all packets", "total"), ("drops", "dropped", "drop")):
            if f"{table}/{name}" not in results.tables(run):
                continue
            t = results.table(run, f"{table}/{name}")["t_ns"].to_numpy() * 1e-9
            count, _ = np.histogram(t, edges)
            shown = label if len(names) == 1 else f"{name}: {label}"
            drawn.append(Curve(shown, look, (edges[:-1] + edges[1:]) / 2, count / (edges[1] - edges[0])))
    panel = Panel("", "time, s", f"packets/s per {edges[1] - edges[0]:g} s", drawn)
    return Picture("iograph", _title(run, f"I/O graph of {', '.join(names)}"), "", [panel], markers=False)
