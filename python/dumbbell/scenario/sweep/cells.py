"""The cells of a sweep. All are checked when the scenario is read; each is made again when it is asked for.

A sweep may have more cells than memory has room for their scenarios. A cell is therefore a number; its values and its
scenario follow from it. The scenarios of the cells that were asked for last are kept.
"""

from __future__ import annotations

import contextvars
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, overload

from dumbbell.scenario.sweep.cell_checks import CellCheck, CellProperties, check_in_processes

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["Cell", "Cells"]

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
    whole : Scenario, optional
        The scenario with the sweep; with it, the cells of a large sweep are checked by several processes.
    """

    def __init__(
        self,
        count: int,
        values_of: Callable[[int], dict[str, Any]],
        make: Callable[[int], Scenario],
        whole: Scenario | None = None,
    ) -> None:
        self.values_of = values_of
        self._whole = whole
        self._count = count
        self._make = make
        self._context = contextvars.copy_context()
        self._made: OrderedDict[int, Scenario] = OrderedDict()
        self._lock = Lock()

    @property
    def are_checked(self) -> bool:
        """True if every cell was made once."""
        return "properties" in self.__dict__

    @cached_property
    def properties(self) -> CellProperties:
        """Make every cell once; ScenarioError if one can't be made."""
        check = check_in_processes(self._whole) if self._whole is not None else None
        if check is not None and check.failed is not None:
            self.scenario_of(check.failed)  # raises the error
            check = None
        if check is None:
            check = CellCheck()
            for cell in self:
                check.add(cell.scenario)
        return check.properties()

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
