"""The report of a capture: its content as plain data."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from dumbbell import _core
from dumbbell.capture.capture import Capture
from dumbbell.capture.figures import pictures
from dumbbell.capture.output import conversations, properties, summary
from dumbbell.report.content import Content
from dumbbell.report.finding import Table
from dumbbell.report.write import write_content
from dumbbell.results.running.runner import Progress
from dumbbell.results.statistics.lint import LintWarning

__all__ = ["of_capture", "write_capture_report"]

MORE = {
    "udp": "UDP conversations, by direction",
    "quic": "QUIC connections",
    "phases": "Phases",
    "classify": "Which congestion control",
}
"""Tables that are listed unless they are empty."""
FIRST = ("file", "first packet", "elapsed", "packets", "rate")
"""Properties that the page begins with; the others are at its end."""
LARGEST = 2**32 - 1
"""Upper end of the last class of lengths."""


def of_capture(capture: Capture, command: Sequence[str]) -> Content:
    """Make the report of a capture; ``command`` makes the same report again."""
    damage = [
        ("damage", LintWarning("damage", f"{d['file']}, byte {d['offset']}: {d['text']}")) for d in capture.damage
    ]
    counts = capture.flows.select("flow", "direction", "src", "src_port", "dst", "dst_port", *capture.labels)
    # The last class of lengths has no upper end.
    lengths = capture.lengths.with_columns(pl.when(pl.col("high") < LARGEST).then("high").alias("high"))
    names = [Path(name).name for name in capture.files]
    tables = [
        Table("connections", "Top talkers", pl.DataFrame(conversations(capture), infer_schema_length=None)),
        Table("lengths-table", "Packet lengths", lengths),
        Table("labels", f"Labels by the rules {capture.rules}", counts),
        Table("flows", "TCP connections, by direction", capture.flows),
    ]
    for name, title in MORE.items():
        table = capture.tables.get(name)
        if table is not None and table.height:
            tables.append(Table(name, title, table))
    return Content(
        title=f"Capture {', '.join(names)}" if len(names) < 4 else f"{len(names)} capture files",
        kind="Analysis of a capture",
        what="",
        setting=[(name, fact) for name, fact in properties(capture) if name in FIRST],
        version=_core.version,
        begun=datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        ran=[],
        pictures=list(pictures(capture)),
        figure_note=f"RTTs and bytes in flight are over intervals of {capture.interval_s:.3g} s. Drawn are the "
        "connections that carried most payload.",
        again=" ".join(command),
        summary=list(summary(capture)),
        tables=[t for t in tables if t.frame.height],
        warnings=[*damage, *(("", LintWarning(str(w["kind"]), str(w["text"]))) for w in capture.warnings)],
        facts=[
            *((name, fact) for name, fact in properties(capture) if name not in FIRST),
            ("analyzed by", f"Dumbbell {_core.version}, rules {capture.rules}"),
            ("host", platform.platform()),
        ],
        definitions="Goodput counts each payload byte once; round-trip times are from a segment to the ACK that ends "
        "at it; bytes in flight are those sent and not acknowledged or SACKed, observed at the place of the capture. "
        "Labels are Wireshark's, by the rules named.",
    )


def write_capture_report(capture: Capture, folder: Path, command: str, *, progress: Progress | None = None) -> Path:
    """Write ``report.html``, figures and tables of a capture into a directory."""
    return write_content(of_capture(capture, [command]), folder, progress=progress)
