"""The report's tables beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.report.finding import Table
from dumbbell.studies.shared import LABELS
from dumbbell.studies.video_real_traffic.changed import changed_table
from dumbbell.studies.video_real_traffic.data import CLIENT, METRICS, SERVER, VARIANTS, Captured
from dumbbell.studies.video_real_traffic.experiments import FITTED_ACKS, MERGED, WIRE, Experiments
from dumbbell.studies.video_real_traffic.fits import SHAPED_ON, WIFI_ON, error_of, fit_table
from dumbbell.studies.video_real_traffic.player import QUIC, player_table
from dumbbell.studies.video_real_traffic.player_captures import captured_table
from dumbbell.studies.video_real_traffic.reported import REPORTED, medians_of_report, of_report, wifi_of_report

__all__ = ["SIGNAL", "predictions", "tables"]

SIGNAL = {"throughput_kBps": "throughput", "peaks": "spikes", "duplicate_acks": "duplicate ACKs"}
"""The report's columns of its table of signals, and our metrics."""


def tables(found: Experiments, reported: Mapping[str, Any]) -> list[Table]:
    """Return all of them."""
    return [
        _medians(found, reported),
        *changed_table(found.queue, found.veno, reported),
        player_table(found.player, reported),
        captured_table(found.player, reported),
        _predicted(found, reported),
        _properties(found, reported),
        *(_lengths(found, reported, v) for v in VARIANTS),
        _spikes(found, reported),
        _signal(found, reported),
        _hall(found, reported),
        *(fit_table(fit) for fit in found.fits.values()),
    ]


def _shown(values: npt.ArrayLike) -> str:
    x = np.asarray(values, dtype=np.float64)
    return f"{np.median(x):.4g} ({x.min():.4g} to {x.max():.4g})" if x.size else "-"


def _middle(captured: Captured, metric: str, *key: str) -> str:
    x = captured.get(metric, *key)
    return f"{np.median(x):.4g}" if x.size else "-"


def _medians(found: Experiments, reported: Mapping[str, Any]) -> Table:
    rows = []
    for metric in REPORTED:
        for v in VARIANTS:
            rows.append(
                {
                    "metric": METRICS[metric],
                    "variant": LABELS[v],
                    "report": _shown(of_report(reported, metric, v)),
                    "queue, at the server": _shown(found.queue.get(metric, SERVER, v)),
                    "policer, at the server": _shown(found.policer.get(metric, SERVER, v)),
                    "queue, at the client": _shown(found.queue.get(metric, CLIENT, v)),
                }
            )
    title = f"Congested Ethernet: median (smallest to largest) of {found.queue.n} runs, beside the report's five"
    return Table("medians", title, pl.DataFrame(rows))


def predictions(found: Experiments, reported: Mapping[str, Any], variant: str) -> dict[str, float]:
    """Return the mean factor by which a variant's medians differ from the report's, for each setting that was run."""
    own = {m: x for m, x in medians_of_report(reported, variant).items() if m in SHAPED_ON}
    fast = {m: x for m, x in wifi_of_report(reported, variant).items() if m in WIFI_ON}
    errors = {}
    for name, captured, key, numbers in (
        ("queue, at the server", found.queue, (SERVER, variant), own),
        ("policer, at the server", found.policer, (SERVER, variant), own),
        ("queue, at the client", found.queue, (CLIENT, variant), own),
        ("fast access", found.wifi, ("Wi-Fi", MERGED, variant), fast),
    ):
        if key in captured.settings:
            medians = {m: float(np.median(captured.get(m, *key))) for m in numbers}
            errors[name] = error_of(medians, numbers)
    return errors


def _predicted(found: Experiments, reported: Mapping[str, Any]) -> Table:
    """List how well what is fitted to CUBIC predicts the other variants."""
    rows = []
    for v in VARIANTS:
        kind = "fitted" if v == "cubic" else "predicted"
        errors = {name: f"{x:.3f}" for name, x in predictions(found, reported, v).items()}
        rows.append({"variant": LABELS[v], "numbers": kind, **errors})
    title = "Fitted to CUBIC, predicted for Veno and Vegas: mean factor by which medians differ from the report's"
    return Table("predicted", title, pl.DataFrame(rows))


def _properties(found: Experiments, reported: Mapping[str, Any]) -> Table:
    rows = []
    for v in VARIANTS:
        own = wifi_of_report(reported, v)
        for metric in ("packets", "packet size", "throughput"):
            row = {"variant": LABELS[v], "property": METRICS[metric], "report": f"{own[metric]:.4g}"}
            for segments in (MERGED, WIRE):
                row[f"segments of {segments}"] = _middle(found.wifi, metric, "Wi-Fi", segments, v)
            rows.append(row)
    title = "Capture file properties over Wi-Fi: the report's, and medians here with and without merged segments"
    return Table("properties", title, pl.DataFrame(rows))


def _lengths(found: Experiments, reported: Mapping[str, Any], variant: str) -> Table:
    """List the packet lengths of a variant over TCP and over QUIC: the report's, and ours."""
    ours = {f"segments of {s}": found.wifi.captures["Wi-Fi", s, variant][0].lengths for s in (MERGED, WIRE)}
    if found.player.has("Wi-Fi", QUIC):
        ours["QUIC (CUBIC)"] = found.player.captured.captures["Wi-Fi", QUIC][0].lengths
    titles = next(iter(ours.values()))["title"]
    columns: dict[str, list[str]] = {"length (bytes)": [str(title) for title in titles]}
    for protocol, words in (("quic", "report, QUIC"), ("tcp", "report, TCP")):
        table = reported["lengths"][protocol][variant]
        columns[words] = [_cell(*row) for row in zip(table["count"], table["percent"], table["average"], strict=True)]
    for what, lengths in ours.items():
        rows = lengths.select("count", "percent", "average").iter_rows()
        columns[f"here, {what}"] = [_cell(*row) for row in rows]
    title = f"Packet lengths over Wi-Fi, {LABELS[variant]}: packets (share), mean; QUIC here is the player's first run"
    return Table(f"lengths-{variant}", title, pl.DataFrame(columns))


def _cell(count: float, percent: float | None, average: float | None) -> str:
    return f"{count:.0f} ({percent or 0:.1f} %), {average or 0:.0f}" if count else "0"


def _spikes(found: Experiments, reported: Mapping[str, Any]) -> Table:
    rows = []
    for access in ("Wi-Fi", "Ethernet"):
        for v in VARIANTS:
            row = {"access": access, "variant": LABELS[v]}
            for metric in ("spikes", "largest spike"):
                row[f"{METRICS[metric]}: report"] = f"{reported[metric.replace(' ', '_')][access][v]:g}"
                row[f"{METRICS[metric]}: here"] = _shown(found.wifi.get(metric, access, MERGED, v))
            rows.append(row)
    return Table("spikes", "Spikes over the fast access: the report's, and medians here", pl.DataFrame(rows))


def _signal(found: Experiments, reported: Mapping[str, Any]) -> Table:
    rows = []
    for signal in ("weak", "strong"):
        loss = found.losses[signal]
        for v in VARIANTS:
            row = {"signal": f"{signal} ({loss} loss)", "variant": LABELS[v]}
            for column, metric in SIGNAL.items():
                row[f"{METRICS[metric]}: report"] = f"{reported['signal'][signal][column][v]:g}"
                row[f"{METRICS[metric]}: here"] = _shown(found.signal.get(metric, loss, v))
            rows.append(row)
    title = f"Median metrics by signal: the report's, and ours; the loss is fitted to CUBIC's {FITTED_ACKS}"
    return Table("signal", title, pl.DataFrame(rows))


def _hall(found: Experiments, reported: Mapping[str, Any]) -> Table:
    rows = []
    for loss, v in found.hall.settings:
        fitted = " (fitted)" if loss == found.losses["hall"] else ""
        row = {"loss": f"{loss}{fitted}", "variant": LABELS[v]}
        row |= {METRICS[m]: _shown(found.hall.get(m, loss, v)) for m in ("throughput", "duplicate ACKs", "errors")}
        rows.append(row)
    most = reported["error_packets_per_s"]["tcp"]
    title = f"The lecture hall by loss; the report's busiest second has {most:g} error packets over TCP"
    return Table("hall", title, pl.DataFrame(rows))
