"""Runs as polars frames: one row per flow, queue or transfer of each run, with the cell's values as columns.

A swept quantity has two columns: its text, and its number in base units (`dumbbell.results.swept`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dumbbell.results.record import Run
from dumbbell.results.runs import Runs
from dumbbell.results.swept import base_units

if TYPE_CHECKING:
    import polars as pl

__all__ = ["frame", "label"]


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
    import polars as pl  # noqa: PLC0415 - slow to import

    paths: dict[str, list[Any]] = {}
    own: dict[str, list[int]] = {"run": [], "repetition": [], "seed": []}
    metrics = _Metrics()
    for chunk in runs.chunks():
        before = len(own["run"])
        rows: list[dict[str, Any]] = []
        for run in chunk:
            of_run = list(rows_of(run))
            if not of_run:
                continue
            at = before + len(rows)
            for path, value in run.cell.items():
                column = paths.setdefault(path, [])
                column += [None] * (at - len(column)) + [label(value)] * len(of_run)
            for name, value in (("run", run.index), ("repetition", run.repetition), ("seed", run.seed)):
                own[name] += [value] * len(of_run)
            rows += of_run
        metrics.add(rows)
    length = len(own["run"])
    columns: dict[str, list[Any]] = {}
    for path, given in paths.items():
        columns[path] = values = [*given, *[None] * (length - len(given))]
        if (found := base_units(values)) is not None:
            suffix, numbers = found
            columns[f"{path}_{suffix}"] = numbers
    made = pl.DataFrame([*(_series(n, v, _kinds(v)) for n, v in {**columns, **own}.items()), *metrics.series()])
    in_order = all(a <= b for a, b in pairwise(own["run"]))
    return made if in_order else made[sorted(range(length), key=own["run"].__getitem__)]


class _Metrics:
    """Columns of metrics, typed part by part, because that takes a tenth of the memory."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[int, pl.Series]]] = {}
        self._kinds: dict[str, set[type]] = {}
        self._length = 0

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Add rows. Where a row lacks a metric, its value is null."""
        forms = dict.fromkeys(map(tuple, rows))
        names = dict.fromkeys(name for keys in forms for name in keys)
        columns: Iterable[Sequence[Any]]
        if len(forms) == 1:  # every row has the same metrics in the same order
            columns = zip(*map(dict.values, rows), strict=True)
        else:
            columns = ([row.get(name) for row in rows] for name in names)
        for name, values in zip(names, columns, strict=True):
            kinds = _kinds(values)
            self._kinds[name] = self._kinds.get(name, set()) | kinds
            self._parts.setdefault(name, []).append((self._length, _series(name, values, kinds)))
        self._length += len(rows)

    def series(self) -> Iterator[pl.Series]:
        """Yield each metric over all rows."""
        import polars as pl  # noqa: PLC0415 - slow to import

        for name, kinds in self._kinds.items():
            given = self._parts.pop(name)  # one column at a time is in memory twice
            lists = (part.dtype for _, part in given if isinstance(part.dtype, pl.List))
            dtype = next(lists) if kinds == {list} else _series(name, [], kinds).dtype
            parts: list[pl.Series] = []
            length = 0
            for before, part in given:
                parts += [pl.Series(name, [None] * (before - length), dtype=dtype), _as(part, dtype)]
                length = before + len(part)
            parts.append(pl.Series(name, [None] * (self._length - length), dtype=dtype))
            yield pl.concat(parts)


def _as(part: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a part of a column with the type that suits all parts."""
    import polars as pl  # noqa: PLC0415 - slow to import

    if part.dtype == dtype:
        return part
    if part.null_count() == len(part):
        return pl.Series(part.name, [None] * len(part), dtype=dtype)
    if dtype == pl.String:
        return pl.Series(part.name, [None if v is None else str(v) for v in part], dtype=dtype)
    return part.cast(dtype)


def _kinds(values: Sequence[Any]) -> set[type]:
    return set(map(type, values)) - {type(None)}


def _series(name: str, values: Sequence[Any], kinds: set[type]) -> pl.Series:
    import polars as pl  # noqa: PLC0415 - slow to import

    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int}:
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    if kinds == {str}:
        return pl.Series(name, values, dtype=pl.String)
    if kinds <= {list}:
        return pl.Series(name, values)
    return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
