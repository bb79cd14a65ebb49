"""A study that was run: its results, their analysis and the files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dumbbell.plots import Drawn
from dumbbell.report.finding import Analysis
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.studies.definition import Study
from dumbbell.studies.kernel_column import Column
from dumbbell.studies.partial import Refused
from dumbbell.studies.sequential import Design

__all__ = ["Done"]


@dataclass(frozen=True)
class Done:
    """A study that was run."""

    study: Study
    quick: bool
    backend: str
    out: Path
    scenarios: dict[str, Scenario]
    folders: dict[str, Path]
    results: dict[str, Results]
    analysis: Analysis
    drawn: list[Drawn]
    seconds: float
    column: Column | None = None
    """The numbers of both back ends; None if they aren't wanted, or the study declares none."""
    refused: Refused = field(default_factory=dict)
    """The cells that the back end can't run."""
    design: Design = field(default_factory=Design)
    """Seeds, looks and budget of the decisions."""

    @property
    def runs(self) -> int:
        """Number of runs that it rests on."""
        beside = self.column.results if self.column is not None else {}
        return sum(len(r) for each in (self.results, beside) for r in each.values())

    @property
    def report(self) -> Path:
        """The page."""
        return self.out / "report.html"
