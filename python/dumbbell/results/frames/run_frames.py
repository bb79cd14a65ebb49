"""Runs as polars frames: one row per flow, queue or transfer of each run, with the cell's values as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dumbbell.results.frames.table_rows import Heads, Placed, Rows, label
from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.column_parts import FramePart, TablePart
from dumbbell.results.runs.record import Run
from dumbbell.results.runs.run_list import Runs

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.scenario.sweep.cells import Cells

__all__ = ["frame", "label", "tables"]


def frame(runs: Runs, rows_of: Callable[[Run], Iterable[dict[str, Any]]]) -> pl.DataFrame:
    """Make a frame of the rows that ``rows_of`` finds in each run; at most a part of the runs is in memory."""
    found = [(_heads(chunk), TablePart.of([list(rows_of(run)) for run in chunk])) for chunk in runs.chunks()]
    return Rows(found).frame()


def tables(runs: Runs, cells: Cells, names: Sequence[Frame]) -> Iterator[tuple[Frame, Rows]]:
    """Find the tables of the runs of a sweep, one after the other. Every stored run is read once at most.

    Rows that worker processes have made with their runs are used. With several tables, the rows of those that are not
    made yet are kept compressed.
    """
    numbers = {place: index for index, place in enumerate(runs.places)}
    found: dict[Frame, list[Placed]] = {name: [] for name in names}
    for part in runs.frame_parts():
        if not all(place in numbers for place in part.places):
            continue
        heads = Heads.of(
            (numbers.pop((cell, repetition)), cells.values_of(cell), repetition, seed)
            for (cell, repetition), seed in zip(part.places, part.seeds, strict=True)
        )
        for name in names:
            found[name].append((heads, part.tables[name]))
    for chunk in runs.chunks(numbers):
        heads, of_chunk = _heads(chunk), FramePart.of(chunk, names).tables
        for name in names:
            table = of_chunk.pop(name)
            found[name].append((heads, table if len(names) == 1 else table.packed()))
    for name in names:
        yield name, Rows(found.pop(name))


def _heads(runs: Iterable[Run]) -> Heads:
    return Heads.of((run.index, run.cell, run.repetition, run.seed) for run in runs)
