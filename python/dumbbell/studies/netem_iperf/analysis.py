"""The netem report's experiments, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.metrics import summarize
from dumbbell.results import Results
from dumbbell.studies.finding import Analysis, Note, Table
from dumbbell.studies.judge import judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.netem_iperf.captured import Captured, phases_table
from dumbbell.studies.netem_iperf.cells import remarks, sides
from dumbbell.studies.netem_iperf.data import DELAYS, LOSSES, VARIANTS, Grid, mathis
from dumbbell.studies.netem_iperf.figures import pictures
from dumbbell.studies.netem_iperf.inflight import Inflight
from dumbbell.studies.netem_iperf.quantities import quantities
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    texts = {claim.id: claim.text for claim in study.paper.claims}
    grid, long, offload = (Grid(results[name]) for name in ("grid", "long", "offload"))
    inflight, captured = Inflight(results["inflight"]), Captured(results["captured"])
    findings = judge_all(study, quantities(grid, offload, inflight), remarks(grid, long))
    return Analysis(
        findings=findings,
        pictures=pictures(grid, long, offload, captured),
        tables=[
            _table(grid, "throughput", "20 MB"),
            _table(long, "throughput-long", "long transfers"),
            _table(offload, "throughput-offload", "20 MB in segments of 64 KiB"),
            phases_table(captured),
            *list_tables(study, findings),
        ],
        summary=counted(findings, texts),
        notes=[_trap(grid, offload), _start(grid, long)],
    )


def _table(grid: Grid, name: str, what: str) -> Table:
    found = sides(grid)
    rows = []
    for p in LOSSES:
        for d in DELAYS:
            row = {"loss %": f"{p:g}", "delay ms": f"{d:g}"}
            for v in VARIANTS:
                values = grid.get(v, d, p)
                row[LABELS[v]] = summarize(values).text()
                row[f"{LABELS[v]}, mean"] = summarize(values, interval="student").text()
            row["Mathis"] = f"{float(mathis(d, p)):.3g}"
            row["CUBIC is"] = found[d, p][0] or "not distinguished"
            rows.append(row)
    title = f"Throughput of {what}, Mbit/s: median and mean [95 % intervals] of {grid.n} repetitions"
    return Table(name, title, pl.DataFrame(rows))


def _trap(grid: Grid, offload: Grid) -> Note:
    times = [offload.median("reno", d, p) / grid.median("reno", d, p) for d in DELAYS for p in LOSSES]
    return Note(
        "On a loopback device the segments have 64 KiB",
        "Its MTU is 65,536 bytes and netem loses and delays such a packet as one. The same grid then gives Reno "
        f"{min(times):.1f} to {max(times):.0f} times the throughput: 20 MB are 306 packets, a loss rate of 0.1 % "
        "means a loss in every third run, and the initial window of ten segments holds 640 kB, more than the path "
        "does at 10 ms. Set the device's MTU to 1500, or use namespaces with offloads off.",
    )


def _start(grid: Grid, long: Grid) -> Note:
    parts = [
        f"{LABELS[v]} {grid.median(v, 50.0, 0.1):.1f} against {long.median(v, 50.0, 0.1):.1f} Mbit/s"
        for v in VARIANTS
    ]
    return Note(
        "20 MB are short where losses are rare",
        "At 50 ms and 0.1 % a transfer meets 13 losses; until the first of them slow start has carried much of "
        f"it: {' and '.join(parts)} in a long transfer. Such cells measure the start as much as the variant.",
    )
