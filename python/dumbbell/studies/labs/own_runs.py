"""The runs of a student, made again by the simulator when a figure needs them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from dumbbell.capture import Capture, read_capture
from dumbbell.common.run_folders import LAB_PREFIX, Folder, clean_once
from dumbbell.exceptions import DumbbellError
from dumbbell.results import Results, run
from dumbbell.scenario import Scenario, toml
from dumbbell.studies.labs.student import Assignment

__all__ = ["OwnRun", "OwnRuns", "figures_of"]


class OwnRun:
    """One run: its scenario, its rows by name, its series, its captures."""

    def __init__(self, results: Results) -> None:
        self.scenario = results.scenario
        self._results = results

    def flow(self, name: str) -> dict[str, Any]:
        """Return a flow's row of the results."""
        return self._results.flows.row(by_predicate=pl.col("name") == name, named=True)

    def queue(self, name: str = "r1->r2") -> dict[str, Any]:
        """Return a queue's row of the results."""
        return self._results.queues.row(by_predicate=pl.col("name") == name, named=True)

    def series(self, column: str, flow: str) -> pl.DataFrame:
        """Return a flow's series: ``time_s`` and the column."""
        return self._results.series(0, column, flow=flow)

    def capture(self, point: str) -> Capture:
        """Analyze the capture that the run wrote at a point."""
        return read_capture(self._results.captures(0)[point])


class OwnRuns(Mapping[str, OwnRun]):
    """The runs of an assignment by name; each is made when it is used first."""

    def __init__(self, assigned: Assignment, folder: Path) -> None:
        self._planned = assigned.runs
        self._scenario = assigned.scenario
        self._folder = folder
        self._made: dict[str, OwnRun] = {}

    def __getitem__(self, name: str) -> OwnRun:
        """Return a run."""
        if name not in self._made:
            planned = self._planned[name]
            changes = {path: toml.value(value) for path, value in planned.changes.items()}
            scenario = Scenario.from_toml(self._scenario, changes)
            out = self._folder / name if scenario.capture is not None else None
            self._made[name] = OwnRun(run(scenario, jobs=1, out=out, trace=planned.trace or None))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """List the names."""
        return iter(self._planned)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self._planned)


def figures_of(assigned: Assignment) -> dict[str, float]:
    """Compute the figure of each question from the student's own runs."""
    clean_once()  # the remains of killed programs
    folder = Folder(LAB_PREFIX)
    try:
        found: dict[str, float] = import_module(assigned.lab.module).figures(OwnRuns(assigned, folder.path))
    finally:
        folder.remove()
    asked = [question.id for question in assigned.lab.questions]
    if sorted(found) != sorted(asked) or not all(math.isfinite(value) for value in found.values()):
        raise DumbbellError(f"lab {assigned.lab.name}: figures {found}, but the questions are {asked}")
    return found
