"""TOML in and out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tomli_w

from dumbbell.common.documents import read_toml
from dumbbell.exceptions import Problem, ScenarioError

__all__ = ["read", "value", "write"]


def read(text: str) -> dict[str, Any]:
    """Read TOML; ScenarioError names the line."""
    try:
        return read_toml(text)
    except ValueError as e:
        raise ScenarioError([Problem("", f"not valid TOML: {e}")]) from None


def write(document: dict[str, Any]) -> str:
    """Write TOML; ScenarioError names a swept value None, which stands for a key that isn't given: TOML has none."""
    try:
        return tomli_w.dumps(document)
    except TypeError:
        raise ScenarioError([Problem(place, "None can't be written as TOML") for place in _nones(document)]) from None


def _nones(node: Any, place: str = "") -> Iterator[str]:  # noqa: ANN401
    """Yield the places of None in a document."""
    if node is None:
        yield place
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value_ in inner:
        yield from _nones(value_, f"{place}.{key}" if place else str(key))


def value(text: str) -> object:
    """Read one value as the right side of ``key = value``; what isn't TOML is taken as text."""
    try:
        document = read_toml(f"value = {text}")
    except ValueError:
        return text
    return document["value"] if len(document) == 1 else text
