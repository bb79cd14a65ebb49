"""Both back ends: a study's decisive cells on the virtual-time kernel beside the simulator's, and the reverse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from dumbbell.exceptions import BackendError
from dumbbell.kernel import installed
from dumbbell.kernel.guest import GUEST
from dumbbell.kernel.uml import tools
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.report.finding import Table
from dumbbell.results import Results
from dumbbell.studies.judge import Quantities
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.reference import points
from dumbbell.studies.shared import Floats

if TYPE_CHECKING:
    from pathlib import Path

    from dumbbell.scenario import Scenario
    from dumbbell.studies.definition import Study

__all__ = ["NAME", "Column", "Row", "column", "why_no_kernel"]

NAME = "linux"
"""Name of the table and of the figure."""
HOW = "`dumbbell kernel build` builds it, once, in a few minutes; the same command then adds the column"


def why_no_kernel() -> str:
    """Return why no run on the virtual-time kernel is possible here, and the remedy; empty if one is."""
    reason = tools.unsupported()
    if reason is None and not GUEST.exists():
        reason = "this installation lacks dumbbell-guest"
    if reason is not None:
        return reason
    return "" if installed() else f"the virtual-time kernel isn't built: {HOW}"


@dataclass(frozen=True)
class Row:
    """A decisive number.

    Attributes
    ----------
    what, name, unit : str
        Its words, those of its metric, the unit.
    report : float or None
        The report's number.
    here, there : (n,) float64, in the unit
        Values by repetition, of the same seeds: of the simulator, and of Linux.
    """

    what: str
    name: str
    unit: str
    report: float | None
    here: Floats
    there: Floats

    @property
    def off(self) -> float:
        """The difference of the means, as a part of the larger one."""
        both = (float(self.here.mean()), float(self.there.mean()))
        largest = max(map(abs, both))
        return abs(both[0] - both[1]) / largest if largest else 0.0

    def document(self) -> dict[str, Any]:
        """Return it in plain values."""
        return {
            "what": self.what,
            "metric": self.name,
            "unit": self.unit,
            "report": self.report,
            "simulator": [float(x) for x in self.here],
            "linux": [float(x) for x in self.there],
        }


@dataclass(frozen=True)
class Column:
    """The column of the real kernel.

    Attributes
    ----------
    rows : sequence of Row
        Empty without a kernel.
    absent : str
        Why there is no column; empty if there is one.
    kernel : str
        Version of the kernel.
    results, scenarios, folders : by experiment
        Of the back end that was added.
    added : str
        Its name: ``uml`` if the study ran in the simulator, ``sim`` if it ran on the kernel.
    notes : sequence of str
        How the scenarios differ from those of the simulator.
    """

    rows: Sequence[Row] = ()
    absent: str = ""
    kernel: str = ""
    results: Mapping[str, Results] = field(default_factory=dict)
    scenarios: Mapping[str, Scenario] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    notes: Sequence[str] = ()
    added: str = "uml"

    @property
    def summary(self) -> str:
        """One sentence for the page's summary."""
        if self.absent:
            return f"The column of the real kernel is missing: {self.absent}."
        runs = sum(len(each) for each in self.results.values())
        where = f"on Linux {self.kernel} too, in {runs} runs in virtual time"
        if self.added == "sim":
            where = f"in the simulator too, in {runs} runs"
        return f"{len(self.rows)} decisive numbers were measured {where}: see the table “{self.title}”."

    @property
    def title(self) -> str:
        """Title of the table."""
        return "The same cells on Linux" if self.added == "uml" else "The same cells in the simulator"

    def table(self) -> Table:
        """Return the column as a table."""
        rows = [
            {
                "cell": row.what,
                "quantity": f"{row.name}, {row.unit}" if row.unit else row.name,
                "report": "-" if row.report is None else f"{row.report:.4g}",
                "simulator": _text(row.here),
                f"Linux {self.kernel}": _text(row.there),
            }
            for row in self.rows
        ]
        return Table(NAME, f"{self.title}: mean (smallest to largest), same seeds", pl.DataFrame(rows))

    def picture(self) -> Picture:
        """Draw both back ends and the report: a panel for each metric."""
        by_metric: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            by_metric.setdefault((row.name, row.unit), []).append(row)
        off = [row.off for row in self.rows]
        far = max(self.rows, key=lambda row: row.off)
        numbers = f"{far.there.mean():.3g} against {far.here.mean():.3g} {far.unit}".rstrip()
        reading = (
            f"Linux differs from the simulator by {100 * float(np.median(off)):.1f} % in the median of the numbers, "
            f"and most in “{far.what}”: {numbers}"
        )
        panels = [_panel(name, unit, rows, self.kernel) for (name, unit), rows in by_metric.items()]
        note = ". ".join(["Means, from the smallest to the largest repetition of the same seeds", *self.notes])
        return Picture(NAME, "Both back ends: the simulator and Linux", f"{reading}.", panels, note=f"{note}.")

    def document(self) -> dict[str, Any]:
        """Return it in plain values."""
        return {
            "absent": self.absent,
            "added": self.added,
            "kernel": self.kernel,
            "runs": {name: len(each) for name, each in self.results.items()},
            "notes": list(self.notes),
            "numbers": [row.document() for row in self.rows],
        }


def _text(values: Floats) -> str:
    return f"{values.mean():.4g} ({values.min():.4g} to {values.max():.4g})" if values.size > 1 else f"{values[0]:.4g}"


def _panel(name: str, unit: str, rows: Sequence[Row], kernel: str) -> Panel:
    def curve(label: str, look: str, values: Sequence[Floats]) -> Curve:
        x = np.arange(len(rows), dtype=np.float64)
        y, low, high = (np.array([f(v) for v in values]) for f in (np.mean, np.min, np.max))
        return Curve(label, look, x, y, low, high, kind="points")

    curves = [
        curve("simulator", "simulator", [r.here for r in rows]),
        curve(f"Linux {kernel}", "kernel", [r.there for r in rows]),
    ]
    reported = [(k, r.report) for k, r in enumerate(rows) if r.report is not None]
    if reported:
        curves.append(points([k for k, _ in reported], [y for _, y in reported]))
    label = f"{name} ({unit})" if unit else name
    return Panel("", "", label, curves, categories=[r.what for r in rows])


def column(
    study: Study,
    here: Mapping[str, Results],
    there: Mapping[str, Results],
    scenarios: Mapping[str, Scenario],
    folders: Mapping[str, Path],
    *,
    added: str = "uml",
) -> Column:
    """Compare the decisive numbers of the simulator's results with those of the kernel's.

    Raises
    ------
    BackendError
        If none of the numbers can be read from the runs.
    """
    if study.kernel is None:
        raise ValueError(f"study {study.name} declares no decisive cells")
    measured = import_module(f"dumbbell.studies.{study.folder.name}.measured").measured
    both: tuple[Quantities, Quantities] = measured(here), measured(there)
    rows = []
    for number in study.kernel.decisive:
        try:
            mine, theirs = (q.get(number.metric, number.at) for q in both)
        except NotRunError:
            continue
        same = min(mine.size, theirs.size)
        mine, theirs = (x[np.isfinite(x)] for x in (mine[:same], theirs[:same]))
        if mine.size and theirs.size:
            words = both[0].words
            rows.append(
                Row(number.what, words.metric(number.metric), words.unit(number.metric), number.report, mine, theirs)
            )
    if not rows:
        raise BackendError(f"study {study.name}: no decisive number can be read from the runs on the kernel")
    notes = [e.kernel_note for e in study.experiments if e.kernel_note and e.name in there]
    version = _version(there)
    made = there if added == "uml" else here
    return Column(rows, "", version, made, scenarios, folders, list(dict.fromkeys(notes)), added)


def _version(results: Mapping[str, Results]) -> str:
    """Return the release of the kernel that made the runs, without our suffix."""
    for each in results.values():
        for run in each.runs:
            release = str(run.facts.get("host", {}).get("kernel", ""))
            if release:
                return release.partition("-")[0]
    return ""
