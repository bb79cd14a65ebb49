"""Sweeps: one scenario, many cells.

The lists of ``[sweep]`` are multiplied with each other; ``[[sweep.cases]]`` lists chosen combinations. Where both
are given, each case is combined with each point of the product. Every cell has the same seeds, so comparisons between
cells are paired.
"""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_serializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dumbbell.common.words import shown
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.scenario.base import problem
from dumbbell.scenario.paths import SHORT_FORMS, Document, assign, canonical, join, overlap, split

__all__ = ["Sweep", "identity"]

FIXED = ("format", "name", "description", "repetitions", "seed", "sweep", "trace")
"""Parts that are the same in every cell."""
MOST_CELLS = 100_000_000
"""Most cells of a sweep."""


class Sweep(BaseModel):
    """Paths into the scenario with the values that they take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    axes: dict[str, list[Any]] = {}
    cases: list[dict[str, Any]] = []

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:  # noqa: ANN401
        """Read the form of the file: paths and ``cases`` side by side."""
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            raise problem(f"{shown(data)} given: a table of paths and lists is needed")
        given = dict(data)
        cases = given.pop("cases", [])
        if isinstance(given.get("axes"), dict):
            given |= given.pop("axes")
        if (
            not isinstance(cases, list)
            or not all(isinstance(c, dict) for c in cases)
            or ("cases" in data and not cases)
        ):
            raise problem("a list of tables, each with paths and one value for each, is needed", "cases")
        axes = _flat(given, is_case=False)
        for path, values in axes.items():
            if isinstance(values, tuple | range):
                values = axes[path] = list(values)  # noqa: PLW2901
            if not isinstance(values, list):
                raise problem(f"{shown(values)} given: a list of values is needed", join([path]))
            if not values:
                raise problem("the list is empty: it needs at least one value", join([path]))
            _refuse_twice(path, values)
        flat_cases = _cases(cases)
        if not axes and not cases:
            raise problem("the sweep is empty: give it paths with lists, or cases")
        count = math.prod(map(len, axes.values())) * max(len(flat_cases), 1)
        if count > MOST_CELLS:
            raise problem(f"the sweep has {count:,} cells: at most {MOST_CELLS:,} are possible")
        return {"axes": axes, "cases": flat_cases}

    @model_serializer
    def _write(self) -> dict[str, Any]:
        """Return the form of the file."""
        return {**self.axes, **({"cases": self.cases} if self.cases else {})}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the form of the file."""
        return {
            "type": "object",
            "description": (cls.__doc__ or "").strip(),
            "properties": {
                "cases": {
                    "type": "array",
                    "items": {"type": "object"},
                    "description": "Chosen combinations: tables of paths, each with one value.",
                }
            },
            "additionalProperties": {"anyOf": [{"type": "array", "minItems": 1}, {"type": "object"}]},
        }

    def __len__(self) -> int:
        """Number of cells."""
        return math.prod(len(values) for values in self.axes.values()) * max(len(self.cases), 1)

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the scenario that the paths begin with."""
        return frozenset(split(path)[0] for path in [*self.axes, *(path for case in self.cases for path in case)])

    def choice(self, number: int) -> tuple[int, dict[str, int]]:
        """Return the number of a cell's case, and for each list that of its value.

        Cases are outermost, the last list runs fastest. All numbers are from 0.
        """
        chosen: dict[str, int] = {}
        for path, values in reversed(self.axes.items()):
            number, chosen[path] = divmod(number, len(values))
        return number, chosen

    def values(self, number: int) -> dict[str, Any]:
        """Return a cell (from 0) as path -> value."""
        return self.chosen(*self.choice(number))

    def chosen(self, case: int, chosen: dict[str, int]) -> dict[str, Any]:
        """Return what `choice` has chosen as path -> value."""
        point = {path: values[chosen[path]] for path, values in self.axes.items()}
        return {**self.cases[case], **point} if self.cases else point

    def check(self, document: Document) -> None:
        """Check the paths against the scenario; ScenarioError names the wrong ones."""
        problems: list[Problem] = []
        for sources in [[*self.axes, *case] for case in self.cases or [{}]]:
            seen: dict[tuple[str, ...], str] = {}
            for path in sources:
                try:
                    place = canonical(document, path)
                except ScenarioError as e:
                    problems += [Problem(f"sweep.{join([path])}", p.message) for p in e.problems]
                    continue
                fixed = place[0] if place[0] in FIXED else "name" if _is_flow_name(place) else None
                if fixed is not None:
                    problems.append(Problem(f"sweep.{join([path])}", f"'{fixed}' is the same in every cell"))
                for other, spelling in seen.items():
                    if overlap(place, other):
                        why = f"the same place as '{spelling}', or within it: a cell would set it twice"
                        problems.append(Problem(f"sweep.{join([path])}", why))
                seen[place] = path
        if problems:
            raise ScenarioError(list(dict.fromkeys(problems)))

    @staticmethod
    def apply(document: Document, values: dict[str, Any]) -> None:
        """Set a cell's values in a document, in place."""
        for path in sorted(values, key=lambda p: len(split(p))):
            assign(document, path, values[path])


def _is_flow_name(place: tuple[str, ...]) -> bool:
    return len(place) == 3 and place[0] == "flows" and place[2] == "name"


def _cases(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the keys of the cases; each must differ from the others."""
    cases = [_flat(case, is_case=True) for case in given]
    seen: set[str] = set()
    for number, case in enumerate(cases):
        if not case:
            raise problem("the case is empty", f"cases.{number}")
        if (text := _text(case)) in seen:
            raise problem("the case is given twice", f"cases.{number}")
        seen.add(text)
    return cases


def _refuse_twice(path: str, values: list[Any]) -> None:
    seen: set[tuple[type, str]] = set()
    for value in values:
        this = identity(value)
        if this in seen:
            raise problem(f"{shown(value)} is given twice", join([path]))
        seen.add(this)


def identity(value: object) -> tuple[type, str]:
    """Return the same for equal values of one type."""
    return type(value), _text(value)


def _text(value: object) -> str:
    """Write a value so that equal values have equal texts."""
    return json.dumps(value, sort_keys=True, default=repr)


def _flat(table: dict[str, Any], *, is_case: bool) -> dict[str, Any]:
    """Join the keys of nested tables: TOML reads an unquoted ``flows.tcp.variant`` as tables within tables."""
    flat: dict[str, Any] = {}

    def walk(parts: list[str], value: Any) -> None:  # noqa: ANN401
        ends = not isinstance(value, dict) or (is_case and _is_value(value, quoted="." in parts[0]))
        if ends:
            flat[parts[0] if len(parts) == 1 else join(parts)] = value
            return
        for key, inner in value.items():
            walk([*parts, key], inner)

    for key, value in table.items():
        walk([key], value)
    return flat


def _is_value(value: dict[str, Any], *, quoted: bool) -> bool:
    """Return True if a table in a case is a value, such as { name = "vegas", alpha = 2 }, not part of a path."""
    return quoted or any(key in value for key in (*SHORT_FORMS.values(), "kind"))
