"""Sections of a scenario that name own code, and the search for own code in a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.scenario.own import disciplines, variants
from dumbbell.scenario.own.code import KEYS, OwnCode, Source
from dumbbell.scenario.own.kind import Kind
from dumbbell.scenario.paths import Document, join

__all__ = ["load_section", "may_have_code"]

Code = TypeVar("Code", bound=OwnCode)


def load_section(section: str, data: Mapping[str, Any], kind: type[Source], loader: Kind[Code]) -> dict[str, Code]:
    """Load the own code that a section of a raw document names. The model reports entries that are not tables."""
    found: dict[str, Code] = {}
    problems = []
    given = data.get(section)
    for name, source in given.items() if isinstance(given, dict) else ():
        place = join([section, str(name)])
        try:
            key, text = kind.model_validate(source).place
        except ValidationError:
            continue
        try:
            loader.free(str(name))
            found[str(name)] = loader.load(key, text, str(name))
        except ValueError as e:
            problems.append(Problem(f"{place}.{key}", str(e)))
    if problems:
        raise ScenarioError(problems)
    return found


def may_have_code(document: Document) -> bool:
    """Return True unless it is certain, without making a cell, that no cell of a scenario names own code."""
    return bool(variants.current() or disciplines.current()) or _names_code(document)


def _names_code(value: Any) -> bool:  # noqa: ANN401
    """Return True if a key, which may be a path, has a word that gives the source of own code."""
    if isinstance(value, dict):
        return any(any(word in str(key) for word in KEYS) or _names_code(inner) for key, inner in value.items())
    return isinstance(value, list | tuple) and any(map(_names_code, value))
