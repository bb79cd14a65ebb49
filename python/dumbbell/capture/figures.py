"""Figures of a capture: rates, errors, packet lengths, RTTs, bytes in flight with phases, sequence numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.capture.capture import Capture
from dumbbell.plots.spec import Curve, Panel, Picture, Span

__all__ = ["LONGEST", "name_of", "pictures", "talkers", "with_gaps"]

Floats = npt.NDArray[np.float64]

LONGEST = 6
"""Connections drawn at most: those that carried the most payload."""
LOOKS = ("reno", "newreno", "sack", "vegas", "tahoe", "cubic")


def talkers(capture: Capture, most: int = LONGEST) -> pl.DataFrame:
    """Return the directions of connections that carried the most payload, one row each."""
    return capture.flows.filter(pl.col("payload_bytes") > 0).sort("payload_bytes", descending=True).head(most)


def name_of(row: dict[str, object]) -> str:
    """Name a direction: ``#3 10.0.0.1:443 -> 10.0.0.2:5000``."""
    return f"#{row['flow']} {row['src']}:{row['src_port']} -> {row['dst']}:{row['dst_port']}"


def pictures(capture: Capture) -> Iterator[Picture]:
    """Draw the figures of a capture; those of connections only if a connection carried payload."""
    yield _io(capture)
    yield _lengths(capture)
    rows = list(talkers(capture).iter_rows(named=True))
    if not rows:
        return
    yield _rates(capture, rows)
    yield _rtt(capture, rows)
    for row in rows[: LONGEST // 2]:
        yield _inflight(capture, row)
        yield _sequence(capture, row)


def with_gaps(place: npt.NDArray[np.int64], values: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Sum values by interval, and put a zero at both ends of each gap: a gap of any length adds at most two rows.

    Parameters
    ----------
    place : (n,) int64
        Numbers of intervals, in any order.
    values : (n,) float64, any unit

    Returns
    -------
    place, values : (m,) int64, (m,) float64
        In order, each place once.
    """
    known, which = np.unique(place, return_inverse=True)
    sums = np.bincount(which, weights=values, minlength=len(known))
    jumps = np.flatnonzero(np.diff(known) > 1)
    zeros = np.unique(np.concatenate((known[jumps] + 1, known[jumps + 1] - 1)))
    whole = np.concatenate((known, zeros))
    order = np.argsort(whole)
    filled = np.concatenate((sums, np.zeros(len(zeros))))[order]
    return whole[order], np.asarray(filled, dtype=np.float64)


def _middle(place: npt.NDArray[np.int64], step: float) -> Floats:
    """Return the times of the middles of intervals, s."""
    return np.asarray((place + 0.5) * step, dtype=np.float64)


def _places(table: pl.DataFrame, step: float) -> npt.NDArray[np.int64]:
    return np.rint(table["t_ns"].to_numpy() * 1e-9 / step).astype(np.int64)


def _times(table: pl.DataFrame, step: float) -> Floats:
    return np.asarray(table["t_ns"].to_numpy() * 1e-9 + step / 2)


def _io(capture: Capture) -> Picture:
    """Draw packets per second: all packets, and those with an error label."""
    step = capture.interval_s
    at, packets = with_gaps(_places(capture.total, step), capture.total["packets"].to_numpy() / step)
    # Every interval of the series is also an interval of the total.
    every = np.concatenate((_places(capture.series, step), at))
    wrong = np.concatenate((capture.series["errors"].to_numpy() / step, np.zeros(len(at))))
    when, errors = with_gaps(every, wrong)
    curves = [
        Curve("all packets", "total", _middle(at, step), packets),
        Curve("packets with an error label", "drop", _middle(when, step), errors),
    ]
    top = f"{errors.max():.4g} at {when[errors.argmax()] * step:.4g} s" if errors.max(initial=0) > 0 else "none"
    reading = f"{packets.max(initial=0):.4g} packets/s at most; error packets per second at most: {top}."
    panel = Panel("", "time, s", f"packets/s per {step:.3g} s", curves)
    return Picture("io-graph", "Packets and errors over time", reading, [panel], markers=False)


def _lengths(capture: Capture) -> Picture:
    rows = capture.lengths.slice(1)  # the first is the total
    words = [str(t) for t in rows["title"]]
    share = rows["percent"].cast(pl.Float64).fill_null(0.0).to_numpy()
    curve = Curve("packets", "reno", np.arange(len(words), dtype=np.float64), np.asarray(share), kind="bars")
    panel = Panel("", "length of the frame, bytes", "share of packets, %", [curve], categories=words)
    most = words[int(share.argmax())] if words else "-"
    reading = f"Most frequent: {most} bytes ({share.max(initial=0):.1f} %)."
    return Picture("lengths", "Packet lengths", reading, [panel])


def _of(capture: Capture, row: dict[str, object], direction: int | None = None) -> pl.DataFrame:
    side = row["direction"] if direction is None else direction
    return capture.series.filter((pl.col("flow") == row["flow"]) & (pl.col("direction") == side)).sort("t_ns")


def _rates(capture: Capture, rows: list[dict[str, object]]) -> Picture:
    step = capture.interval_s
    curves = []
    for n, row in enumerate(rows):
        table = _of(capture, row)
        x, y = _filled(table, "new_bytes", step)
        curves.append(Curve(name_of(row), LOOKS[n], x, y * 8e-6 / step))
    panel = Panel("", "time, s", f"goodput per {step:.3g} s, Mbit/s", curves)
    best = max(rows, key=lambda r: float(r["goodput_bps"] or 0))  # type: ignore[arg-type]
    reading = f"Fastest on average: {name_of(best)}, {float(best['goodput_bps'] or 0) * 1e-6:.4g} Mbit/s."  # type: ignore[arg-type]
    return Picture("goodput", "Goodput over time", reading, [panel], markers=False)


def _filled(table: pl.DataFrame, column: str, step: float) -> tuple[Floats, Floats]:
    """Return a column over all intervals; 0 in intervals without a segment."""
    place, values = with_gaps(_places(table, step), table[column].to_numpy().astype(np.float64))
    return _middle(place, step), values


def _rtt(capture: Capture, rows: list[dict[str, object]]) -> Picture:
    curves = []
    for n, row in enumerate(rows):
        table = _of(capture, row).filter(pl.col("rtt_mean_ms").is_not_null())
        if table.height:
            low, high = (table[c].to_numpy() for c in ("rtt_min_ms", "rtt_max_ms"))
            x = _times(table, capture.interval_s)
            curves.append(Curve(name_of(row), LOOKS[n], x, table["rtt_mean_ms"].to_numpy(), low, high))
    if not curves:
        curves = [Curve("no round trip seen", "total", np.zeros(0), np.zeros(0))]
    panel = Panel("", "time, s", "RTT from ACKs, ms", curves)
    reading = "Line: mean of an interval; band: smallest to largest."
    return Picture("rtt", "Round-trip times over time", reading, [panel], markers=False)


def _inflight(capture: Capture, row: dict[str, object]) -> Picture:
    """Draw bytes in flight with the sender's phases, losses and timeouts."""
    table = _of(capture, row).filter(pl.col("flight_max").is_not_null())
    x = _times(table, capture.interval_s)
    flight = table["flight_max"].to_numpy() * 1e-3
    curves = [Curve("bytes in flight", "reno", x, flight, kind="steps")]
    for column, label, look in (("retransmission", "retransmission", "drop"),):
        hit = table[column].to_numpy() > 0
        if hit.any():
            curves.append(Curve(label, look, x[hit], flight[hit], kind="events"))
    spans = list(_phases(capture, row))
    timeouts = np.array([s.begin for s in spans if s.label == "timeout"])
    if timeouts.size and x.size:
        near = np.clip(np.searchsorted(x, timeouts), 0, len(x) - 1)
        curves.append(Curve("timeout", "timeout", timeouts, flight[near], kind="events"))
    panel = Panel("", "time, s", "in flight, kB", curves, spans=spans)
    most, again, timeouts_seen = flight.max(initial=0), row["retransmitted_packets"], row["timeouts"]
    reading = f"At most {most:.4g} kB in flight; {again} packets sent again, {timeouts_seen} timeouts."
    name = f"inflight-{row['flow']}-{row['direction']}"
    return Picture(name, f"Bytes in flight, {name_of(row)}", reading, [panel], markers=False)


def _phases(capture: Capture, row: dict[str, object]) -> Iterator[Span]:
    phases = capture.tables.get("phases")
    if phases is None or phases.is_empty():
        return
    mine = phases.filter((pl.col("flow") == row["flow"]) & (pl.col("direction") == row["direction"]))
    for phase in mine.iter_rows(named=True):
        word = str(phase["phase"])
        begin, end = phase["start_ns"] * 1e-9, phase["end_ns"] * 1e-9
        if end > begin:
            yield Span(begin, end, word, word)


def _sequence(capture: Capture, row: dict[str, object]) -> Picture:
    """Draw the time-sequence graph: sent, acknowledged, SACKed."""
    mine = _of(capture, row)
    x = _times(mine, capture.interval_s)
    sent, acked, sacked = (mine[c].to_numpy().astype(np.float64) for c in ("seq_high", "ack_high", "sack_high"))
    sent, acked = (np.maximum.accumulate(v) if v.size else v for v in (sent, acked))
    curves = [
        Curve("sent", "reno", x, sent * 1e-3, kind="steps"),
        Curve("acknowledged", "newreno", x, acked * 1e-3, kind="steps"),
    ]
    ahead = sacked > acked
    if ahead.any():
        curves.append(Curve("SACKed", "tahoe", x[ahead], sacked[ahead] * 1e-3, kind="points"))
    hit = mine["retransmission"].to_numpy() > 0
    if hit.any():
        curves.append(Curve("retransmission", "drop", x[hit], sent[hit] * 1e-3, kind="events"))
    panel = Panel("", "time, s", "sequence number, kB", curves)
    name = f"sequence-{row['flow']}-{row['direction']}"
    return Picture(name, f"Sequence numbers, {name_of(row)}", "", [panel], markers=False)
