"""The runs of a sweep, in any number: those used last as objects, the others packed or unread.

A run with its rows takes about 30 KB as objects and a tenth of that packed: a sweep of 100,000 runs fits into the
memory of a laptop. Runs finish in any order. The runs of neighboring cells form a part, which is packed, sorted, as
soon as it is complete: the order in which runs finish leaves no trace.
"""

from __future__ import annotations

import json
import pickle
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, overload

from dumbbell.exceptions import ResultsError
from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.column_parts import FramePart, TablePart
from dumbbell.results.runs.record import Run, UnreadRun
from dumbbell.results.runs.run_text import StoredRun

__all__ = ["PART", "AnyRun", "Place", "RunLog", "Runs", "Unpack", "pack"]

PART = 512
"""Runs that are packed together, about."""
LARGE = 2000
"""Runs up to which all are kept as objects where they are used by cell."""
UNPACKED = 4
"""Packed parts that are kept as objects, too."""

Place = tuple[int, int]
"""The cell of a run (its number) and its repetition."""
AnyRun = Run | StoredRun | UnreadRun
Unpack = Callable[[], list[Run]]


def pack(runs: Sequence[tuple[int, AnyRun]]) -> Unpack:
    """Pack runs in memory; returns the function that unpacks them.

    Unread runs stay as they are. The others become pickles, which take a fifth of the time of JSON. They never leave
    the process.
    """
    unread = [run for _, run in runs if isinstance(run, UnreadRun)]
    if len(unread) == len(runs):
        return lambda: [run.read() for run in unread]
    contents = [run.text if isinstance(run, StoredRun) else _read(run).stored() for _, run in runs]
    packed = zlib.compress(pickle.dumps(contents, protocol=pickle.HIGHEST_PROTOCOL), level=1)

    def unpack() -> list[Run]:
        contents: list[str | dict[str, Any]] = pickle.loads(zlib.decompress(packed))
        return [Run(**(json.loads(run) if isinstance(run, str) else run)) for run in contents]

    return unpack


def _read(run: AnyRun) -> Run:
    return run if isinstance(run, Run) else run.read()


class RunLog:
    """Runs by cell and repetition.

    Parameters
    ----------
    cells : int
        Neighboring cells that form a part.
    freeze : callable
        Stores the runs of a part, given with their cells, and returns the function that reads them again.
    most : int, optional
        Most runs that are frozen together; default: those of a part.

    Attributes
    ----------
    damaged : int
        Stored runs that were left out, because their content isn't the content that was stored.
    """

    def __init__(
        self, cells: int = 1, freeze: Callable[[Sequence[tuple[int, AnyRun]]], Unpack] = pack, most: int | None = None
    ) -> None:
        self.damaged = 0
        self._cells = cells
        self._freeze = freeze
        self._most = most
        self._at: dict[Place, tuple[int, int]] = {}
        self._packed: list[Unpack] = []
        self._pending: dict[int, dict[Place, AnyRun]] = {}
        self._unpacked: OrderedDict[int, list[Run]] = OrderedDict()
        self.frame_parts: list[FramePart] = []
        """Rows of runs as columns, as far as worker processes have made them."""
        self._kinds: dict[tuple[tuple[str, frozenset[type]], ...], Mapping[str, set[type]]] = {}

    def __len__(self) -> int:
        return len(self._at) + sum(map(len, self._pending.values()))

    def __contains__(self, place: Place) -> bool:
        return place in self._at or place in self._pending.get(self.part(place[0]), ())

    def part(self, cell: int) -> int:
        """Return the part of a cell."""
        return cell // self._cells

    def add(self, cell: int, run: AnyRun) -> None:
        """Add a run of a cell."""
        self._pending.setdefault(self.part(cell), {})[cell, run.repetition] = run

    def add_frames(self, part: FramePart) -> None:
        """Add the rows of runs as columns. Tables with the same columns share their description."""
        tables: dict[Frame, TablePart] = {}
        for name, table in part.tables.items():
            described = tuple((column, frozenset(kinds)) for column, kinds in table.kinds.items())
            tables[name] = replace(table, kinds=self._kinds.setdefault(described, table.kinds))
        self.frame_parts.append(replace(part, tables=tables))

    def close(self, part: int) -> None:
        """Pack the runs of a part."""
        every = sorted(self._pending.pop(part, {}).items(), key=itemgetter(0))
        most = self._most or max(len(every), 1)
        for runs in (every[k : k + most] for k in range(0, len(every), most)):
            self.add_packed([place for place, _ in runs], self._freeze([(place[0], run) for place, run in runs]))
            objects = [run for _, run in runs if isinstance(run, Run)]
            if len(objects) == len(runs):
                self._keep(len(self._packed) - 1, objects)

    def close_all(self) -> None:
        """Pack all runs."""
        for part in sorted(self._pending):
            self.close(part)

    def add_packed(self, places: Sequence[Place], unpack: Unpack) -> None:
        """Add runs that are packed: their places, in order."""
        self._at.update({place: (len(self._packed), k) for k, place in enumerate(places)})
        self._packed.append(unpack)

    def get(self, place: Place) -> Run:
        """Return a run; KeyError without it."""
        pending = self._pending.get(self.part(place[0]), {}).get(place)
        if pending is not None:
            return _read(pending)
        number, k = self._at[place]
        return self._runs_of(number)[k]

    def _runs_of(self, number: int) -> list[Run]:
        if number not in self._unpacked:
            self._keep(number, self._packed[number]())
        self._unpacked.move_to_end(number)
        return self._unpacked[number]

    def _keep(self, number: int, runs: list[Run]) -> None:
        self._unpacked[number] = runs
        if len(self._unpacked) > UNPACKED:
            self._unpacked.popitem(last=False)

    def places(self) -> list[Place]:
        """Return the place of every run, sorted."""
        return sorted([*self._at, *(place for runs in self._pending.values() for place in runs)])

    def chunks(self, numbers: Mapping[Place, int]) -> Iterator[list[Run]]:
        """Yield the runs that have a number, with it as their index, part by part, so that each is read once."""
        packed: dict[int, list[tuple[int, int]]] = {}
        pending = []
        for place, index in numbers.items():
            if place in self._at and place not in self._pending.get(self.part(place[0]), ()):
                number, k = self._at[place]
                packed.setdefault(number, []).append((index, k))
            else:
                pending.append(replace(self.get(place), index=index))
        for number in sorted(packed):
            runs = self._runs_of(number)
            yield [replace(runs[k], index=index) for index, k in packed[number]]
        if pending:
            yield pending


class Runs(Sequence[Run]):
    """The runs of results, numbered from 0, by cell and repetition."""

    def __init__(self, log: RunLog, places: Sequence[Place]) -> None:
        self._log = log
        self.places = places

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Runs:
        """Hold runs in their order; those with the same values are the repetitions of one cell.

        Raises
        ------
        ResultsError
            If two runs are the same repetition of one cell.
        """
        cells: dict[str, int] = {}
        log = RunLog(max(len(runs), 1))
        places = []
        for run in runs:
            cell = cells.setdefault(json.dumps(run.cell, sort_keys=True), len(cells))
            if (cell, run.repetition) in log:
                raise ResultsError(f"two runs are repetition {run.repetition} of the cell {run.cell}")
            log.add(cell, run)
            places.append((cell, run.repetition))
        return cls(log, places)

    def chunks(self, numbers: Mapping[Place, int] | None = None) -> Iterator[list[Run]]:
        """Yield all runs, or those that have a number, in parts, each read once; in order within a part."""
        if numbers is None:
            numbers = {place: index for index, place in enumerate(self.places)}
        return self._log.chunks(numbers)

    def frame_parts(self) -> list[FramePart]:
        """Return the rows of runs that are columns already."""
        return self._log.frame_parts

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        found = range(len(self.places))[index]
        return [self._run(k) for k in found] if isinstance(found, range) else self._run(found)

    def _run(self, index: int) -> Run:
        run = self._log.get(self.places[index])
        return run if run.index == index else replace(run, index=index)

    def by_cell(self) -> list[Sequence[Run]]:
        """Return the runs of each cell, in the order in which the cells appear; those of many are read when used."""
        numbers: dict[int, list[int]] = {}
        for number, (cell, _) in enumerate(self.places):
            numbers.setdefault(cell, []).append(number)
        every = [_RunsOfCell(self, of_cell) for of_cell in numbers.values()]
        return [list(of_cell) for of_cell in every] if len(self) <= LARGE else [*every]


class _RunsOfCell(Sequence[Run]):
    """Some runs of a sequence, read when they are used."""

    def __init__(self, runs: Runs, numbers: Sequence[int]) -> None:
        self._runs = runs
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        found = self._numbers[index]
        return self._runs[found] if isinstance(found, int) else [self._runs[number] for number in found]
