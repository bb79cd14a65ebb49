"""The netem report's experiments, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.report.finding import Analysis, Finding, Note, Table
from dumbbell.results import Results
from dumbbell.studies.judge import judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.netem_iperf.captured import Captured, phases_table
from dumbbell.studies.netem_iperf.cells import remarks, sides
from dumbbell.studies.netem_iperf.data import DELAYS, LOSSES, VARIANTS, Grid, mathis
from dumbbell.studies.netem_iperf.figures import pictures
from dumbbell.studies.netem_iperf.inflight import Inflight
from dumbbell.studies.netem_iperf.quantities import quantities
from dumbbell.studies.partial import data
from dumbbell.studies.rules import EQUAL
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze", "findings"]

LARGE = 65_495 - 12
"""Payload of a segment on a loopback device, bytes: Linux's MSS there without the timestamps."""
PATH = 100e6 / 8 * 0.02
"""Bytes that the path holds at a delay of 10 ms in each direction."""
FAR = 0.1
"""Part by which a throughput counts as another one: a tenth is seen in a printed figure."""


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    grid, long, offload = (Grid(results[name]) for name in ("grid", "long", "offload"))
    captured = Captured(results["captured"])
    judged = findings(study, results)
    return Analysis(
        findings=judged,
        pictures=pictures(grid, long, offload, captured),
        tables=[
            _table(grid, "throughput", "20 MB"),
            _table(long, "throughput-long", "long transfers"),
            _table(offload, "throughput-offload", "20 MB in segments of 64 KiB"),
            phases_table(captured),
            *list_tables(study, judged),
        ],
        summary=[counted(study.paper, judged)],
        notes=[_paths(grid, long), _trap(grid, offload), _start(grid, long)],
    )


def findings(study: Study, results: Mapping[str, Results]) -> list[Finding]:
    """Judge the report's claims."""
    grid, long, offload = (data(results, name, Grid) for name in ("grid", "long", "offload"))
    found = quantities(grid, offload, data(results, "inflight", Inflight))
    return judge_all(study, found, remarks(grid, long))


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
            row["CUBIC is"] = found[d, p][0] or "not shown to differ by 5 %"
            rows.append(row)
    title = f"Throughput of {what}, Mbit/s: median and mean [95 % intervals] of {grid.n} repetitions"
    return Table(name, title, pl.DataFrame(rows))


def _trap(grid: Grid, offload: Grid) -> Note:
    times = [offload.median("reno", d, p) / grid.median("reno", d, p) for d in DELAYS for p in LOSSES]
    drops = offload.get("reno", 10.0, 0.1, "dropped_packets")
    return Note(
        f"With segments of 64 KiB Reno has {min(times):.1f} to {max(times):.0f} times the throughput",
        "A loopback device has an MTU of 65,536 bytes, and netem loses and delays such a packet as one. 20 MB are "
        "then "
        f"{np.ceil(20e6 / LARGE):.0f} packets; at 10 ms and 0.1 % loss {int((drops > 0).sum())} of {drops.size} of "
        f"Reno's "
        f"transfers have a drop, and an initial window of ten segments holds {1e-3 * 10 * LARGE:.0f} kB, where the "
        f"path "
        f"holds {1e-3 * PATH:.0f} kB. Set the device's MTU to 1500, or use namespaces with offloads off.",
    )


def _start(grid: Grid, long: Grid) -> Note:
    parts = [
        f"{LABELS[v]} {grid.median(v, 50.0, 0.1):.1f} against {long.median(v, 50.0, 0.1):.1f} Mbit/s" for v in VARIANTS
    ]
    ratios = {(v, d, p): grid.median(v, d, p) / long.median(v, d, p) for v in VARIANTS for d in DELAYS for p in LOSSES}
    far = {key: ratio for key, ratio in ratios.items() if not 1 - FAR <= ratio <= 1 + FAR}
    v, d, p = max(ratios, key=lambda key: ratios[key])
    losses = {w: grid.median(w, 50.0, 0.1, "dropped_packets") for w in VARIANTS}
    listed = " and ".join(f"{LABELS[w]} {n:.0f}" for w, n in losses.items())
    return Note(
        f"In {len(far)} of {len(ratios)} cells the throughput of 20 MB differs from that of a long transfer by more "
        f"than {100 * FAR:.0f} %",
        f"The largest ratio is {ratios[v, d, p]:.2f}, of {LABELS[v]} at {d:g} ms and {p:g} %. At 50 ms and 0.1 % a "
        f"transfer "
        f"meets in the median {listed} losses: {' and '.join(parts)} in a long transfer. Slow start is part of a "
        f"transfer "
        "of 20 MB; the long ones are measured after 20 s.",
    )


def _paths(grid: Grid, long: Grid) -> Note:
    """Compare how throughput falls from the shortest delay to the longest one, and CUBIC with Reno by cell."""
    falls = {v: long.median(v, 100.0, 0.1) / long.median(v, 10.0, 0.1) for v in VARIANTS}
    listed = " and ".join(f"{LABELS[v]} {part:.2f}" for v, part in falls.items())
    found = sides(grid)
    places = {
        side: [f"{d:g} ms, {p:g} % ({grid.get('cubic', d, p).mean() / grid.get('reno', d, p).mean():.2f})"
               for (d, p), (s, _) in found.items() if s == side]
        for side in ("lower", "higher")
    }  # fmt: skip
    words = "; ".join(f"{side}: {', '.join(cells) or 'nowhere'}" for side, cells in places.items())
    return Note(
        f"CUBIC is slower than Reno in {len(places['lower'])} of {len(found)} cells, and faster in "
        f"{len(places['higher'])}",
        f"Shown for 20 MB and by at least {100 * EQUAL:g} % of the larger mean, with CUBIC's part of Reno's mean, "
        f"{words}. In transfers of three minutes at 0.1 % loss ten times the delay leaves this part of the "
        f"throughput: {listed}.",
    )
