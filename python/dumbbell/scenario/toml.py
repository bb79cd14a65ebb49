"""TOML in and out."""

from __future__ import annotations

import tomllib
from typing import Any

import tomli_w

from dumbbell.exceptions import Problem, ScenarioError

__all__ = ["read", "value", "write"]


def read(text: str) -> dict[str, Any]:
    """Read TOML; ScenarioError names the line."""
    try:
        return tomllib.loads(text)
    except ValueError as e:  # an integer of thousands of digits is one that isn't a TOMLDecodeError
        raise ScenarioError([Problem("", f"not valid TOML: {e}")]) from None
    except RecursionError:
        raise ScenarioError([Problem("", "not valid TOML: nested too deeply")]) from None


def write(document: dict[str, Any]) -> str:
    """Write TOML."""
    return tomli_w.dumps(document)


def value(text: str) -> object:
    """Read one value as the right side of ``key = value``; what isn't TOML is taken as text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text
