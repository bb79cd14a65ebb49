"""The captures of the player's runs: the report's table of signals, its error packets and its lengths beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from dumbbell.plots import Picture
from dumbbell.report.finding import Table
from dumbbell.studies.video_real_traffic.data import METRICS
from dumbbell.studies.video_real_traffic.graphs import io_graph
from dumbbell.studies.video_real_traffic.player import NAMES, QUIC, RADIO, Played, slug

__all__ = ["captured_pictures", "captured_table"]

SIGNALS = {access: signal for signal, access in RADIO.items() if signal != "hall"}
COLUMNS = {"throughput": "throughput_kBps", "spikes": "peaks", "duplicate ACKs": "duplicate_acks"}
"""Metrics that the report's table of signals has, with its columns."""
LABELED = ("duplicate ACKs", "errors")
"""Metrics by Wireshark's labels, which encrypted QUIC has none of."""


def captured_table(found: Played, reported: Mapping[str, Any]) -> Table:
    """List what the captures of the player have, by access and variant, with the report's numbers in parentheses.

    Without figures of the report the numbers are alone.
    """
    rows = []
    for access in found.accesses:
        for v in found.variants(access):
            row = {"access": access, "variant": NAMES[v]}
            for metric in ("throughput", "spikes", "largest spike", "packets", "packet size", *LABELED):
                own = _own(reported, metric, access, v)
                x = float(np.median(found.seen(metric, access, v)))
                shown = "-" if v == QUIC and metric in LABELED else f"{x:.4g}"
                row[METRICS[metric]] = shown + ("" if own is None else f" ({own:g})")
            rows.append(row)
    numbers = "medians (the report's numbers)" if reported else "medians"
    title = f"Captures of the player, until the video ends: {numbers}; segments are those of the wire"
    return Table("player-captures", title, pl.DataFrame(rows))


def _own(reported: Mapping[str, Any], metric: str, access: str, variant: str) -> float | None:
    """Return the report's number for a cell, if it has one."""
    if not reported:
        return None
    if metric == "errors" and access.startswith("hall"):
        return float(reported["error_packets_per_s"]["tcp"]) if variant != QUIC else None
    if access not in SIGNALS or metric not in COLUMNS:
        return None
    table = reported["signal"][SIGNALS[access]][COLUMNS[metric]]
    return float(table[variant]) if variant in table else None


def captured_pictures(found: Played, reported: Mapping[str, Any]) -> list[Picture]:
    """Draw packets and error packets per second of the first run, for each access by radio or shaper."""
    most = reported["error_packets_per_s"] if reported else {}
    drawn = []
    for access in found.accesses:
        if access in {"Ethernet", "hall as rates"}:
            continue
        captures = {NAMES[v]: found.captured.captures[access, v][0] for v in found.variants(access)}
        variants = found.variants(access) if most and access.startswith("hall") else []
        wrong = {NAMES[v]: float(most["quic" if v == QUIC else "tcp"]) for v in variants}
        drawn.append(io_graph(f"player-io-{slug(access)}", f"the player, {access}", captures, wrong=wrong))
    return [*drawn, *_over_quic(found, most)] if most else drawn


def _over_quic(found: Played, most: Mapping[str, float]) -> list[Picture]:
    """Draw several runs over QUIC in the lecture hall, as the report does; their errors have no labels."""
    drawn = []
    for access, suffix in (("hall", ""), ("hall as rates", "-as-rates")):
        if found.has(access, QUIC):
            captures = {f"run {k + 1}": c for k, c in enumerate(found.captured.captures[access, QUIC])}
            title = f"QUIC in the lecture hall{', as rates' if suffix else ''}"
            drawn.append(io_graph(f"hall-quic{suffix}", title, captures, wrong=dict.fromkeys(captures, most["quic"])))
    return drawn
