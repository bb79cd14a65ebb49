"""Figures of a capture: rates, errors, packet lengths, RTTs, bytes in flight with phases, sequence numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.capture.capture import Capture
from dumbbell.capture.output import name_of
from dumbbell.capture.sequence import sequence
from dumbbell.common.words import counted
from dumbbell.plots.flows_over_time import AFTER_TIMEOUT
from dumbbell.plots.spec import Curve, Panel, Picture, Span

__all__ = ["LONGEST", "inflight_panel", "pictures", "talkers", "with_gaps"]

Floats = npt.NDArray[np.float64]

LONGEST = 6
"""Connections drawn at most: those that carried the most payload."""
WINDOWS = 200
"""Windows at most over which rates are drawn: in shorter ones single packets decide."""
LOOKS = ("reno", "newreno", "sack", "vegas", "tahoe", "cubic")


def talkers(capture: Capture, most: int = LONGEST) -> pl.DataFrame:
    """Return the directions of connections that carried the most payload, one row each."""
    rows = capture.tables.rows("flows", capture.tables.largest(most))
    return (
        rows.filter(pl.col("payload_bytes") > 0).sort("payload_bytes", descending=True, maintain_order=True).head(most)
    )


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
        yield sequence(capture, row, name_of(row))


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


def _window(capture: Capture) -> tuple[int, float]:
    """Return the length of the windows of rates, in intervals of the series and in seconds."""
    every = _places(capture.total, capture.interval_s)
    count = max(1, int(np.ceil((np.ptp(every) + 1) / WINDOWS))) if every.size else 1
    return count, count * capture.interval_s


def _middle(place: npt.NDArray[np.int64], step: float) -> Floats:
    """Return the times of the middles of intervals, s."""
    return np.asarray((place + 0.5) * step, dtype=np.float64)


def _places(table: pl.DataFrame, step: float) -> npt.NDArray[np.int64]:
    return np.rint(table["t_ns"].to_numpy() * 1e-9 / step).astype(np.int64)


def _times(table: pl.DataFrame, step: float) -> Floats:
    return np.asarray(table["t_ns"].to_numpy() * 1e-9 + step / 2)


def _io(capture: Capture) -> Picture:
    """Draw packets per second: all packets, and those with an error label."""
    count, step = _window(capture)
    at, packets = with_gaps(
        _places(capture.total, capture.interval_s) // count, capture.total["packets"].to_numpy() / step
    )
    # Every interval of the series is also an interval of the total.
    found = capture.errors
    every = np.concatenate((_places(found, capture.interval_s) // count, at))
    wrong = np.concatenate((found["errors"].to_numpy() / step, np.zeros(len(at))))
    when, errors = with_gaps(every, wrong)
    curves = [
        Curve("all packets", "total", _middle(at, step), packets),
        Curve("packets with an error label", "drop", _middle(when, step), errors),
    ]
    top = f"{errors.max():.4g} at {when[errors.argmax()] * step:.4g} s" if errors.max(initial=0) > 0 else "none"
    reading = f"{packets.max(initial=0):.4g} packets/s at most; error packets/s at most: {top}."
    panel = Panel("", "time, s", "packets/s", curves)
    note = f"Packets are counted in windows of {step:.3g} s."
    return Picture("io-graph", "Packets and errors over time", reading, [panel], markers=False, note=note)


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
    return capture.tables.rows("series", [int(str(row["flow"]))]).filter(pl.col("direction") == side).sort("t_ns")


def _rates(capture: Capture, rows: list[dict[str, object]]) -> Picture:
    count, step = _window(capture)
    curves = []
    for n, row in enumerate(rows):
        table = _of(capture, row)
        place, values = with_gaps(
            _places(table, capture.interval_s) // count, table["new_bytes"].to_numpy().astype(np.float64)
        )
        curves.append(Curve(name_of(row), LOOKS[n], _middle(place, step), values * 8e-6 / step))
    panel = Panel("", "time, s", "goodput, Mbit/s", curves)
    best = max(rows, key=lambda r: float(r["goodput_bps"] or 0))  # type: ignore[arg-type]
    reading = (
        f"Fastest on average: {name_of(best)}, "
        f"{float(best['goodput_bps'] or 0) * 1e-6:.4g} Mbit/s."  # type: ignore[arg-type]
    )
    note = f"Goodput in windows of {step:.3g} s."
    return Picture("goodput", "Goodput over time", reading, [panel], markers=False, note=note)


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
    panel = Panel("", "time, s", "RTT samples, ms", curves)
    reading = "Line: mean of the samples of an interval; band: smallest to largest. A sample is the time from a " \
              "segment that was sent once to the ACK that ends at it."  # fmt: skip
    return Picture("rtt", "RTT samples over time", reading, [panel], markers=False)


def inflight_panel(capture: Capture, row: dict[str, object], title: str = "", until: float = np.inf) -> Panel:
    """Make the panel of bytes in flight of a sender with its phases, retransmissions and timeouts.

    Parameters
    ----------
    capture : Capture
    row : dict
        The sender's row of `Capture.flows`.
    title : str
    until : float, s
        Only what comes before this time.
    """
    end = pl.col("t_ns") * 1e-9 < until
    table = _of(capture, row).filter(end & pl.col("flight_max").is_not_null())
    x = _times(table, capture.interval_s)
    flight = table["flight_max"].to_numpy() * 1e-3
    curves = [Curve("bytes in flight", "reno", x, flight, kind="steps")]
    again = table["retransmission"].to_numpy() > 0
    if again.any():
        curves.append(Curve("retransmission", "retransmission", x[again], flight[again], kind="events"))
    spans = [replace(s, end=min(s.end, until)) for s in _phases(capture, row) if s.begin < until]
    counted = _of(capture, row).filter(end & (pl.col("timeouts") > 0))
    if counted.height and x.size:
        times = np.repeat(_times(counted, capture.interval_s), counted["timeouts"].to_numpy())
        near = np.clip(np.searchsorted(x, times), 0, len(x) - 1)
        curves.append(Curve("timeout", "timeout event", times, flight[near], kind="events"))
    return Panel(title, "time, s", "in flight, kB", curves, spans=spans)


def _inflight(capture: Capture, row: dict[str, object]) -> Picture:
    """Draw bytes in flight with the sender's phases, losses and timeouts."""
    panel = inflight_panel(capture, row)
    most = panel.curves[0].y.max(initial=0)
    reading = f"At most {most:.4g} kB in flight; {counted(row['retransmitted_packets'], 'packet')} sent again, " \
              f"{counted(row['timeouts'], 'timeout')}."  # fmt: skip
    name = f"inflight-{row['flow']}-{row['direction']}"
    return Picture(name, f"Bytes in flight, {name_of(row)}", reading, [panel], markers=False)


def _phases(capture: Capture, row: dict[str, object]) -> Iterator[Span]:
    mine = capture.tables.rows("phases", [int(str(row["flow"]))]).filter(pl.col("direction") == row["direction"])
    for phase in mine.iter_rows(named=True):
        word = str(phase["phase"])
        begin, end = phase["start_ns"] * 1e-9, phase["end_ns"] * 1e-9
        if end > begin:
            yield Span(begin, end, AFTER_TIMEOUT if word == "timeout" else word, word)
