"""The check of every cell of a sweep, and the properties of all cells. Several processes check a large sweep."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.exceptions import Problem
from dumbbell.scenario.flow.abr import OwnRule
from dumbbell.scenario.flow.application import Video
from dumbbell.scenario.flow.programs import Http
from dumbbell.scenario.own.disciplines import OwnDiscipline
from dumbbell.scenario.own.sections import may_have_code
from dumbbell.scenario.own.variants import OwnVariant
from dumbbell.scenario.without_effect import Effects
from dumbbell.scenario.worker_copy import WorkerCopy

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["PROCESSES_FROM", "CellCheck", "CellProperties", "check_in_processes", "own_disciplines", "range_checker"]

PROCESSES_FROM = 20_000
"""Cells from which several processes check them: their start takes about as long as 2,000 cells."""
RANGE = 500
"""Cells that a process checks at a time."""


@dataclass(frozen=True)
class CellProperties:
    """Properties of a sweep's cells taken together.

    Attributes
    ----------
    problems : list of Problem
        Settings that have no effect in any cell.
    captures : bool
        True if a cell makes captures or qlog files.
    qlogs : list of str
        Names of the flows whose programs write qlog files.
    own : dict of str to OwnVariant
        Own variants of the flows, by name.
    disciplines : dict of str to OwnDiscipline
        Own queue disciplines of the links, by name.
    code : list of str
        Names of the own code that a run executes: own variants, own disciplines, and own rules of videos.
    python : bool
        True if a part of that code is Python.
    """

    problems: list[Problem]
    captures: bool
    qlogs: list[str]
    own: dict[str, OwnVariant]
    disciplines: dict[str, OwnDiscipline]
    code: list[str]
    python: bool


def own_disciplines(scenario: Scenario) -> dict[str, OwnDiscipline]:
    """Return the own queue disciplines of a scenario's links, by name."""
    queues = (edge.settings.queue for edge in scenario.layout.drawing.edges)
    return {queue.own.name: queue.own for queue in queues if queue.own is not None}


@dataclass
class CellCheck:
    """The check of cells, in their order.

    Attributes
    ----------
    failed : int or None
        The first cell that can't be made.
    """

    effects: Effects = field(default_factory=Effects)
    captures: bool = False
    own: dict[str, OwnVariant] = field(default_factory=dict)
    disciplines: dict[str, OwnDiscipline] = field(default_factory=dict)
    rules: dict[str, None] = field(default_factory=dict)
    qlogs: dict[str, None] = field(default_factory=dict)
    failed: int | None = None

    def add(self, scenario: Scenario) -> None:
        """Check a cell."""
        self.captures = self.captures or scenario.capture.keeps
        flows = scenario.single_flows
        variants = (flow.variant for flow in flows)
        self.own.update({v.own.name: v.own for v in variants if v is not None and v.own is not None})
        self.disciplines.update(own_disciplines(scenario))
        videos = (flow.application for flow in flows if isinstance(flow.application, Video))
        self.rules.update({app.abr.own.name: None for app in videos if isinstance(app.abr, OwnRule)})
        self.qlogs.update({f.name: None for f in flows if isinstance(f.application, Http) and f.application.qlog})
        self.effects.add(scenario)

    def merge(self, later: CellCheck) -> None:
        """Add the check of later cells without own code."""
        self.effects.merge(later.effects)
        self.captures = self.captures or later.captures
        self.qlogs.update(later.qlogs)
        self.failed = later.failed if self.failed is None else self.failed

    def properties(self) -> CellProperties:
        """Return the properties of the cells."""
        own = (*self.own.values(), *self.disciplines.values())
        python = bool(self.rules) or any(code.key != "library" for code in own)
        code = [*self.own, *self.disciplines, *self.rules]
        return CellProperties(
            self.effects.problems(), self.captures, [*self.qlogs], self.own, self.disciplines, code, python
        )


def check_in_processes(scenario: Scenario) -> CellCheck | None:
    """Check all cells of a scenario with several processes; None if that is not possible or of no use."""
    from dumbbell.workers import Pool, allowed  # only for large sweeps

    cells, count = len(scenario.cells), allowed()
    if cells < PROCESSES_FROM or count < 2 or may_have_code(scenario.to_dict()):
        return None
    ranges = deque((n, min(n + RANGE, cells)) for n in range(0, cells, RANGE))
    found: dict[int, CellCheck] = {}
    with Pool[tuple[int, int]](f"{__name__}:range_checker", WorkerCopy.of(scenario), count) as pool:
        for (first, _), (checked, used) in pool.run(lambda: ranges.popleft() if ranges else None):
            found[first] = checked
            scenario.places.used.update(used)
            if checked.failed is not None:
                ranges.clear()  # the ranges before it are checked already, or in progress
    whole = CellCheck()
    for first in sorted(found):
        whole.merge(found[first])
    return whole


def range_checker(setup: WorkerCopy) -> Callable[[tuple[int, int]], tuple[CellCheck, dict[str, Path]]]:
    """Return the function that checks a range of cells, and returns the files that they name, too."""
    scenario = setup.scenario()

    def check(cells: tuple[int, int]) -> tuple[CellCheck, dict[str, Path]]:
        checked = CellCheck()
        for number in range(*cells):
            try:
                checked.add(scenario.cells.scenario_of(number))
            except Exception:  # the other process makes this cell again, which raises the error there
                checked.failed = number
                break
        return checked, dict(scenario.external_files)

    return check
