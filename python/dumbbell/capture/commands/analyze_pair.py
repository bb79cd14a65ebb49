"""``dumbbell analyze --pair A B``: matches two captures of one path."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dumbbell.cli import output

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.capture import Pair

__all__ = ["analyze_pair"]

COLUMNS = {
    "packets_first": "packets",
    "lost": "lost",
    "reordered": "reordered",
    "delay_min_ms": "delay min ms",
    "delay_p50_ms": "p50 ms",
    "delay_p95_ms": "p95 ms",
    "delay_max_ms": "max ms",
    "queueing_mean_ms": "queueing mean ms",
}
"""Column and heading: a direction's columns on the terminal."""


def analyze_pair(
    files: tuple[str, str],
    *,
    interval_s: float | None,
    same_clock: bool,
    as_json: bool,
    csv: Path | None,
    parquet: Path | None,
    out: Path | None,
) -> None:
    """Match two captures; print and write the result."""
    from dumbbell.capture import pair

    keep = bool(csv or parquet or out)
    # Read four times: for the offset, for the sides, for the clocks, for the delays.
    total = sum(Path(f).stat().st_size for f in files if Path(f).is_file())
    with output.progress("reading", unit="bytes") as moved:
        found = pair(
            *files,
            interval_s=interval_s,
            same_clock=same_clock,
            matches=keep,
            progress=lambda done: moved(done, total),
        )
    for text in found.damage:
        output.note(f"damage: {text}")
    if as_json:
        output.document(found.document())
    else:
        for sentence in found.summary():
            output.line(sentence)
        busy = found.busy()
        if busy.height:
            output.line("")
            output.print_frame("From place to place", _shown(busy))
    _keep(found, csv, parquet, out)
    if found.damage:
        raise click.exceptions.Exit(1)


def _shown(busy: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    from dumbbell.capture.output import name_of

    rows = []
    for row in busy.iter_rows(named=True):
        path = "A to B" if row["direction"] == 0 else "B to A"
        rows.append({"connection": name_of(row), "direction": path, **{h: row[c] for c, h in COLUMNS.items()}})
    return pl.DataFrame(rows)


def _keep(found: Pair, csv: Path | None, parquet: Path | None, out: Path | None) -> None:
    from dumbbell.capture.files import write_frames

    tables = {"flows": found.flows, "series": found.series}
    if found.matches is not None:
        tables["matches"] = found.matches
    if csv is not None:
        write_frames(tables, csv, "csv")
        output.note(f"tables in {csv}")
    if parquet is not None:
        write_frames(tables, parquet, "parquet")
        output.note(f"tables in {parquet}")
    if out is not None:
        from dumbbell.capture.pair_report import write_pair_report

        write_frames(tables, out / "data", "parquet")
        with output.progress("figures") as moved:
            page = write_pair_report(found, out, shlex.join(["dumbbell", *sys.argv[1:]]), progress=moved)
        output.note(f"report {page}")
