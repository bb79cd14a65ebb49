"""Boxes beside the report's runs, I/O graphs, packet lengths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.studies.shared import LABELS
from dumbbell.studies.video_real_traffic.claims import REPORTED, of_report
from dumbbell.studies.video_real_traffic.data import (
    CLIENT,
    METRICS,
    RETRANSMISSIONS,
    SERVER,
    THRESHOLD,
    VARIANTS,
    Shaped,
)

__all__ = ["pictures"]

X = np.arange(len(VARIANTS), dtype=np.float64)
NAMES = [LABELS[v] for v in VARIANTS]


def pictures(queue: Shaped, policer: Shaped, reported: Mapping[str, Any]) -> list[Picture]:
    """Draw all of it."""
    return [
        *(_boxes(queue, policer, reported, m, k) for k, m in enumerate(REPORTED)),
        _spikes(queue, policer),
        *(_io(queue, v, 6 + k) for k, v in enumerate(VARIANTS)),
        _lengths(queue),
    ]


def _box(label: str, look: str, samples: list[Any]) -> Curve:
    dots = np.array(samples, dtype=np.float64)
    return Curve(label, look, X, np.median(dots, axis=1), dots=dots, kind="box")


def _boxes(queue: Shaped, policer: Shaped, reported: Mapping[str, Any], metric: str, number: int) -> Picture:
    table = {v: of_report(reported, metric, v) for v in VARIANTS}
    own = _box("report", "sfq", [table[v] for v in VARIANTS])
    queued = [
        own,
        _box("variant at the server", "reno", [queue.get(metric, SERVER, v) for v in VARIANTS]),
        _box("variant at the client", "newreno", [queue.get(metric, CLIENT, v) for v in VARIANTS]),
    ]
    policed = [own, _box("variant at the server", "reno", [policer.get(metric, SERVER, v) for v in VARIANTS])]
    panels = [
        Panel(words, "variant", METRICS[metric], curves, categories=NAMES)
        for words, curves in (("shaped by a queue", queued), ("shaped by a policer", policed))
    ]
    middle = {v: float(np.median(queue.get(metric, SERVER, v))) for v in VARIANTS}
    listed = ", ".join(f"{LABELS[v]} {x:.4g} (report {np.median(table[v]):.4g})" for v, x in middle.items())
    name = f"fig{number + 1}-{REPORTED[metric].replace('_', '-')}"
    title = f"Congested link: {METRICS[metric]}"
    return Picture(name, title, f"Median with a queue and the variant at the server: {listed}.", panels, columns=2)


def _spikes(queue: Shaped, policer: Shaped) -> Picture:
    panels = []
    for metric in ("spikes", "largest spike"):
        curves = [
            _box("queue, variant at the server", "reno", [queue.get(metric, SERVER, v) for v in VARIANTS]),
            _box("policer, variant at the server", "sack", [policer.get(metric, SERVER, v) for v in VARIANTS]),
        ]
        panels.append(Panel(f"{queue.n} runs each", "variant", METRICS[metric], curves, categories=NAMES))
    most = {v: summarize(queue.get("largest spike", SERVER, v)).value for v in VARIANTS}
    listed = ", ".join(f"{LABELS[v]} {x:.0f}" for v, x in most.items())
    reading = f"Most packets in a second, median with a queue: {listed}."
    return Picture("fig5-spikes", "Spikes of packets per second", reading, panels, columns=2)


def _io(queue: Shaped, variant: str, number: int) -> Picture:
    """Draw packets and retransmissions per second of the first run."""
    capture = queue.captures[SERVER, variant][0]
    t, counts = queue.total(SERVER, variant)
    again = capture.packets.filter(pl.any_horizontal(pl.col(n) for n in RETRANSMISSIONS)).select("t_ns").collect()
    lost, _ = np.histogram(again["t_ns"].to_numpy() * 1e-9, np.arange(counts.size + 1))
    panel = Panel(
        "first run, variant at the server",
        "time (s)",
        "packets/s",
        [
            Curve("all packets", "reno", t, counts),
            Curve("retransmissions", "drop", t, lost.astype(np.float64)),
            Curve(f"threshold of a spike, {THRESHOLD:g}", "cbr", t, np.full(t.size, THRESHOLD)),
        ],
    )
    reading = f"At most {counts.max():.0f} packets in a second; {lost.sum()} retransmissions, at most {lost.max()}."
    return Picture(
        f"fig{number}-io-{variant}", f"I/O graph at the client, {LABELS[variant]}", reading, [panel], markers=False
    )


def _lengths(queue: Shaped) -> Picture:
    curves = []
    for v in VARIANTS:
        rows = queue.captures[SERVER, v][0].lengths.slice(1)
        share = rows["percent"].cast(pl.Float64).fill_null(0.0).to_numpy()
        curves.append(Curve(LABELS[v], v, np.arange(rows.height, dtype=np.float64), np.asarray(share), kind="bars"))
    words = [str(title) for title in rows["title"]]
    panel = Panel("first run", "length of the packet (bytes)", "share of packets (%)", curves, categories=words)
    data = queue.captures[SERVER, "cubic"][0].lengths.row(0, named=True)
    reading = (
        f"Two kinds: full segments and bare ACKs; {data['average']:.0f} bytes in the mean, {data['max']:.0f} at "
        "most. Nothing merges packets here: the report's averages above 3000 bytes come from the receiving host's "
        "offload."
    )
    return Picture("fig9-lengths", "Packet lengths at the client", reading, [panel])
