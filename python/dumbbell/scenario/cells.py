"""The cells of a sweep. All are checked when the scenario is read; each is made again when it is asked for.

A sweep may have more cells than memory has room for their scenarios. A cell is therefore a number; its values and its
scenario follow from it. The scenarios of the cells that were asked for last are kept.
"""

from __future__ import annotations

import contextvars
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, overload

from dumbbell.exceptions import Problem
from dumbbell.scenario.abr import OwnRule
from dumbbell.scenario.application import Video
from dumbbell.scenario.own_disciplines import OwnDiscipline
from dumbbell.scenario.own_variants import OwnVariant
from dumbbell.scenario.programs import Http
from dumbbell.scenario.without_effect import without_effect

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["Cell", "Cells", "Seen"]

KEPT = 512
"""Scenarios of cells that are kept: as many as the threads of a run work on, at about 10 KB each."""


class Cell:
    """One combination of a sweep's values, and the scenario that it makes.

    Attributes
    ----------
    number : int
        Its place in the sweep, from 0.
    """

    __slots__ = ("_cells", "number")

    def __init__(self, cells: Cells, number: int) -> None:
        self._cells = cells
        self.number = number

    @property
    def cells(self) -> Cells:
        """All cells of the sweep."""
        return self._cells

    @property
    def values(self) -> dict[str, Any]:
        """The swept paths with this cell's values; empty without a sweep."""
        return self._cells.values_of(self.number)

    @property
    def scenario(self) -> Scenario:
        """The scenario with these values, without a sweep."""
        return self._cells.scenario_of(self.number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and other._cells is self._cells and other.number == self.number

    def __hash__(self) -> int:
        return hash((id(self._cells), self.number))

    def __repr__(self) -> str:
        return f"<Cell {self.number}: {self.values}>"


@dataclass(frozen=True)
class Seen:
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


class Cells(Sequence[Cell]):
    """The cells of one scenario.

    Parameters
    ----------
    count : int
        Number of cells.
    values_of : callable
        Number -> swept paths with their values.
    make : callable
        Number -> the cell's scenario. It is called in the context in which this object was made, whose scopes say
        where files lie and which own variants exist.
    """

    def __init__(
        self, count: int, values_of: Callable[[int], dict[str, Any]], make: Callable[[int], Scenario]
    ) -> None:
        self.values_of = values_of
        self._count = count
        self._make = make
        self._context = contextvars.copy_context()
        self._made: OrderedDict[int, Scenario] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def seen(self) -> Seen:
        """Make every cell once; ScenarioError if one can't be made."""
        captures = False
        own: dict[str, OwnVariant] = {}
        disciplines: dict[str, OwnDiscipline] = {}
        rules: dict[str, None] = {}
        qlogs: dict[str, None] = {}

        def scenarios() -> Iterator[Scenario]:
            nonlocal captures
            for cell in self:
                scenario = cell.scenario
                captures = captures or scenario.capture.keeps
                flows = scenario.single_flows
                variants = (flow.variant for flow in flows)
                own.update({v.own.name: v.own for v in variants if v is not None and v.own is not None})
                disciplines.update(own_disciplines(scenario))
                videos = (flow.application for flow in flows if isinstance(flow.application, Video))
                rules.update({app.abr.own.name: None for app in videos if isinstance(app.abr, OwnRule)})
                qlogs.update({f.name: None for f in flows if isinstance(f.application, Http) and f.application.qlog})
                yield scenario

        problems = without_effect(scenarios())
        python = bool(rules) or any(code.key != "library" for code in (*own.values(), *disciplines.values()))
        return Seen(problems, captures, [*qlogs], own, disciplines, [*own, *disciplines, *rules], python)

    def scenario_of(self, number: int) -> Scenario:
        """Return the scenario of a cell."""
        with self._lock:
            made = self._made.get(number)
            if made is not None:
                self._made.move_to_end(number)
                return made
        made = self._context.copy().run(self._make, number)
        with self._lock:
            self._made[number] = made
            if len(self._made) > KEPT:
                self._made.popitem(last=False)
        return made

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Cell: ...

    @overload
    def __getitem__(self, number: slice) -> list[Cell]: ...

    def __getitem__(self, number: int | slice) -> Cell | list[Cell]:
        found = range(self._count)[number]
        return [Cell(self, n) for n in found] if isinstance(found, range) else Cell(self, found)

    def __iter__(self) -> Iterator[Cell]:
        return (Cell(self, n) for n in range(self._count))
