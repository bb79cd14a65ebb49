"""Output of a capture: sentences and tables for the terminal, a JSON document, files of tables."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from dumbbell.capture.capture import Capture
from dumbbell.capture.figures import name_of, talkers, with_gaps
from dumbbell.exceptions import CaptureError
from dumbbell.formulas import without_formulas
from dumbbell.metrics import spikes
from dumbbell.words import counted

__all__ = [
    "FORMAT",
    "conversations",
    "datagrams",
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
                yield "interface", f"{i['name'] or '?'}: {counted(i['packets'], 'packet')}, dropped {dropped}"
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
    names = capture.host_names
    largest = talkers(capture, most)
    both = capture.tables.rows("flows", largest["flow"].unique().to_list())
    back = {(r["flow"], r["direction"]): r for r in both.iter_rows(named=True)}
    for row in largest.iter_rows(named=True):
        shown: dict[str, Any] = {"connection": name_of(row)}
        for column, heading, factor in COLUMNS:
            value = row.get(column)
            if column == "duplicate_ack":
                value = back[row["flow"], 1 - row["direction"]][column]
            shown[heading] = None if value is None else value * factor if factor != 1 else value
        name = names.get(row["src"]) or names.get(row["dst"])
        rows.append(shown | {"end": row["ending"], **({"name": name} if names else {})})
    return pl.DataFrame(rows)


def datagrams(capture: Capture, most: int = 10) -> pl.DataFrame:
    """Return the UDP conversations with the most bytes for the terminal."""
    largest: list[tuple[int, int]] = []
    for page in capture.tables.pages("udp"):
        sums = page.group_by("conversation").agg(pl.col("bytes").sum()).rows()
        largest = sorted([*largest, *((size, n) for n, size in sums)], key=lambda r: (-r[0], r[1]))[:most]
    names = capture.host_names
    rows = []
    for _, n in largest:
        there, back = capture.tables.rows("udp", [n]).sort("direction").iter_rows(named=True)
        name = names.get(there["dst"]) or names.get(there["src"])
        rows.append({
            "conversation": name_of({"flow": n, **there}),
            "packets": there["packets"] + back["packets"],
            "sent kB": there["bytes"] * 1e-3,
            "received kB": back["bytes"] * 1e-3,
            "sent Mbit/s": (there["throughput_bps"] or 0) * 1e-6,
            "received Mbit/s": (back["throughput_bps"] or 0) * 1e-6,
            **({"name": name} if names else {}),
        })  # fmt: skip
    return pl.DataFrame(rows)


def error_rates(capture: Capture) -> npt.NDArray[np.float64]:
    """Count error packets in each second (or interval, if that is longer), per second; long gaps are cut short."""
    second = max(1.0, capture.interval_s)
    found = capture.errors
    when = np.floor(found["t_ns"].to_numpy() * 1e-9 / second).astype(np.int64)
    return with_gaps(when, found["errors"].to_numpy() / second)[1]


def guesses(capture: Capture) -> pl.DataFrame:
    """Return the congestion control that each long transfer may have, the largest transfer first."""
    table = capture.tables["classify"]
    if not table.height:
        return pl.DataFrame()
    flows = capture.tables.rows("flows", table["flow"].unique().to_list())
    flows = flows.select("flow", "direction", "src", "src_port", "dst", "dst_port", "payload_bytes")
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
    totals = capture.totals
    frames = sum(p["packets"] for p in capture.properties)
    yield (
        f"{counted(frames, 'packet')} in {capture.seconds:.4g} s: "
        f"{counted(totals['connections'], 'TCP connection')}, "
        f"{counted(len(capture.tables.conversations), 'UDP conversation')}."
    )
    yield f"Frames: {', '.join(f'{count} {name}' for name, count in capture.contents.items()) or 'none'}."
    if capture.tunnels:
        yield f"Of these in tunnels: {', '.join(f'{count} {name}' for name, count in capture.tunnels.items())}."
    again, data = totals["retransmitted_packets"], totals["data_packets"]
    if data:
        share = 100 * again / data
        yield (
            f"{again} of {counted(data, 'TCP data packet')} {'was' if again == 1 else 'were'} sent again "
            f"({share:.3g} %), {counted(totals['timeouts'], 'timeout')}."
        )
    found = spikes(error_rates(capture), SPIKE)
    if found.count:
        window = max(1.0, capture.interval_s)
        yield (
            f"{counted(found.count, 'spike')} above {SPIKE:g} error packets/s, {found.maximum:.4g} at most "
            f"(in windows of {window:g} s)."
        )


def document(capture: Capture) -> Iterator[bytes]:
    """Return everything but the packets as ``--json`` prints it, in parts; null is unknown."""
    head = {
        "format": FORMAT,
        "files": capture.files,
        "rules": capture.rules,
        "interval_s": capture.interval_s,
        "summary": list(summary(capture)),
        "contents": capture.contents,
        "tunnels": capture.tunnels,
        "warnings": capture.warnings,
        "damage": capture.damage,
        "properties": capture.properties,
        "lengths": capture.lengths.to_dicts(),
    }
    yield json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1].encode()
    for name in capture.tables:
        if name not in LARGE:
            yield f', "{name}": ['.encode()
            yield from capture.tables.json(name)
            yield b"]"
    yield b"}"


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
    written = write_frames({"lengths": capture.lengths}, folder, form)
    for name in capture.tables:
        written.append(write_pages(capture.tables.pages(name), folder / f"{name}.{form}", form))
    if "-" not in capture.files:
        written += write_frames({"packets": capture.packets}, folder, form)
    return written


def write_pages(pages: Iterator[pl.DataFrame], place: Path, form: Form) -> Path:
    """Write a table that is made page by page into one file.

    Raises
    ------
    CaptureError
        If the file can't be written.
    """
    try:
        if form == "csv":
            with place.open("wb") as file:
                for n, page in enumerate(pages):
                    without_formulas(page).write_csv(file, include_header=n == 0)
        else:
            first = next(pages)
            register_io_source(lambda *_: itertools.chain([first], pages), schema=first.schema).sink_parquet(place)
    except OSError as e:
        raise CaptureError(f"{place}: can't be written: {e.strerror or e}") from None
    return place


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
                without_formulas(table).sink_csv(place) if form == "csv" else table.sink_parquet(place)
            else:
                without_formulas(_flat(table)).write_csv(place) if form == "csv" else table.write_parquet(place)
            written.append(place)
    except OSError as e:
        raise CaptureError(f"{folder}: can't be written: {e.strerror or e}") from None
    return written


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """Write lists as text: CSV has no lists."""
    lists = [name for name, dtype in table.schema.items() if dtype.is_nested()]
    return table.with_columns(pl.col(lists).map_elements(str, pl.String)) if lists else table
