"""Output of a capture: sentences and tables for the terminal, a JSON document.

Nothing here needs a frame, so that ``dumbbell analyze`` imports neither numpy nor polars.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from dumbbell.capture.capture import Capture
from dumbbell.common.words import counted
from dumbbell.metrics import spikes

__all__ = [
    "FORMAT",
    "SPIKE",
    "conversations",
    "datagrams",
    "document",
    "error_rates",
    "guesses",
    "name_of",
    "properties",
    "summary",
]

FORMAT = 1
"""Version of the JSON document: raised when a key is removed or changes its meaning, not when a key is added."""
LARGE = ("rounds",)
"""Tables that the JSON document leaves out."""
SPIKE = 50.0
"""Error packets per second that count as a spike if exceeded, as in the video report."""


def name_of(row: dict[str, Any]) -> str:
    """Name a direction: ``#3 10.0.0.1:443 -> 10.0.0.2:5000``."""
    return f"#{row['flow']} {row['src']}:{row['src_port']} -> {row['dst']}:{row['dst_port']}"


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
        size = "" if p["file_size"] is None else f"{_bytes(p['file_size'])}, "  # stdin has none
        yield "file", f"{p['file']} ({size}{p['format']}{_packed(p)})"
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


def conversations(capture: Capture, most: int = 10) -> list[dict[str, Any]]:
    """Return the top talkers for the terminal, a row each; ``dup ACKs`` are those received."""
    rows = []
    names = capture.host_names
    both = capture.tables.records("flows", capture.tables.largest(most))
    at = {(r["flow"], r["direction"]): r for r in both}
    senders = sorted((r for r in both if r["payload_bytes"] > 0), key=lambda r: -r["payload_bytes"])
    for row in senders[:most]:
        shown: dict[str, Any] = {"connection": name_of(row)}
        for column, heading, factor in COLUMNS:
            value = row[column]
            if column == "duplicate_ack":
                value = at[row["flow"], 1 - row["direction"]][column]
            shown[heading] = None if value is None else value * factor if factor != 1 else value
        name = names.get(row["src"]) or names.get(row["dst"])
        rows.append(shown | {"end": row["ending"], **({"name": name} if names else {})})
    return rows


def datagrams(capture: Capture, most: int = 10) -> list[dict[str, Any]]:
    """Return the UDP conversations with the most bytes for the terminal, a row each."""
    names = capture.host_names
    rows = []
    for n in capture.tables.largest_conversations(most):
        there, back = sorted(capture.tables.records("udp", [n]), key=lambda r: int(r["direction"]))
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
    return rows


def error_rates(capture: Capture) -> list[float]:
    """Count error packets in each second (or interval, if that is longer), per second; long gaps are cut short."""
    window = max(1.0, capture.interval_s)
    length = round(window * 1e9)
    rows = capture.errors.to_dicts() if capture.chosen else capture.tables.records("total")
    sums: dict[int, int] = {}
    for row in rows:
        place = row["t_ns"] // length
        sums[place] = sums.get(place, 0) + row["errors"]
    rates: list[float] = []
    before = None
    for place in sorted(sums):
        # A zero stands for a gap of one window, two for a longer one.
        gap = 0 if before is None else place - before - 1
        rates += [0.0] * min(gap, 2)
        rates.append(sums[place] / window)
        before = place
    return rates


def guesses(capture: Capture) -> list[dict[str, Any]]:
    """Return the congestion control that each long transfer may have, a row each, the largest transfer first."""
    table = capture.tables.records("classify")
    flows = capture.tables.records("flows", sorted({row["flow"] for row in table}))
    at = {(r["flow"], r["direction"]): r for r in flows}
    both = [at[row["flow"], row["direction"]] | row for row in table]
    return [
        {
            "connection": name_of(row),
            "family": row["family"],
            "confidence": row["confidence"],
            "after/before": row["decrease"],
            "growth at half": row["growth"],
            "reductions": row["reductions"],
            "evidence": row["evidence"],
        }
        for row in sorted(both, key=lambda r: -r["payload_bytes"])
    ]


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
        "lengths": capture.length_rows,
    }
    yield json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1].encode()
    for name in capture.tables:
        if name not in LARGE:
            yield f', "{name}": ['.encode()
            yield from capture.tables.json(name)
            yield b"]"
    yield b"}"
