"""Output of a capture: sentences and tables for the terminal, a JSON document, files of tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.capture.capture import Capture
from dumbbell.capture.figures import name_of, talkers, with_gaps
from dumbbell.exceptions import CaptureError
from dumbbell.metrics import spikes

__all__ = [
    "FORMAT",
    "conversations",
    "document",
    "guesses",
    "medians",
    "properties",
    "short_names",
    "summary",
    "write_frames",
    "write_tables",
]

Form = Literal["csv", "parquet"]
FORMAT = 1
"""Version of the JSON document: raised when a key is removed or changes its meaning, not when a key is added."""
LARGE = ("rounds",)
"""Tables that the JSON document leaves out."""
SPIKE = 50.0
"""Error packets per second that count as a spike if exceeded, as in the video report."""


def _bytes(n: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if n < 1000 or unit == "GB":
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.4g} {unit}"
        n /= 1000
    raise AssertionError


def _time(ns: int | None) -> str:
    if ns is None:
        return "-"
    return datetime.fromtimestamp(ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def properties(capture: Capture) -> Iterator[tuple[str, str]]:
    """Return the capture's properties as Wireshark shows them."""
    for p in capture.properties:
        yield "file", f"{p['file']} ({_bytes(p['file_size'] or 0)}, {p['format']}{_packed(p)})"
        links = [name for name, _ in p["encapsulations"]]
        yield "encapsulation", ", ".join(links) or "-"
        for section in p["sections"]:
            for key in ("hardware", "os", "application"):
                if section[key]:
                    yield key, str(section[key])
        for i in p["interfaces"]:
            if i["name"] or i["dropped"]:
                dropped = "unknown" if i["dropped"] is None else str(i["dropped"])
                yield "interface", f"{i['name'] or '?'}: {i['packets']} packets, dropped {dropped}"
        yield "first packet", _time(p["first_ns"])
        yield "last packet", _time(p["last_ns"])
        yield "elapsed", f"{(p['duration_ns'] or 0) * 1e-9:.6f} s"
        rates = f"{p['packet_rate']:.1f} packets/s, {_bytes(p['byte_rate'])}/s, {p['bit_rate'] * 1e-6:.4g} Mbit/s" \
                if p["packet_rate"] else "-"  # fmt: skip
        yield "packets", f"{p['packets']}, {_bytes(p['bytes'])}, mean {p['mean_length'] or 0:.1f} bytes"
        yield "rate", rates


def _packed(p: dict[str, Any]) -> str:
    return f", {p['compression']}" if p["compression"] else ""


COLUMNS: list[tuple[str, str, float]] = [
    ("packets", "packets", 1),
    ("payload_bytes", "payload MB", 1e-6),
    ("goodput_bps", "goodput Mbit/s", 1e-6),
    ("rtt_min_ms", "RTT min ms", 1),
    ("rtt_p50_ms", "RTT p50 ms", 1),
    ("rtt_p95_ms", "RTT p95 ms", 1),
    ("retransmitted_packets", "sent again", 1),
    ("retransmitted_bytes", "sent again kB", 1e-3),
    ("timeouts", "timeouts", 1),
    ("out_of_order", "out of order", 1),
    ("duplicate_ack", "dup ACKs", 1),
    ("lost_segment", "not captured", 1),
    ("flight_max", "in flight max kB", 1e-3),
]
"""Column, heading, factor: a connection's columns on the terminal. Labels are counted by the chosen rules."""


def conversations(capture: Capture, most: int = 10) -> pl.DataFrame:
    """Return the top talkers for the terminal; ``dup ACKs`` are those received."""
    rows = []
    back = {(r["flow"], r["direction"]): r for r in capture.flows.iter_rows(named=True)}
    for row in talkers(capture, most).iter_rows(named=True):
        shown: dict[str, Any] = {"connection": name_of(row)}
        for column, heading, factor in COLUMNS:
            value = row.get(column)
            if column == "duplicate_ack":
                value = back[row["flow"], 1 - row["direction"]][column]
            shown[heading] = None if value is None else value * factor if factor != 1 else value
        rows.append(shown | {"end": row["ending"]})
    return pl.DataFrame(rows)


def error_rates(capture: Capture) -> npt.NDArray[np.float64]:
    """Count error packets in each second (or interval, if that is longer), per second; long gaps are cut short."""
    second = max(1.0, capture.interval_s)
    when = np.floor(capture.series["t_ns"].to_numpy() * 1e-9 / second).astype(np.int64)
    return with_gaps(when, capture.series["errors"].to_numpy() / second)[1]


def guesses(capture: Capture) -> pl.DataFrame:
    """Return the congestion control that each long transfer may have, the largest transfer first."""
    table = capture.tables["classify"]
    if not table.height:
        return pl.DataFrame()
    flows = capture.flows.select("flow", "direction", "src", "src_port", "dst", "dst_port", "payload_bytes")
    both = table.join(flows, on=["flow", "direction"]).sort("payload_bytes", descending=True)
    rows = [
        {
            "connection": name_of(row),
            "family": row["family"],
            "confidence": row["confidence"],
            "after/before": row["decrease"],
            "growth at half": row["growth"],
            "reductions": row["reductions"],
            "evidence": row["evidence"],
        }
        for row in both.iter_rows(named=True)
    ]
    return pl.DataFrame(rows)


def summary(capture: Capture) -> Iterator[str]:
    """Describe the capture in sentences."""
    flows, udp = capture.flows, capture.udp
    frames = sum(p["packets"] for p in capture.properties)
    yield f"{frames} packets in {capture.seconds:.4g} s: {flows['flow'].n_unique()} TCP connections, " \
          f"{udp['conversation'].n_unique()} UDP conversations."  # fmt: skip
    again, data = int(flows["retransmitted_packets"].sum()), int(flows["data_packets"].sum())
    if data:
        share = 100 * again / data
        timeouts = int(flows["timeouts"].sum())
        yield f"{again} of {data} TCP data packets were sent again ({share:.3g} %), {timeouts} timeouts."
    found = spikes(error_rates(capture), SPIKE)
    if found.count:
        yield f"{found.count} spikes above {SPIKE:g} error packets/s, {found.maximum:.4g} at most."


def document(capture: Capture) -> dict[str, Any]:
    """Return everything but the packets as ``--json`` prints it; units are in the names, null is unknown."""
    return {
        "format": FORMAT,
        "files": capture.files,
        "rules": capture.rules,
        "interval_s": capture.interval_s,
        "summary": list(summary(capture)),
        "warnings": capture.warnings,
        "damage": capture.damage,
        "properties": capture.properties,
        "lengths": capture.lengths.to_dicts(),
        **{name: json.loads(table.write_json()) for name, table in capture.tables.items() if name not in LARGE},
    }


def medians(captures: Sequence[Capture]) -> pl.DataFrame:
    """Put captures side by side: one row for each figure, one column for each file, and their median."""
    figures: dict[str, list[float]] = {}
    for capture in captures:
        flows = capture.flows
        data = flows.filter(pl.col("payload_bytes") > 0)
        seconds = capture.seconds
        rtt = data["rtt_p50_ms"].drop_nulls()
        peaks = spikes(error_rates(capture), SPIKE)
        values = {
            "packets": float(sum(p["packets"] for p in capture.properties)),
            "bytes": float(sum(p["bytes"] for p in capture.properties)),
            "elapsed s": seconds,
            "throughput kB/s": float(data["bytes"].sum()) / seconds / 1000 if seconds else float("nan"),
            "goodput Mbit/s": float(data["new_bytes"].sum()) * 8e-6 / seconds if seconds else float("nan"),
            "retransmitted bytes": float(flows["retransmitted_bytes"].sum()),
            "retransmitted packets": float(flows["retransmitted_packets"].sum()),
            "timeouts": float(flows["timeouts"].sum()),
            "duplicate ACKs": float(flows["duplicate_ack"].sum()),
            "out of order": float(flows["out_of_order"].sum()),
            "RTT p50 ms": float(rtt.median() or "nan"),  # type: ignore[arg-type]
            "mean packet length": float(np.mean([p["mean_length"] or 0 for p in capture.properties])),
            f"spikes > {SPIKE:g}/s": float(peaks.count),
            "largest spike /s": peaks.maximum,
        }
        for name, value in values.items():
            figures.setdefault(name, []).append(value)
    unique = short_names(captures)
    rows = []
    for figure, column in figures.items():
        row: dict[str, Any] = {"figure": figure, **dict(zip(unique, column, strict=True))}
        rows.append(row | {"median": float(np.nanmedian(column)) if not np.isnan(column).all() else None})
    return pl.DataFrame(rows).fill_nan(None)


def short_names(captures: Sequence[Capture]) -> list[str]:
    """Name each capture by its file, with a number before it where files of several folders have the same name."""
    names = [Path(c.files[0]).name for c in captures]
    return [n if names.count(n) == 1 else f"{k + 1}-{n}" for k, n in enumerate(names)]


def write_tables(capture: Capture, folder: Path, form: Form) -> list[Path]:
    """Write every table into a directory, the packets with their labels too.

    Raises
    ------
    CaptureError
        If a file can't be written.
    """
    tables: dict[str, pl.DataFrame | pl.LazyFrame] = {**capture.tables, "lengths": capture.lengths}
    if "-" not in capture.files:
        tables["packets"] = capture.packets
    return write_frames(tables, folder, form)


def write_frames(tables: Mapping[str, pl.DataFrame | pl.LazyFrame], folder: Path, form: Form) -> list[Path]:
    """Write frames into a directory, each as a file of its name.

    Raises
    ------
    CaptureError
        If a file can't be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            place = folder / f"{name}.{form}"
            if isinstance(table, pl.LazyFrame):
                table.sink_csv(place) if form == "csv" else table.sink_parquet(place)
            else:
                _flat(table).write_csv(place) if form == "csv" else table.write_parquet(place)
            written.append(place)
    except OSError as e:
        raise CaptureError(f"{folder}: can't be written: {e.strerror or e}") from None
    return written


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """Write lists as text: CSV has no lists."""
    lists = [name for name, dtype in table.schema.items() if dtype.is_nested()]
    return table.with_columns(pl.col(lists).map_elements(str, pl.String)) if lists else table
