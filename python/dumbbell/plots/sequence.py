"""The time-sequence figure of a run, from the series of its flow and, if they were traced, its packets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.plots.flows_over_time import dropped, flow_label, flows_of, steps_at, title_of
from dumbbell.plots.spec import Floats, Picture
from dumbbell.plots.time_sequence import Strokes, TimeSequence, picture_of

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = ["sequence"]

SENT, RECEIVED, DROPPED = 0, 1, 2
"""Events of the table of packets."""
USUAL_RTT = 0.1
"""Round-trip time of a flow that has not measured one, s."""


def sequence(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the time-sequence graph of a flow: segments, ACKs, retransmissions; the whole run, and the first loss."""
    (one, *_) = flows_of(results, run, flow)
    table = results.table(run, f"flow/{one}")
    title = title_of(run, f"Time-sequence graph of {flow_label(run, one)}")
    if "packets" not in results.tables(run):
        reading = "Segments are the growth of snd_nxt; losses are marked at its value. Set trace.packets = true " \
                  "for single segments and retransmissions."  # fmt: skip
        return picture_of("sequence", title, reading, _of_series(table, dropped(results, run, one)))
    number = [row["name"] for row in run.flows].index(one)
    packets = results.table(run, "packets").filter(pl.col("flow") == 2 * number, pl.col("payload") > 0)
    found, connection = _of_packets(table, packets)
    reading = "Each stroke is a segment at the time it was sent. Ranges beyond a hole are drawn when they reach " \
              "the receiver, which reports them with SACK."  # fmt: skip
    if connection > 1:
        reading = f"Connection {connection} of the flow. {reading}"
    return picture_of("sequence", title, reading, found)


def _rtt(table: pl.DataFrame) -> float:
    srtt = table["srtt_ns"].to_numpy()
    known = srtt[~np.isnan(srtt)]
    return float(np.median(known)) * 1e-9 if known.size else USUAL_RTT


def _acked(table: pl.DataFrame) -> tuple[Floats, Floats]:
    return table["t_ns"].to_numpy() * 1e-9, table["snd_una"].to_numpy().astype(np.float64)


def _of_series(table: pl.DataFrame, drops: Floats) -> TimeSequence:
    t, snd_nxt = table["t_ns"].to_numpy() * 1e-9, table["snd_nxt"].to_numpy().astype(np.float64)
    before = np.concatenate(([0.0], np.maximum.accumulate(snd_nxt)[:-1])) if t.size else np.zeros(0)
    new = snd_nxt > before
    lost = (drops, steps_at(t, snd_nxt, drops))
    sent = Strokes(t[new], before[new], snd_nxt[new])
    return TimeSequence(sent, Strokes(), _acked(table), _rtt(table), lost=lost)


def _of_packets(table: pl.DataFrame, packets: pl.DataFrame) -> tuple[TimeSequence, int]:
    """Return the largest connection of a flow, and its number."""
    largest = packets.group_by("connection").agg(pl.col("payload").sum()).sort("payload", "connection")
    connection = int(largest["connection"][-1]) if largest.height else 1
    rows = packets.filter(pl.col("connection") == connection)
    sent = rows.filter(pl.col("event") == SENT)
    lost = _strokes(rows.filter(pl.col("event") == DROPPED))
    times = rows["t_ns"].to_numpy() * 1e-9
    t, una = _acked(table)
    inside = (t >= times[0]) & (t <= times[-1] + 1.0) if times.size else np.ones(t.size, dtype=bool)
    found = TimeSequence(
        _strokes(sent.filter(pl.col("retransmission") == 0)),
        _strokes(sent.filter(pl.col("retransmission") == 1)),
        (t[inside], una[inside]),
        _rtt(table),
        selected=_beyond_holes(_strokes(rows.filter(pl.col("event") == RECEIVED))),
        selected_label="received beyond a hole",
        lost=(lost.t, (lost.low + lost.high) / 2),
    )
    return found, connection


def _strokes(rows: pl.DataFrame) -> Strokes:
    low = rows["number"].to_numpy().astype(np.float64)
    return Strokes(rows["t_ns"].to_numpy() * 1e-9, low, low + rows["payload"].to_numpy())


def _beyond_holes(arrived: Strokes) -> Strokes:
    """Select the segments that arrived while an earlier byte was missing."""
    expected = 0.0
    waiting: dict[float, float] = {}
    beyond = np.zeros(arrived.t.size, dtype=bool)
    for k, (low, high) in enumerate(zip(arrived.low.tolist(), arrived.high.tolist(), strict=True)):
        if low > expected:
            beyond[k] = True
            waiting[low] = max(high, waiting.get(low, 0.0))
            continue
        expected = max(expected, high)
        while (end := waiting.pop(expected, None)) is not None:
            expected = max(expected, end)
    return Strokes(arrived.t[beyond], arrived.low[beyond], arrived.high[beyond])
