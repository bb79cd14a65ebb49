"""The shaped link beside the report's runs, packet lengths, spikes, signals; I/O graphs are in `graphs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.plots import Curve, Panel, Picture
from dumbbell.studies.reference import points
from dumbbell.studies.shared import LABELS
from dumbbell.studies.video_real_traffic.data import CLIENT, METRICS, SERVER, VARIANTS
from dumbbell.studies.video_real_traffic.experiments import MERGED, WIRE, Experiments
from dumbbell.studies.video_real_traffic.fits import fit_picture
from dumbbell.studies.video_real_traffic.graphs import graphs
from dumbbell.studies.video_real_traffic.player import QUIC, player_pictures
from dumbbell.studies.video_real_traffic.player_captures import captured_pictures
from dumbbell.studies.video_real_traffic.reported import REPORTED, of_report, wifi_of_report
from dumbbell.studies.video_real_traffic.tables import SIGNAL

__all__ = ["pictures"]

X = np.arange(len(VARIANTS), dtype=np.float64)
NAMES = [LABELS[v] for v in VARIANTS]
REPORT = "report"
AXES = {
    "queue": (("delay", "queue"), ("loss",)),
    "policer": (("delay", "burst"), ("loss",)),
    "wifi": (("page loads", "page"), ("segments",)),
}
"""Rows and columns of the pictures of the fits."""


def pictures(found: Experiments, reported: Mapping[str, Any]) -> list[Picture]:
    """Draw all of it."""
    return [
        *(_boxes(found, reported, m, k) for k, m in enumerate(REPORTED)),
        *player_pictures(found.player, reported),
        *captured_pictures(found.player, reported),
        _properties(found, reported),
        _spikes(found, reported),
        *(_lengths(found, reported, v) for v in VARIANTS),
        _signal(found, reported),
        *graphs(found, reported),
        *(fit_picture(fit, *AXES[name]) for name, fit in found.fits.items()),
    ]


def _box(label: str, look: str, samples: Sequence[npt.ArrayLike]) -> Curve:
    dots = np.array(samples, dtype=np.float64)
    return Curve(label, look, X, np.median(dots, axis=1), dots=dots, kind="box")


def _boxes(found: Experiments, reported: Mapping[str, Any], metric: str, number: int) -> Picture:
    table = {v: of_report(reported, metric, v) for v in VARIANTS}
    own = _box(REPORT, REPORT, [table[v] for v in VARIANTS])
    queued = [
        own,
        _box("variant at the server", "reno", [found.queue.get(metric, SERVER, v) for v in VARIANTS]),
        _box("variant at the client", "newreno", [found.queue.get(metric, CLIENT, v) for v in VARIANTS]),
    ]
    shapers = {"shaped by a queue": queued}
    if found.policer.settings:
        policed = [found.policer.get(metric, SERVER, v) for v in VARIANTS]
        shapers["shaped by a policer"] = [own, _box("variant at the server", "reno", policed)]
    panels = [Panel(words, "variant", METRICS[metric], curves, categories=NAMES) for words, curves in shapers.items()]
    middle = {v: float(np.median(found.queue.get(metric, SERVER, v))) for v in VARIANTS}
    listed = ", ".join(f"{LABELS[v]} {x:.4g} (report {np.median(table[v]):.4g})" for v, x in middle.items())
    name = f"fig{number + 1}-{REPORTED[metric].replace('_', '-')}"
    title = f"Congested Ethernet: {METRICS[metric]}"
    return Picture(name, title, f"Median with a queue and the variant at the server: {listed}.", panels, columns=2)


def _medians(values: Sequence[npt.NDArray[np.float64]], label: str, look: str) -> Curve:
    """Mark the medians of the variants, with the range of the runs."""
    low, middle, high = (np.array([f(x) for x in values]) for f in (np.min, np.median, np.max))
    return Curve(label, look, X, middle, low, high, kind="points")


def _panel(title: str, metric: str, curves: Sequence[Curve]) -> Panel:
    """Make a panel of points by variant, with room above the highest."""
    most = max(float(np.max(c.y if c.high is None else c.high)) for c in curves)
    return Panel(title, "variant", METRICS[metric], curves, categories=NAMES, y_top=1.1 * most)


def _properties(found: Experiments, reported: Mapping[str, Any]) -> Picture:
    own = {v: wifi_of_report(reported, v) for v in VARIANTS}
    panels = []
    for metric in ("packets", "packet size", "throughput"):
        curves = [
            _medians([found.wifi.get(metric, "Wi-Fi", s, v) for v in VARIANTS], f"segments of {s}", look)
            for s, look in ((MERGED, "reno"), (WIRE, "newreno"))
        ]
        curves.append(points(X, [own[v][metric] for v in VARIANTS], "capture file properties"))
        panels.append(_panel(METRICS[metric], metric, curves))
    merged, wire = (np.median(found.wifi.get("packets", "Wi-Fi", s, "cubic")) for s in (MERGED, WIRE))
    reading = (
        f"With segments of {MERGED} CUBIC's capture has {merged:.0f} packets (report {own['cubic']['packets']:.0f}), "
        f"with those on the wire {wire:.0f}."
    )
    return Picture("wifi-properties", "Capture file properties over Wi-Fi", reading, panels, columns=3)


def _spikes(found: Experiments, reported: Mapping[str, Any]) -> Picture:
    panels = []
    for access in ("Wi-Fi", "Ethernet"):
        for metric in ("spikes", "largest spike"):
            values = [found.wifi.get(metric, access, MERGED, v) for v in VARIANTS]
            table = reported[metric.replace(" ", "_")][access]
            curves = [
                _medians(values, "here", "reno"),
                points(X, [table[v] for v in VARIANTS], "total spikes, max spike"),
            ]
            panels.append(_panel(f"{access}: {metric}", metric, curves))
    most = {v: float(np.median(found.wifi.get("largest spike", "Wi-Fi", MERGED, v))) for v in VARIANTS}
    listed = ", ".join(
        f"{LABELS[v]} {x:.0f} (report {reported['largest_spike']['Wi-Fi'][v]:g})" for v, x in most.items()
    )
    return Picture(
        "spikes", "Spikes over the fast access", f"Most packets in a second over Wi-Fi: {listed}.", panels, columns=2
    )


def _lengths(found: Experiments, reported: Mapping[str, Any], variant: str) -> Picture:
    shares, curves = {}, []
    captures = {
        f"segments of {MERGED}": (found.wifi.captures["Wi-Fi", MERGED, variant][0], "reno"),
        f"segments of {WIRE}": (found.wifi.captures["Wi-Fi", WIRE, variant][0], "newreno"),
    }
    if found.player.has("Wi-Fi", QUIC):
        captures["QUIC"] = (found.player.captured.captures["Wi-Fi", QUIC][0], "vegas")
    for what, (capture, look) in captures.items():
        rows = capture.lengths.slice(1)
        shares[what] = rows["percent"].cast(pl.Float64).fill_null(0.0).to_numpy()
        at = np.arange(rows.height, dtype=np.float64)
        curves.append(Curve(what, look, at, np.asarray(shares[what]), kind="bars"))
    for protocol, second in (("tcp", False), ("quic", True)):
        table = reported["lengths"][protocol][variant]["percent"][1:]
        curves.append(points(at, table, f"packet lengths over {protocol.upper()}", second=second))
    words = [str(title).replace(" and greater", "+") for title in rows["title"]]
    panel = Panel("first run", "length of the packet (bytes)", "share of packets (%)", curves, categories=words)
    merged, wire, *quic = (share[-1] for share in shares.values())
    over_quic = f", {quic[0]:.1f} % over QUIC (CUBIC, the player)" if quic else ""
    own = reported["lengths"]["tcp"][variant]["percent"][-1]
    reading = (
        f"{LABELS[variant]}: {merged:.1f} % of the packets here have 5120 bytes or more with merged segments (report "
        f"{own:.1f} %), {wire:.1f} % with those on the wire{over_quic}."
    )
    return Picture(f"packet-lengths-{variant}", f"Packet lengths over Wi-Fi, {LABELS[variant]}", reading, [panel])


def _signal(found: Experiments, reported: Mapping[str, Any]) -> Picture:
    panels = []
    for signal in ("weak", "strong"):
        loss = found.losses[signal]
        for column, metric in SIGNAL.items():
            table = reported["signal"][signal][column]
            curves = [
                _medians([found.signal.get(metric, loss, v) for v in VARIANTS], "here", "reno"),
                points(X, [table[v] for v in VARIANTS], "median metrics"),
            ]
            panels.append(_panel(f"{signal} signal, {loss} loss", metric, curves))
    most = {
        s: float(np.median(found.signal.get("duplicate ACKs", found.losses[s], "vegas"))) for s in ("weak", "strong")
    }
    own = {s: reported["signal"][s]["duplicate_acks"]["vegas"] for s in most}
    listed = ", ".join(f"{s} signal {x:.0f} (report {own[s]:g})" for s, x in most.items())
    title = "Median metrics by signal strength"
    picture = Picture("signal", title, f"Duplicate ACKs of Vegas, predicted: {listed}.", panels, columns=3)
    return replace(picture, note="The losses are those with CUBIC's duplicate ACKs of the report.")
