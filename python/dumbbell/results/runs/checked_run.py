"""Reads stored runs, which others may have written: each value must have the type that its column declares."""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import Any, NoReturn, TypeGuard, get_args

from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.derived_columns import columns
from dumbbell.results.runs.record import Run

__all__ = ["is_place", "read_run", "run_of"]

KEY = re.compile(r"[0-9a-f]{24}")
SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
"""Half of a surrogate pair as JSON writes it. Text with only one half can't be encoded."""
LARGEST_NUMBER = 2**63 - 1
TYPES: dict[str, set[type]] = {"text": {str}, "number": {int, float}, "count": {int}}
ANY: frozenset[type] = frozenset({str, int, float, bool, type(None)})
"""Types of an undeclared column, which a newer version may have added."""


def read_run(text: str) -> Run:
    """Read a run that `Run.stored` has written as JSON; ValueError, with the entry, if it isn't one."""
    try:
        content = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if SURROGATE.search(text):
        json.dumps(content, ensure_ascii=False).encode()  # UnicodeEncodeError is a ValueError
    return run_of(content)


def run_of(content: object, key: str | None = None) -> Run:
    """Return a stored run; formats before 3 have its key in the name of its file. ValueError if it isn't one."""
    if not isinstance(content, dict):
        raise ValueError("a table is needed")
    found = content if key is None else {**content, "key": key}
    if not isinstance(found.get("key"), str) or not KEY.fullmatch(found["key"]):
        raise ValueError("key: 24 hexadecimal digits are needed")
    for name in ("repetition", "seed"):
        if not is_place(found.get(name)):
            raise ValueError(f"{name}: a number from 0 is needed")
    if not isinstance(found.get("cell"), dict):
        raise ValueError("cell: a table is needed")
    names = ("key", "cell", "repetition", "seed")
    every: dict[str, Any] = {frame: _rows(frame, found.get(frame)) for frame in get_args(Frame)}
    return Run(index=0, **{name: found[name] for name in names}, **every, facts=_facts(found.get("facts", {})))


def is_place(value: object) -> TypeGuard[int]:
    """Return True for the number of a cell or a repetition."""
    return type(value) is int and 0 <= value <= LARGEST_NUMBER


def _rows(frame: Frame, rows: object) -> list[dict[str, Any]]:
    if not isinstance(rows, list):
        raise ValueError(f"{frame}: a list is needed")
    return [_row(frame, row) for row in rows]


def _row(frame: Frame, row: object) -> dict[str, Any]:
    """Return a row, with a null for each declared column that it lacks."""
    if not isinstance(row, dict):
        raise ValueError(f"{frame}: tables are needed")
    types, absent = _form(frame, tuple(row))
    for (name, value), allowed in zip(row.items(), types, strict=True):
        kind = type(value)
        if kind not in allowed:
            raise ValueError(f"{frame}: {name}: a value of another type")
        if (kind is int and abs(value) > LARGEST_NUMBER) or (kind is float and not math.isfinite(value)):
            raise ValueError(f"{frame}: {name}: too large")
    return {**row, **absent} if absent else row


@lru_cache(maxsize=256)
def _form(frame: Frame, names: tuple[str, ...]) -> tuple[list[frozenset[type]], dict[str, None]]:
    """Return the types of the columns of a row, and nulls for those that it lacks; ValueError if it must have them."""
    declared = columns(frame)
    absent = [column for column in declared.values() if column.name not in names]
    if needed := [column.name for column in absent if not column.nullable]:
        raise ValueError(f"{frame}: {needed[0]}: missing")
    types = {
        column.name: frozenset(TYPES[column.kind] | ({type(None)} if column.nullable else set()))
        for column in declared.values()
    }
    return [types.get(name, ANY) for name in names], {column.name: None for column in absent}


def _facts(facts: object) -> dict[str, Any]:
    """Return a run's facts; those that are used are of the right type."""
    if not isinstance(facts, dict):
        raise ValueError("facts: a table is needed")
    for name in ("invalid", "warnings"):
        sentences = facts.get(name, [])
        if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
            raise ValueError(f"facts: {name}: a list of sentences is needed")
    if not isinstance(facts.get("host", {}), dict):
        raise ValueError("facts: host: a table is needed")
    return facts


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")
