"""Runs as polars frames: one row per flow, queue or transfer of each run, with the cell's values as columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from dumbbell.results.record import Run

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


def frame(runs: Sequence[Run], rows_of: Callable[[Run], Iterable[dict[str, Any]]]) -> pl.DataFrame:
    """Make a frame of the rows that ``rows_of`` finds in each run."""
    paths = list(dict.fromkeys(path for run in runs for path in run.cell))
    columns: dict[str, list[Any]] = {name: [] for name in [*paths, "run", "repetition", "seed"]}
    metrics: dict[str, list[Any]] = {}
    length = 0
    for run in runs:
        for row in rows_of(run):
            for path in paths:
                columns[path].append(label(run.cell.get(path)))
            columns["run"].append(run.index)
            columns["repetition"].append(run.repetition)
            columns["seed"].append(run.seed)
            for name, value in row.items():
                # In earlier runs without this metric, its value is null.
                column = metrics.setdefault(name, [])
                column += [None] * (length - len(column))
                column.append(value)
            length += 1
    for values in metrics.values():
        values.extend([None] * (length - len(values)))
    return pl.DataFrame([_series(name, values) for name, values in {**columns, **metrics}.items()])


def _series(name: str, values: list[Any]) -> pl.Series:
    kinds = {type(v) for v in values if v is not None}
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
