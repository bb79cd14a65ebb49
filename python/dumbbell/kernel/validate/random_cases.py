"""A comparison over random cases: each is judged, the worst ones are made smaller and kept as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from dumbbell import __version__
from dumbbell.backends import Backend
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.exceptions import BackendError, ResultsError
from dumbbell.kernel.validate.case_runs import measure
from dumbbell.kernel.validate.cases import Case
from dumbbell.kernel.validate.figures import FIGURES
from dumbbell.kernel.validate.scenario_draws import RANGES, SIMULATED
from dumbbell.kernel.validate.shrink import shrunk
from dumbbell.kernel.validate.verdicts import Judged, distribution, groups, judge, short_transfers, worst
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.report.content import Content, Ran
from dumbbell.report.finding import Table

__all__ = ["AtRandom", "compare_at_random", "content", "keep_worst", "table"]

RULE = (
    "A figure is the same if the means differ by at most 5 % (retransmissions: 15 % or 3 packets), by chance if they "
    "differ by more but by at most two standard errors of the difference (Student's test with the variance of both "
    "sides together), and different otherwise."
)
SHOWN = 30.0
"""Largest difference on the figure's axis, %."""

Progress = Callable[[int, int], None]


@dataclass
class AtRandom:
    """Every judgment, the cases that couldn't be run with the reason, and the worst ones made smaller."""

    cases: list[Case]
    judged: list[Judged] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    smallest: list[tuple[Case, Judged]] = field(default_factory=list)

    @property
    def worst(self) -> list[Judged]:
        """The furthest figure of each case that differs."""
        return worst(self.judged)


def compare_at_random(
    cases: Sequence[Case],
    sides: tuple[Backend, Backend],
    *,
    jobs: int,
    shrink: int,
    keep: Path | None = None,
    progress: Progress = lambda _done, _all: None,
) -> AtRandom:
    """Run and judge every case on the simulator and the kernel; make the `shrink` worst ones smaller.

    Raises
    ------
    ResultsError
    """
    simulator, kernel = sides

    def compared(case: Case, place: Path | None = None) -> list[Judged]:
        ours = measure([case.repeated(SIMULATED)], simulator, jobs=jobs)[case.name]
        theirs = measure([case], kernel, jobs=jobs, keep=place)[case.name]
        return judge(case.name, ours, theirs, short_transfers(case, theirs))

    done = AtRandom(list(cases))
    for n, case in enumerate(cases):
        progress(n, len(cases))
        try:
            done.judged += compared(case, keep)
        except BackendError as e:
            done.failed.append((case.name, str(e)))
    progress(len(cases), len(cases))
    of = {case.name: case for case in cases}
    for found in done.worst[:shrink]:
        done.smallest.append(shrunk(of[found.case], found, compared))
    return done


def keep_worst(done: AtRandom, folder: Path) -> None:
    """Write the worst cases as scenario files: as drawn, and made smaller; ResultsError if that fails."""
    of = {case.name: case for case in done.cases}
    files = {f"{found.case}.toml": (of[found.case], found) for found in done.worst}
    files |= {f"{case.name}-small.toml": (case, found) for case, found in done.smallest}
    try:
        for name, (case, found) in files.items():
            text = f"# {found.sentence}.\n{case.scenario.to_toml()}"
            LinkFreeFolder(folder).write_text(name, text)
    except OSError as e:
        raise ResultsError(f"{folder}: can't be written: {e.strerror or e}") from None


def table(judged: Sequence[Judged]) -> pl.DataFrame:
    """One row for each judgment, the furthest first."""
    rows = [
        {
            "case": j.case,
            "flow": j.flow,
            "variant": j.variant,
            "figure": FIGURES[j.figure].name,
            "simulator": j.sim,
            "kernel": j.kernel,
            "standard error": j.error,
            "difference %": 100 * j.relative if np.isfinite(j.relative) else None,
            "outcome": str(j.outcome),
        }
        for j in sorted(judged, key=lambda j: (-j.excess, j.case, j.flow, j.figure))
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def content(done: AtRandom, version: str, command: str) -> Content:
    """Make the report's content."""
    tables = [
        Table("ranges", "Ranges", pl.DataFrame({"quantity": list(RANGES), "range": list(RANGES.values())})),
        Table("distribution", "Differences", distribution(done.judged)),
        Table("groups", "Figures that differ, by group", groups(done.cases, done.judged)),
        Table("figures", "Every figure, the furthest first", table(done.judged)),
    ]
    if done.failed:
        rows = pl.DataFrame(done.failed, schema=["case", "reason"], orient="row")
        tables.append(Table("failed", "Cases that were not run", rows))
    return Content(
        title="The simulator against the Linux kernel in random conditions",
        kind="Validation",
        what=f"Scenarios drawn from stated ranges, in the simulator and on the real kernel in virtual time. {RULE}",
        version=__version__,
        begun=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        ran=[_ran(case, found) for case, found in done.smallest],
        pictures=[_picture(done.judged)] if done.judged else [],
        again=command,
        summary=[
            f"{len(done.cases) - len(done.failed)} of {len(done.cases)} cases were run.",
            f"{len(done.worst)} have a figure that differs.",
            *(found.sentence + "." for found in done.worst),
        ],
        tables=tables,
        facts=[("kernel", f"Linux {version}, User-mode Linux in virtual time, 250 ticks a second")],
    )


def _ran(case: Case, found: Judged) -> Ran:
    s = case.scenario
    return Ran(
        case.name, found.sentence, 1, s.repetitions, str(s.repetitions), str(s.duration), str(s.seed), s.to_toml()
    )


def _picture(judged: Sequence[Judged]) -> Picture:
    """Draw the distribution function of the relative difference of each figure."""
    panels = []
    for column, figure in FIGURES.items():
        apart = np.sort([100 * j.relative for j in judged if j.figure == column and np.isfinite(j.relative)])
        if not len(apart):
            continue
        share = np.arange(1, len(apart) + 1) / len(apart)
        curve = Curve("flows", "kernel", np.clip(apart, -SHOWN, SHOWN), share)
        panels.append(Panel(figure.name, f"difference (%, up to {SHOWN:g})", "share of flows", [curve]))
    return Picture("distribution", "Differences of the simulator from the kernel", "", panels, columns=2, markers=False)
