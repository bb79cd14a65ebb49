"""Figures of the flows of one run over time: congestion window, bytes in flight, round-trip time, goodput.

Times are seconds of the run; windows are in segments, as in the tables. Long series are thinned when they are drawn,
without hiding a peak; the figure's rows keep every value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import edges_of, rate_per_window
from dumbbell.plots.spec import Curve, Floats, Panel, Picture, Span
from dumbbell.plots.style import Look, distinct, look
from dumbbell.registry import phases as registry_phases
from dumbbell.registry import unknown
from dumbbell.results.frames.run_frames import label as short_form
from dumbbell.results.frames.summary import short_names

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = [
    "WINDOWS",
    "cwnd",
    "dropped",
    "events_of",
    "flow_label",
    "flow_looks",
    "flows_of",
    "goodput",
    "in_segments",
    "inflight",
    "phases",
    "rtt",
    "span_of",
    "srtt",
    "steps_at",
    "timeouts",
    "title_of",
]

WINDOWS = 100
"""Default number of windows of a run where rates are shown."""
MOST = 12
"""Flows drawn at most, unless they are selected."""
SPARE = 60
"""Looks to choose from for further flows of a variant."""
STRIP = 0.09
"""Height of a flow's strip of phases, in parts of a panel."""
AFTER_TIMEOUT = "recovery after a timeout"
"""The name of the phase `timeout` in legends, where an event is named timeout."""


def flows_of(results: Results, run: Run, flow: Sequence[str] | None = None) -> list[str]:
    """Name the TCP flows of a run that left a series; ResultsError if none did, or if a requested one did not."""
    known = [t.removeprefix("flow/") for t in results.tables(run) if t.startswith("flow/")]
    if not known:
        raise ResultsError("no series of flows were kept: set trace.series = true (--trace on the command line)")
    for name in flow or ():
        if name not in known:
            raise ResultsError(unknown("flow", name, known))
    return list(flow) if flow else known


def _row(run: Run, flow: str) -> dict[str, object]:
    return next((row for row in run.flows if row["name"] == flow), {})


def flow_looks(run: Run, flows: Sequence[str]) -> dict[str, Look]:
    """Return a look for each flow: the first flow of a variant has the variant's, others their own color."""
    variants = {flow: str(_row(run, flow).get("variant", flow)) for flow in flows}
    taken = {look(variant).color for variant in variants.values()}
    spare = (other for other in distinct([f"flow {k}" for k in range(SPARE)]) if other.color not in taken)
    looks: dict[str, Look] = {}
    for flow, variant in variants.items():
        own = look(variant)
        looks[flow] = own if own not in looks.values() else next(spare, replace(own, dash="--"))
    return looks


def flow_label(run: Run, flow: str) -> str:
    """Name a flow with its variant: ``tcp (cubic)``."""
    variant = str(_row(run, flow).get("variant", flow))
    return flow if variant in flow else f"{flow} ({variant})"


def title_of(run: Run, what: str) -> str:
    """Return a title with the cell and the repetition."""
    short = short_names(list(run.cell))
    cell = ", ".join(f"{short[path]} {short_form(value)}" for path, value in run.cell.items())
    return f"{what}{f' ({cell})' if cell else ''}, repetition {run.repetition}"


def span_of(results: Results, *runs: Run) -> tuple[float, float]:
    """Return the ends of the time axis of some runs, s: until the end of the last transfer if all are completed."""
    end = results.scenario.duration.seconds
    flows = [row for run in runs for row in run.flows]
    if flows and all(row.get("completion_time_s") is not None for row in flows):
        end = min(end, max(float(row["stop_s"]) for row in flows))
    return 0.0, end


def in_segments(run: Run, flow: str, sizes: npt.ArrayLike) -> Floats:
    """Convert bytes to full segments of a flow.

    Parameters
    ----------
    run : Run
    flow : str
    sizes : (n,) float64, bytes

    Returns
    -------
    (n,) float64, segments

    Raises
    ------
    ResultsError
        If the results are of a version that did not record the size of a segment.
    """
    mss = _row(run, flow).get("snd_mss_bytes")
    if not isinstance(mss, int | float):
        raise ResultsError(f"flow '{flow}' has no snd_mss_bytes: the results are of an earlier version; run it again")
    return np.asarray(sizes, dtype=np.float64) / float(mss)


def phases(table: pl.DataFrame, strip: int | None = None) -> list[Span]:
    """Return the intervals that a sender spent in each phase, from its series."""
    if table.is_empty():
        return []
    names = registry_phases()
    t, phase = table["t_ns"].to_numpy() * 1e-9, table["phase"].to_numpy()
    starts = np.flatnonzero(np.concatenate(([True], np.diff(phase.astype(np.int64)) != 0)))
    ends = np.concatenate((t[starts[1:]], t[-1:]))
    words = {"timeout": AFTER_TIMEOUT}
    return [
        Span(float(a), float(b), words.get(names[p], names[p]), names[p], strip)
        for a, b, p in zip(t[starts], ends, phase[starts], strict=True)
        if b > a
    ]


def timeouts(table: pl.DataFrame) -> Floats:
    """Return the time of each timeout of a flow: the rows where the counter of its series grows.

    A timeout is an event of its own: two in a row, without an ACK between them, are one phase.

    Returns
    -------
    (k,) float64, s
        Not decreasing.
    """
    count = table["timeouts"].to_numpy().astype(np.int64)
    grown = np.diff(count, prepend=0)
    grown = np.where(grown < 0, count, grown)  # a new connection counts from zero
    return np.repeat(table["t_ns"].to_numpy() * 1e-9, grown)


def dropped(results: Results, run: Run, flow: str) -> Floats:
    """Return the times at which packets of a flow were dropped at any queue.

    Returns
    -------
    (k,) float64, s
        Not decreasing; empty without series of drops.
    """
    number = [row["name"] for row in run.flows].index(flow)
    times = []
    for name in results.tables(run):
        if name.startswith("drops/"):
            table = results.table(run, name)
            times.append(table.filter(pl.col("flow") == 2 * number)["t_ns"].to_numpy() * 1e-9)
    return np.sort(np.concatenate(times)) if times else np.zeros(0)


def steps_at(x: Floats, y: Floats, times: Floats) -> Floats:
    """Return the values of a step curve at given times.

    Parameters
    ----------
    x, y : (n,) float64
        Times from which each value holds, not decreasing; the values.
    times : (k,) float64, the unit of `x`

    Returns
    -------
    (k,) float64, the unit of `y`
        The first value before the first time; zeros without a value.
    """
    return y[np.clip(np.searchsorted(x, times, side="right") - 1, 0, None)] if x.size else np.zeros(times.size)


def events_of(results: Results, run: Run, flow: str, table: pl.DataFrame, curve: Curve | int) -> list[Curve]:
    """Mark the packets lost and the timeouts of a flow, on a curve or in a strip."""
    marks = []
    for label, style, times in (
        ("packet lost", "drop", dropped(results, run, flow)),
        ("timeout", "timeout event", timeouts(table)),
    ):
        if times.size:
            y = steps_at(curve.x, curve.y, times) if isinstance(curve, Curve) else np.full(times.size, float(curve))
            marks.append(Curve(label, style, times, y, kind="events"))
    return marks


def _chosen(results: Results, run: Run, flow: Sequence[str] | None) -> tuple[list[str], str]:
    """Select the flows to draw, and describe the selection if some are left out."""
    names = flows_of(results, run, flow)
    if flow or len(names) <= MOST:
        return names, ""
    rate = {row["name"]: row["goodput_bps"] or 0.0 for row in run.flows}
    best = sorted(names, key=lambda name: rate.get(name, 0.0), reverse=True)[:MOST]
    chosen = [name for name in names if name in best]
    return chosen, f"The {MOST} of {len(names)} flows with the highest goodput; --flow selects others. "


def _of_flows(
    results: Results,
    run: Run,
    flow: Sequence[str] | None,
    what: str,
    y_label: str,
    name: str,
    curves: Callable[[str, pl.DataFrame, Look], list[Curve]],
    *,
    sender: bool = True,
    reading: str = "",
) -> Picture:
    """Draw one panel for all flows.

    With ``sender`` the sender's phases, losses and timeouts are shown: of a single flow in the panel, of several in a
    strip for each below it.
    """
    names, left_out = _chosen(results, run, flow)
    looks = flow_looks(run, names)
    tables = {one: results.table(run, f"flow/{one}") for one in names}
    drawn = {one: curves(one, table, looks[one]) for one, table in tables.items()}
    every = [curve for one in names for curve in drawn[one]]
    span = span_of(results, run)
    if sender and len(names) == 1:
        (one,) = names
        every += events_of(results, run, one, tables[one], drawn[one][0])
        panels = [Panel("", "time, s", y_label, every, spans=phases(tables[one]), x_range=span)]
    else:
        panels = [Panel("", "time, s", y_label, every, x_range=span)]
        if sender:
            panels.append(_strips(results, run, tables, span))
    return Picture(name, title_of(run, what), left_out + reading, panels, markers=False)


def _strips(results: Results, run: Run, tables: dict[str, pl.DataFrame], span: tuple[float, float]) -> Panel:
    """Draw the phases, losses and timeouts of each flow in a strip of its own."""
    spans: list[Span] = []
    marks: dict[str, list[Curve]] = {}
    for row, (one, table) in enumerate(tables.items()):
        spans += phases(table, row)
        for curve in events_of(results, run, one, table, row):
            marks.setdefault(curve.label, []).append(curve)
    events = [
        replace(found[0], x=np.concatenate([c.x for c in found]), y=np.concatenate([c.y for c in found]))
        for found in marks.values()
    ]
    names = [flow_label(run, one) for one in tables]
    return Panel("Phases of the senders", "time, s", "", events, spans=spans, strips=names, x_range=span,
                 height=max(0.22, STRIP * len(names)))  # fmt: skip


def cwnd(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the congestion window over time, in segments; for a single flow also ssthresh."""
    alone = len(flows_of(results, run, flow)) == 1

    def curves(one: str, table: pl.DataFrame, style: Look) -> list[Curve]:
        t = table["t_ns"].to_numpy() * 1e-9
        window = in_segments(run, one, table["cwnd"].to_numpy())
        found = [Curve("cwnd" if alone else flow_label(run, one), style, t, window, kind="steps")]
        if alone:
            ssthresh = in_segments(run, one, table["ssthresh"].to_numpy())
            # Before the first loss it is far above every window.
            ssthresh = np.where(ssthresh > 2 * np.nanmax(window, initial=1.0), np.nan, ssthresh)
            if not np.isnan(ssthresh).all():
                found.append(Curve("ssthresh", "ssthresh", t, ssthresh, kind="steps"))
        return found

    what = "Congestion window"
    if alone:
        what += f" of {flow_label(run, flows_of(results, run, flow)[0])}"
    return _of_flows(results, run, flow, what, "cwnd, segments", "cwnd", curves)


def inflight(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the bytes in flight over time, in segments."""

    def curves(one: str, table: pl.DataFrame, style: Look) -> list[Curve]:
        t = table["t_ns"].to_numpy() * 1e-9
        flight = in_segments(run, one, table["inflight"].to_numpy())
        return [Curve(flow_label(run, one), style, t, flight, kind="steps")]

    return _of_flows(results, run, flow, "Data in flight", "in flight, segments", "inflight", curves)


def rtt(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the RTT of each packet over time, the samples whose mean is rtt_mean_ms, with the RTT of the idle path."""
    sampled = [one for one in flows_of(results, run, flow) if f"rtt/{one}" in results.tables(run)]
    if not sampled:
        raise ResultsError(
            "no RTT samples were kept: no packet was acknowledged, or an earlier version made the results"
        )

    def curves(one: str, _: pl.DataFrame, style: Look) -> list[Curve]:
        samples = results.table(run, f"rtt/{one}")
        t, sample = samples["t_ns"].to_numpy() * 1e-9, samples["rtt_ns"].to_numpy() * 1e-6
        return [Curve(flow_label(run, one), style, t, sample)]

    reading = "From sending a packet that was sent once to the ACK or SACK that first covers it."
    picture = _of_flows(results, run, sampled, "RTT of each packet", "RTT, ms", "rtt", curves, sender=False,
                        reading=reading)  # fmt: skip
    return _with_idle_rtt(results, run, sampled, picture)


def srtt(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the smoothed round-trip time (srtt) of the senders over time, with the RTT of the idle path."""

    def curves(one: str, table: pl.DataFrame, style: Look) -> list[Curve]:
        t = table["t_ns"].to_numpy() * 1e-9
        return [Curve(flow_label(run, one), style, t, table["srtt_ns"].to_numpy() * 1e-6, kind="steps")]

    reading = "The average that the sender keeps of its RTT samples (RFC 6298); single samples vary more."
    picture = _of_flows(results, run, flow, "Smoothed RTT (srtt)", "srtt, ms", "srtt", curves, sender=False,
                        reading=reading)  # fmt: skip
    return _with_idle_rtt(results, run, flow, picture)


def _with_idle_rtt(results: Results, run: Run, flow: Sequence[str] | None, picture: Picture) -> Picture:
    """Add the RTT of the idle path as a line, if the flows have one value in common."""
    found = (_row(run, one).get("idle_rtt_ms") for one in flows_of(results, run, flow))
    idle = {round(float(value), 2) for value in found if isinstance(value, int | float)}
    if len(idle) != 1:
        return picture
    (panel,) = picture.panels
    begin, end = span_of(results, run)
    base = Curve("RTT of the idle path", "limit", np.array([begin, end]), np.repeat(list(idle), 2))
    return replace(picture, panels=[replace(panel, curves=[*panel.curves, base])])


def goodput(results: Results, run: Run, *, flow: Sequence[str] | None = None, window_s: float | None = None) -> Picture:
    """Draw the payload that reached the receivers, per window of time, with the rate of the bottleneck."""
    begin, end = span_of(results, run)
    edges = edges_of(begin, end, window_s or (end - begin) / WINDOWS)
    middle = (edges[:-1] + edges[1:]) / 2
    rates: list[Floats] = []

    def curves(one: str, table: pl.DataFrame, style: Look) -> list[Curve]:
        rate = rate_per_window(table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy(), edges)
        rates.append(rate * 1e-6)
        return [Curve(flow_label(run, one), style, middle, rate * 1e-6)]

    reading = "Bytes count when they reach the receiver, in order or not, each once: a retransmission that fills a " \
              "hole makes no spike."  # fmt: skip
    wide = f"goodput per {edges[1] - edges[0]:.3g} s, Mbit/s"
    picture = _of_flows(results, run, flow, "Goodput over time", wide, "goodput", curves, sender=False, reading=reading)
    (panel,) = picture.panels
    more = []
    if len(rates) > 1:
        more.append(Curve("total", "total", middle, np.sum(rates, axis=0)))
    busiest = max(run.queues, key=lambda row: row["utilization"] or 0.0, default=None)
    if busiest is not None:
        rate = np.repeat(busiest["capacity_bps"] * 1e-6, 2)
        more.append(Curve(f"mean rate of {busiest['name']}", "limit", np.array([begin, end]), rate))
    return replace(picture, panels=[replace(panel, curves=[*panel.curves, *more])])
