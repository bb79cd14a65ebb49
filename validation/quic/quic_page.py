"""Tables and the figure of docs/explanations/quic-beside-quinn.md, from the runs of quic_beside.py."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell.plots import Curve, Panel, Picture, save
from dumbbell.report.tables import OUTSIDE, Table, write_tables

DOCS = Path(__file__).resolve().parents[2] / "docs"
SHOWN = "base"
"""The condition of the figure, whose rule has no exceptions."""
GOODPUT = 0.02
DROPS = 0.10
LEAST_DROPS = 3.0
"""A difference of so few drops is a difference of one episode."""
SAMPLE = 0.02
"""Interval of the samples of cwnd, s."""
NAMES = {"reno": "Reno", "veno": "Veno", "vegas": "Vegas", "cubic": "CUBIC"}

Curves = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True)
class Cell:
    """One condition and variant: means of Dumbbell's endpoint and of a peer.

    Attributes
    ----------
    goodput, peer_goodput : float, Mbit/s
    drops, peer_drops : float
        Packets that the bottleneck dropped or lost at random.
    bytes, peer_bytes : float
        Mean payload of a sent packet, bytes.
    """

    peer: str
    condition: str
    variant: str
    seeds: int
    goodput: float
    peer_goodput: float
    drops: float
    peer_drops: float
    queueing_ms: float
    peer_queueing_ms: float
    bytes: float
    peer_bytes: float

    @property
    def outside(self) -> list[str]:
        """The quantities outside of the rule."""
        found = []
        if abs(self.goodput - self.peer_goodput) > GOODPUT * self.peer_goodput:
            found.append("goodput")
        if abs(self.drops - self.peer_drops) > max(DROPS * self.peer_drops, LEAST_DROPS):
            found.append("drops")
        return found


def _percent(own: float, other: float) -> str:
    return f"{100 * (own / other - 1):+.1f}" if other else "0.0"


def _row(cell: Cell) -> list[str]:
    missed = cell.outside
    return [
        cell.condition,
        NAMES[cell.variant],
        f"{cell.goodput:.3f}",
        f"{cell.peer_goodput:.3f}",
        _percent(cell.goodput, cell.peer_goodput),
        f"{cell.drops:.4g}",
        f"{cell.peer_drops:.4g}",
        f"{cell.queueing_ms:.1f}",
        f"{cell.peer_queueing_ms:.1f}",
        f"{cell.bytes:.0f}",
        f"{cell.peer_bytes:.0f}",
        f"{' and '.join(missed)} differ" if missed else "within",
        "verdict" if missed else "",
    ]


def table(cells: Sequence[Cell], peer: str) -> Table:
    """One row per condition and variant."""
    titles = [
        "goodput (Mbit/s)",
        peer,
        "difference (%)",
        "drops",
        f"drops, {peer}",
        "queueing (ms)",
        f"queueing, {peer}",
        "bytes per packet",
        f"bytes, {peer}",
    ]
    return Table(["condition", "variant", *titles, "verdict", OUTSIDE], [_row(c) for c in cells if c.peer == peer])


def summary(cells: Sequence[Cell]) -> Table:
    """Count the cells within the rule."""
    rows = []
    for peer in dict.fromkeys(c.peer for c in cells):
        own = [c for c in cells if c.peer == peer]
        within = [c for c in own if not c.outside]
        goodput = sorted(abs(c.goodput / c.peer_goodput - 1) for c in own)
        rows.append([peer, str(len(own)), str(len(within)), f"{100 * goodput[len(goodput) // 2]:.1f}"])
    return Table(["beside", "cells", "within the rule", "median difference of goodput (%)"], rows)


def handshake_table(handshakes: Sequence[Mapping[str, Any]]) -> Table:
    """Times of the handshake and of a page, in round trips and ms."""
    rows = []
    for h in handshakes:
        times = [h["established_ms"][0], h["request_ms"], h["response_ms"], h["end_ms"]]
        name = {"own": "Dumbbell"}.get(h["peer"], h["peer"])
        rows.append([str(h["rtt_ms"]), name, *(f"{t:.2f}" for t in times)])
    titles = ["client established (ms)", "request read (ms)", "first byte (ms)", "100 kB read (ms)"]
    return Table(["RTT (ms)", "endpoint", *titles], rows)


def reasons_table(reasons: Sequence[Mapping[str, Any]]) -> Table:
    """Why cells are outside of the rule."""
    rows = [[r["peer"], r["condition"], ", ".join(NAMES[v] for v in r["variants"]), r["why"]] for r in reasons]
    return Table(["beside", "condition", "variants", "reason"], rows)


def picture(curves: Curves) -> Picture:
    """Windows over time, a panel for each variant."""
    panels = []
    for variant, sides in curves.items():
        drawn = []
        for look, label, side in ((f"{variant}:ns2", "quinn", "quinn"), (variant, "Dumbbell", "own")):
            y = np.array(sides[side], dtype=np.float64)
            drawn.append(Curve(label, look, np.arange(len(y), dtype=np.float64) * SAMPLE, y))
        panels.append(Panel(NAMES[variant], "time, s", "cwnd, packets", drawn))
    title = "Congestion window over time: Dumbbell's QUIC endpoint and quinn, 10 Mbit/s, 40 ms, 100 packets"
    return Picture("quic-beside-quinn", title, "", panels, columns=2, markers=False)


def tables(
    cells: Sequence[Cell], handshakes: Sequence[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]
) -> dict[str, Table]:
    """The tables of the page."""
    found = {f"beside-{peer}": table(cells, peer) for peer in dict.fromkeys(c.peer for c in cells)}
    base = [c for c in cells if c.condition == SHOWN]
    found["beside-base"] = table(base, "quinn")
    found["beside-summary"] = summary(cells)
    found["beside-reasons"] = reasons_table(reasons)
    found["handshakes"] = handshake_table(handshakes)
    return found


def write(found: Mapping[str, Table], curves: Curves) -> None:
    """Renew docs/data/quic and the figure."""
    write_tables(DOCS / "data" / "quic", found)
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(save(picture(curves), place).png, DOCS / "img")
