"""Means over repetitions, as the command line and notebooks show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from dumbbell.scenario.network import Custom
from dumbbell.scenario.paths import join, split

if TYPE_CHECKING:
    from dumbbell.results.results import Results

__all__ = ["flow_summary", "queue_summary"]

# Column in the frame, heading, factor.
FLOW = [
    ("goodput_bps", "goodput Mbit/s", 1e-6),
    ("drop_rate", "drops %", 100.0),
    ("rtt_mean_ms", "RTT ms", 1.0),
    ("rtt_p95_ms", "RTT p95 ms", 1.0),
    ("retransmitted_packets", "retransmitted", 1.0),
    ("timeouts", "timeouts", 1.0),
    ("completion_time_s", "completed in s", 1.0),
]
QUEUE = [
    ("utilization", "utilization %", 100.0),
    ("drops", "drops", 1.0),
    ("marks", "marks", 1.0),
    ("wire_losses", "lost on the wire", 1.0),
    ("reordered", "reordered", 1.0),
    ("duplicated", "duplicated", 1.0),
    ("mean_backlog_packets", "backlog packets", 1.0),
    ("mean_sojourn_ms", "sojourn ms", 1.0),
    ("p99_sojourn_ms", "sojourn p99 ms", 1.0),
]

WHERE_ANY = ("wire_losses", "reordered", "duplicated")
"""Columns that are left out where all values are zero, as on most links."""
IN_USE = 0.05
"""Links with less utilization (those that carry ACKs only) are left out of summaries."""


def flow_summary(results: Results) -> pl.DataFrame:
    """One row per cell and flow: means over repetitions, goodput with its standard deviation."""
    return _summary(results, results.flows, FLOW, spread="goodput_bps")


def queue_summary(results: Results) -> pl.DataFrame:
    """One row per cell and queue that matters: its link lost, marked or changed something, or was in use."""
    frame = results.queues
    if frame.is_empty():
        return frame
    changed = ("drops", "marks", *WHERE_ANY)
    lost = pl.sum_horizontal(pl.col(c).sum() for c in changed if c in frame.columns).over("name") > 0
    used = pl.col("utilization").mean().over("name") > IN_USE
    if not isinstance(results.scenario.network, Custom):
        used &= pl.col("name").str.contains(r"^r\d+->r\d+$")
    return _summary(results, frame.filter(lost | used), QUEUE, spread=None)


def _summary(
    results: Results, frame: pl.DataFrame, wanted: list[tuple[str, str, float]], spread: str | None
) -> pl.DataFrame:
    if frame.is_empty():
        return frame
    fixed = ["run", "repetition", "seed"]
    cell = frame.columns[: frame.columns.index(fixed[0])]
    means = []
    for name, heading, factor in wanted:
        if name not in frame.columns or frame[name].null_count() == frame.height:
            continue
        if name in WHERE_ANY and not frame[name].sum():
            continue
        column = pl.col(name).cast(pl.Float64) * factor
        means.append(column.mean().alias(heading))
        if name == spread and any(len(runs) > 1 for runs in results.by_cell()):
            means.append(column.std().alias("± sd"))
    keys = [*cell, "name", *(["variant"] if _adds_variant(frame, cell) else [])]
    return frame.group_by(keys, maintain_order=True).agg(means).rename(short_names(cell))


def short_names(paths: list[str]) -> dict[str, str]:
    """Shorten paths to their last parts, at least two, as long as they stay distinct."""
    parts = [split(path) for path in paths]
    for length in range(2, max(map(len, parts), default=2)):
        short = [join(p[-length:]) for p in parts]
        if len(set(short)) == len(short):
            return dict(zip(paths, short, strict=True))
    return {path: path for path in paths}


def _adds_variant(frame: pl.DataFrame, cell: list[str]) -> bool:
    """Return True if the column ``variant`` adds something to the cell's columns."""
    return "variant" in frame.columns and not any(path.endswith(".variant") for path in cell)
