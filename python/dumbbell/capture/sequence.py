"""The time-sequence figure of one direction of a connection in a capture.

Up to `MOST` frames the figure has every segment. A larger capture would have to be read once more and kept; its
figure is made of the intervals of `Capture.series`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.capture.capture import Capture
from dumbbell.plots.spec import Picture
from dumbbell.plots.time_sequence import Strokes, TimeSequence, picture_of, unwrapped

__all__ = ["MOST", "sequence", "time_sequence"]

Floats = npt.NDArray[np.float64]

MOST = 1_000_000
"""Frames of a capture up to which single segments are drawn."""
USUAL_RTT_MS = 50.0
"""Round-trip time of a connection without a measured one, ms."""


def sequence(capture: Capture, row: dict[str, object], title: str) -> Picture:
    """Draw segments, ACKs, SACK blocks, retransmissions and the receive window of a direction.

    Parameters
    ----------
    capture : Capture
    row : dict
        A row of `Capture.flows`.
    title : str
        Name of the direction, for the title.
    """
    name = f"sequence-{row['flow']}-{row['direction']}"
    what = f"Time-sequence graph, {title}"
    if _has_segments(capture):
        reading = (
            "Each stroke is a segment at the time it was captured; retransmissions and segments out of order "
            "are those of the labels."
        )
    else:
        reading = f"Each stroke is the new data of {capture.interval_s:.3g} s."
    return picture_of(name, what, reading, time_sequence(capture, row))


def time_sequence(capture: Capture, row: dict[str, object]) -> TimeSequence:
    """Return the content of the figure of a direction, a row of `Capture.flows`."""
    return _of_packets(capture, row) if _has_segments(capture) else _of_series(capture, row)


def _has_segments(capture: Capture) -> bool:
    frames = sum(int(p["packets"]) for p in capture.properties)
    return frames <= MOST and "-" not in capture.files


def _rtt(row: dict[str, object]) -> float:
    """Return a round-trip time of the whole path, s."""
    known = [row.get(c) for c in ("rtt_p50_ms", "path_rtt_min_ms", "handshake_rtt_ms")]
    return max((float(v) for v in known if isinstance(v, int | float)), default=USUAL_RTT_MS) * 1e-3


def _of_series(capture: Capture, row: dict[str, object]) -> TimeSequence:
    mine = capture.tables.rows("series", [int(str(row["flow"]))])
    mine = mine.filter(pl.col("direction") == row["direction"]).sort("t_ns")
    t = mine["t_ns"].to_numpy() * 1e-9
    sent, acked, sacked = (
        np.maximum.accumulate(mine[c].to_numpy().astype(np.float64)) if mine.height else np.zeros(0)
        for c in ("seq_high", "ack_high", "sack_high")
    )
    before = np.concatenate(([0.0], sent[:-1])) if sent.size else sent
    new, again = sent > before, mine["retransmission"].to_numpy() > 0
    ahead = sacked > acked
    return TimeSequence(
        Strokes(t[new], before[new], sent[new]),
        Strokes(t[again], acked[again], acked[again]),
        (t, acked),
        _rtt(row),
        selected=Strokes(t[ahead], acked[ahead], sacked[ahead]),
    )


def _of_packets(capture: Capture, row: dict[str, object]) -> TimeSequence:
    of_flow = (pl.col("flow") == row["flow"]) & (pl.col("quoted") == 0)
    columns = ["frame", "t_ns", "direction", "len", "seq", "ack", "flags", "window", "retransmission", "out_of_order"]
    rows = capture.packets.filter(of_flow).select(columns).sort("t_ns", maintain_order=True).collect()
    mine = rows.filter((pl.col("direction") == row["direction"]) & (pl.col("len") > 0))
    low = unwrapped(mine["seq"])
    length = mine["len"].to_numpy().astype(np.float64)
    t = mine["t_ns"].to_numpy() * 1e-9
    again, late = mine["retransmission"].to_numpy(), mine["out_of_order"].to_numpy()
    back = rows.filter((pl.col("direction") != row["direction"]) & (pl.col("flags").cast(pl.Int64) // ACK % 2 == 1))
    acked_at, acked = back["t_ns"].to_numpy() * 1e-9, unwrapped(back["ack"])
    # The window of a SYN is not scaled, and that of a reset has no meaning.
    offers = (back["flags"].cast(pl.Int64).to_numpy() & (SYN | RST)) == 0
    size = back["window"].to_numpy().astype(np.float64)
    edge = acked[offers] + size[offers]
    closed = offers & (size == 0)
    highest = np.maximum.accumulate(acked) if acked.size else acked
    blocks = capture.sacks.filter((pl.col("flow") == row["flow"]) & (pl.col("duplicate") == 0)).collect()
    selected = blocks.join(back.select("frame", "t_ns"), on="frame").sort("t_ns", maintain_order=True)

    def part(chosen: npt.NDArray[np.bool_]) -> Strokes:
        return Strokes(t[chosen], low[chosen], low[chosen] + length[chosen])

    return TimeSequence(
        part(~again & ~late),
        part(again),
        (acked_at, highest),
        _rtt(row),
        late=part(late & ~again),
        selected=Strokes(
            selected["t_ns"].to_numpy() * 1e-9,
            selected["left"].to_numpy().astype(np.float64),
            selected["right"].to_numpy().astype(np.float64),
        ),
        window=(acked_at[offers], edge),
        closed=(acked_at[closed], acked[closed]),
    )


SYN, RST, ACK = 0x02, 0x04, 0x10
"""TCP flags [RFC 9293 §3.1]."""
