"""The rows of a table over all runs, in the order of the runs, piece by piece.

The rows come in parts: those of a batch of runs, finished in any order. A table over many runs needs more memory than
all its parts, which may be compressed; so it is written in pieces, and only one of them is in memory. Each piece has
the columns and types of the whole table.

A swept quantity has two columns: its text, and its number in base units (`dumbbell.results.frames.swept_values`).
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.results.frames.swept_values import base_units
from dumbbell.results.runs.column_parts import TablePart, as_type, kinds_of, series

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Heads", "Placed", "Rows", "label"]

HEADS = ("name", "preset", "discipline", "kind", "model", "distribution", "python", "library")
"""Keys that identify a table."""
PIECE = 10_000
"""Rows of a piece, at least: about 4 MB."""


def label(value: object) -> str | int | float | bool | None:
    """Write a cell's value as one column holds it: tables in short form, such as ``vegas(alpha=2)``."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, dict):
        rest = dict(value)
        head = next((str(rest.pop(k)) for k in HEADS if k in rest), "")
        inner = ", ".join(f"{k}={label(v)}" for k, v in rest.items())
        return f"{head}({inner})" if inner else head
    return json.dumps(value) if isinstance(value, list) else str(value)


@dataclass(frozen=True)
class Heads:
    """The columns of some runs: their numbers, the labels of their cells' values, repetitions, seeds.

    Attributes
    ----------
    index, repetition, seed : array of int
    paths : list of tuple of str
        By run: the swept paths that its cell sets.
    labels : dict of str to list
        By path: the label of each run's value; None where the cell doesn't set it.
    """

    index: array[int] = field(default_factory=lambda: array("q"))
    repetition: array[int] = field(default_factory=lambda: array("q"))
    seed: array[int] = field(default_factory=lambda: array("q"))
    paths: list[tuple[str, ...]] = field(default_factory=list)
    labels: dict[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, runs: Iterable[tuple[int, Mapping[str, Any], int, int]]) -> Heads:
        """Take the numbers, cells, repetitions and seeds of runs."""
        made = cls()
        known: dict[tuple[str, ...], tuple[str, ...]] = {}
        for number, (index, cell, repetition, seed) in enumerate(runs):
            made.index.append(index)
            made.repetition.append(repetition)
            made.seed.append(seed)
            paths = tuple(cell)
            made.paths.append(known.setdefault(paths, paths))
            for path, value in cell.items():
                column = made.labels.setdefault(path, [])
                column += [None] * (number - len(column))
                column.append(label(value))
        for column in made.labels.values():
            column.extend([None] * (len(made.paths) - len(column)))
        return made


Placed = tuple[Heads, TablePart]
"""The rows of some runs, and the runs."""


class Rows:
    """The rows of a table over all runs.

    Parameters
    ----------
    parts : iterable of Placed
        In any order. Each run is in one of them.
    """

    def __init__(self, parts: Iterable[Placed]) -> None:
        self._parts = sorted((part for part in parts if any(part[1].counts)), key=lambda part: min(part[0].index))
        self._labels = _kinds_of_labels(self._parts)
        self._numbers = _numbers(self._parts, self._labels)
        self._metrics = _types(self._parts)

    def frame(self) -> pl.DataFrame:
        """Return the whole table."""
        import polars as pl  # slow to import

        return pl.concat(self.pieces())

    def write(self, path: Path) -> None:
        """Write the table as a Parquet file. At most a piece of it, and rows of about as many, are in memory."""
        from polars.io.plugins import register_io_source  # slow to import

        pieces = self.pieces()
        first = next(pieces)

        def source(*_: object) -> Iterator[pl.DataFrame]:
            yield first
            yield from pieces

        register_io_source(source, schema=first.schema).sink_parquet(path)

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in the order of the runs; at least one piece, which may have no rows."""
        import polars as pl  # slow to import

        open_: list[pl.DataFrame] = []
        for heads, part in self._parts:
            if sum(map(len, open_)) >= PIECE:
                begun, first = _in_order(open_), min(heads.index)
                yield begun.filter(pl.col("run") < first)
                open_ = [begun.filter(pl.col("run") >= first)]
            open_.append(self._columns(heads, part))
        yield _in_order(open_) if open_ else self._columns(Heads(), TablePart([], {}, pl.DataFrame()))

    def _columns(self, heads: Heads, part: TablePart) -> pl.DataFrame:
        """Return the rows of a part with all columns of the table."""
        import polars as pl  # slow to import

        given: dict[str, tuple[Sequence[Any], set[type]]] = {}
        count = len(heads.index)
        for path, kinds in self._labels.items():
            labels = heads.labels.get(path, [None] * count)
            given[path] = labels, kinds
            if path in self._numbers:
                suffix, numbers = self._numbers[path]
                given[f"{path}_{suffix}"] = [numbers.get(text) for text in labels], kinds_of(numbers.values())
        for name, values in (("run", heads.index), ("repetition", heads.repetition), ("seed", heads.seed)):
            given[name] = values, {int} if self._parts else set()
        of_runs = pl.DataFrame([series(name, values, kinds) for name, (values, kinds) in given.items()])
        if part.counts != [1] * count:
            import numpy as np  # slow to import

            of_runs = of_runs[np.repeat(np.arange(count), part.counts)]
        metrics, height = part.frame(), len(of_runs)
        return of_runs.hstack(
            [
                as_type(metrics[name], kind) if name in part.kinds else pl.Series(name, [None] * height, dtype=kind)
                for name, kind in self._metrics.items()
            ]
        )


def _in_order(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Join frames, and sort their rows by run; rows of a run keep their order."""
    import polars as pl  # slow to import

    made = pl.concat(frames)
    return made if made["run"].is_sorted() else made.sort("run", maintain_order=True)


def _kinds_of_labels(parts: Iterable[Placed]) -> dict[str, set[type]]:
    """Return the swept paths of runs with rows, in the order in which they appear, and the types of their labels."""
    found: dict[str, set[type]] = {}
    for heads, part in parts:
        for paths in dict.fromkeys(compress(heads.paths, part.counts)):
            for path in paths:
                found.setdefault(path, set()).update(kinds_of(compress(heads.labels[path], part.counts)))
    return found


def _numbers(parts: Sequence[Placed], kinds: Mapping[str, set[type]]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the numbers in base units of each label, by path, for paths whose labels are quantities of one kind."""
    found = {}
    for path in (path for path, its in kinds.items() if its == {str}):
        texts = {text: None for heads, part in parts for text in compress(heads.labels.get(path, ()), part.counts)}
        texts.pop(None, None)
        if (made := base_units([*texts])) is not None:
            suffix, numbers = made
            found[path] = suffix, dict(zip(texts, numbers, strict=True))
    return found


def _types(parts: Iterable[Placed]) -> dict[str, pl.DataType]:
    """Return the type of each metric over all parts, in the order in which they appear."""
    import polars as pl  # slow to import

    kinds: dict[str, set[type]] = {}
    for _, part in parts:
        for name, its in part.kinds.items():
            kinds[name] = kinds.get(name, set()) | its
    found = {name: series(name, [], its).dtype for name, its in kinds.items()}
    lists = {name for name, its in kinds.items() if its == {list}}
    for _, part in parts if lists else ():
        schema = part.frame().schema
        known = {name for name in lists if isinstance(schema.get(name), pl.List)}
        found |= {name: schema[name] for name in known}
        lists -= known
    return found
