"""Runs as polars frames: one row per flow, queue or transfer of each run, with the cell's values as columns.

A swept quantity has two columns: its text, and its number in base units (`dumbbell.results.swept`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dumbbell.results.export import Frame
from dumbbell.results.frame_parts import FramePart, TablePart, joined, kinds_of, series
from dumbbell.results.record import Run
from dumbbell.results.runs import Runs
from dumbbell.results.swept import base_units

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.scenario.cells import Cells

__all__ = ["frame", "label", "tables"]


HEADS = ("name", "preset", "discipline", "kind", "model", "distribution", "python", "library")
"""Keys that identify a table."""


def label(value: object) -> str | int | float | bool | None:
    """Write a cell's value as one column holds it: tables in short form, such as ``vegas(alpha=2)``."""
    if isinstance(value, dict):
        rest = dict(value)
        head = next((str(rest.pop(k)) for k in HEADS if k in rest), "")
        inner = ", ".join(f"{k}={label(v)}" for k, v in rest.items())
        return f"{head}({inner})" if inner else head
    if isinstance(value, list):
        return json.dumps(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def frame(runs: Runs, rows_of: Callable[[Run], Iterable[dict[str, Any]]]) -> pl.DataFrame:
    """Make a frame of the rows that ``rows_of`` finds in each run; at most a part of the runs is in memory."""
    return _joined([(_heads(chunk), TablePart.of([list(rows_of(run)) for run in chunk])) for chunk in runs.chunks()])


def tables(runs: Runs, cells: Cells, names: Sequence[Frame]) -> Iterator[tuple[Frame, pl.DataFrame]]:
    """Make tables of the runs of a sweep, one after the other. Every stored run is read once at most.

    Rows that worker processes have made with their runs are used. With several tables, the rows of those that are not
    made yet are kept compressed.
    """
    numbers = {place: index for index, place in enumerate(runs.places)}
    found: dict[Frame, list[_Placed]] = {name: [] for name in names}
    for part in runs.frame_parts():
        if not all(place in numbers for place in part.places):
            continue
        heads = [
            _Head(numbers.pop((cell, repetition)), cells.values_of(cell), repetition, seed)
            for (cell, repetition), seed in zip(part.places, part.seeds, strict=True)
        ]
        for name in names:
            found[name].append((heads, part.tables[name]))
    for chunk in runs.chunks(numbers):
        heads, of_chunk = _heads(chunk), FramePart.of(chunk, names).tables
        for name in names:
            table = of_chunk.pop(name)
            found[name].append((heads, table if len(names) == 1 else table.packed()))
    for name in names:
        yield name, _joined(found.pop(name))


@dataclass(frozen=True, slots=True)
class _Head:
    """The columns of a run: its number, its cell's values, its repetition, its seed."""

    index: int
    cell: dict[str, Any]
    repetition: int
    seed: int


_Placed = tuple[list[_Head], TablePart]


def _heads(runs: Iterable[Run]) -> list[_Head]:
    return [_Head(run.index, run.cell, run.repetition, run.seed) for run in runs]


def _joined(parts: list[_Placed]) -> pl.DataFrame:
    """Join the rows of parts, and put them into the order of the runs."""
    import polars as pl  # noqa: PLC0415 - slow to import

    parts.sort(key=lambda part: part[0][0].index if part[0] else 0)
    paths: dict[str, list[Any]] = {}
    own: dict[str, list[int]] = {"run": [], "repetition": [], "seed": []}
    at = 0
    for heads, part in parts:
        for head, count in zip(heads, part.counts, strict=True):
            if not count:
                continue
            for path, value in head.cell.items():
                column = paths.setdefault(path, [])
                column += [None] * (at - len(column)) + [label(value)] * count
            for name, number in (("run", head.index), ("repetition", head.repetition), ("seed", head.seed)):
                own[name] += [number] * count
            at += count
    in_order = all(a <= b for a, b in pairwise(own["run"]))
    order = [] if in_order else sorted(range(at), key=own["run"].__getitem__)
    columns: dict[str, list[Any]] = {}
    for path, given in paths.items():
        columns[path] = values = [*given, *[None] * (at - len(given))]
        if (found := base_units(values)) is not None:
            suffix, numbers = found
            columns[f"{path}_{suffix}"] = numbers
    first = [series(n, v, kinds_of(v)) for n, v in {**columns, **own}.items()]
    del paths, own, columns
    made = pl.DataFrame([*first, *joined([part for _, part in parts])])
    return made if in_order else made[order]
