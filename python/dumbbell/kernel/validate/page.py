"""The report of a comparison: every number of every case on both sides, and the curves of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import polars as pl

from dumbbell import __version__
from dumbbell.kernel.validate.cases import Case
from dumbbell.kernel.validate.deviations import Comparison
from dumbbell.kernel.validate.figures import FIGURES
from dumbbell.kernel.validate.measurements import Measured
from dumbbell.kernel.validate.words import sentences, tolerances
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.report.content import Content, Ran
from dumbbell.report.finding import Table

__all__ = ["content", "summary", "table"]

FIGURE_BYTES = 1_000_000
"""Figures on the page, bytes: the groups with the largest differences. The page stays below 2 MB with all cases."""
SHOWN = {**{column: (f.heading, f.factor) for column, f in FIGURES.items()}, "dropped_packets": ("dropped", 1.0)}


def table(comparisons: Sequence[Comparison]) -> pl.DataFrame:
    """One row for each flow of each case: both sides, the difference in %, the distances of the curves."""
    rows = []
    for c in comparisons:
        row: dict[str, object] = {"case": c.case, "flow": c.flow, "variant": c.variant}
        for figure, (heading, factor) in SHOWN.items():
            d = c.differences.get(figure)
            row[heading] = d.sim * factor if d else None
            row[f"{heading}, kernel"] = d.kernel * factor if d else None
            row[f"{heading} %"] = None if d is None or not np.isfinite(d.relative) else 100 * d.relative
        row["curve %"] = None if c.curve is None else 100 * c.curve
        row["shape %"] = None if c.shape is None else 100 * c.shape
        row["outside"] = ", ".join(SHOWN[name][0] for name in c.outside) or "-"
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def summary(comparisons: Sequence[Comparison]) -> pl.DataFrame:
    """One row for each variant: flows, how many are within in each figure, and median distances."""
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for c in comparisons:
        if "cwnd_mean_packets" in c.differences:
            groups[c.variant].append(c)
    rows = []
    for variant, group in groups.items():
        row: dict[str, object] = {"variant": variant, "flows": len(group)}
        for figure in FIGURES:
            within = [figure not in c.outside for c in group]
            apart = [abs(c.differences[figure].relative) for c in group if figure in c.differences]
            finite = [a for a in apart if np.isfinite(a)]
            heading = SHOWN[figure][0]
            row[f"{heading}: within"] = sum(within)
            row[f"{heading}: median apart %"] = 100 * float(np.median(finite)) if finite else None
        shapes = [c.shape for c in group if c.shape is not None]
        row["shape %"] = 100 * float(np.median(shapes)) if shapes else None
        row["all within"] = sum(not c.outside for c in group)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def content(
    cases: Sequence[Case],
    sim: Mapping[str, Measured],
    kernel: Mapping[str, Measured],
    comparisons: Sequence[Comparison],
    version: str,
    command: str,
) -> Content:
    """Make the report's content."""
    return Content(
        title="The simulator against the Linux kernel",
        kind="Validation",
        what=f"The same scenarios in the simulator and on the real kernel in virtual time. {tolerances()}",
        version=__version__,
        begun=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        ran=[_ran(case) for case in cases],
        pictures=_pictures(cases, sim, kernel, comparisons),
        again=command,
        summary=sentences(comparisons),
        tables=[
            Table("by-variant", "By variant", summary(comparisons)),
            Table("cases", "Every flow", table(comparisons)),
        ],
        figure_bytes=FIGURE_BYTES,
        facts=[("kernel", f"Linux {version}, User-mode Linux in virtual time, 250 ticks a second")],
    )


def _ran(case: Case) -> Ran:
    s = case.scenario
    return Ran(case.name, case.name, 1, s.repetitions, str(s.repetitions), str(s.duration), str(s.seed), s.to_toml())


def _pictures(
    cases: Sequence[Case],
    sim: Mapping[str, Measured],
    kernel: Mapping[str, Measured],
    comparisons: Sequence[Comparison],
) -> list[Picture]:
    """One figure for each group of cases that differ in the path only: a panel for each flow of each case.

    Groups with flows outside are first, the ones with the largest differences before others.
    """
    worst: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    found: dict[tuple[str, str], Comparison] = {(c.case, c.flow): c for c in comparisons}
    groups: dict[str, list[Panel]] = defaultdict(list)
    for case in cases:
        parts = case.name.split("/")
        group = "-".join(parts[:2]) if len(parts) > 2 else parts[0]
        rest = " ".join(parts[2:]) or case.name
        for ours, theirs in zip(sim[case.name].flows, kernel[case.name].flows, strict=True):
            if not len(ours.cwnd) or not len(theirs.cwnd):
                continue
            c = found[case.name, ours.name]
            apart_most = max((abs(d.relative) for d in c.differences.values() if np.isfinite(d.relative)), default=0.0)
            worst[group] = max(worst[group], (len(c.outside), apart_most))
            title = rest if len(sim[case.name].flows) == 1 else f"{rest} {ours.name} ({ours.variant})"
            apart = "" if c.shape is None else f": shape {100 * c.shape:.0f} %"
            curves = [
                Curve(label, look, flow.step_s * (np.arange(len(flow.cwnd), dtype=np.float64) + 0.5), flow.cwnd)
                for label, look, flow in (("simulator", ours.variant, ours), ("kernel", "kernel", theirs))
            ]
            groups[group].append(Panel(title + apart, "time (s)", "cwnd (segments)", curves))
    return [
        Picture(f"cwnd-{name}".replace("%", "pct"), f"cwnd over time, {name}", "", panels, columns=3, markers=False)
        for name, panels in sorted(groups.items(), key=lambda item: worst[item[0]], reverse=True)
    ]
