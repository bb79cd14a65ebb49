"""Pydantic's errors in the words of a scenario: the place as a dotted path, the given value, the allowed ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dumbbell.common.words import shown
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario.paths import element_name, join

__all__ = ["NOT_UTF8", "translate"]

NOT_UTF8 = "text is needed that UTF-8 can hold"
"""For a text of JSON or Python with half of a surrogate pair."""

_NEEDED = {
    "bool_type": "true or false",
    "dict_type": "a table",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "a table",
    "model_type": "a table",
    "string_type": "a text",
}
_BOUNDS = {
    "greater_than": ("gt", "above {}"),
    "greater_than_equal": ("ge", "at least {}"),
    "less_than": ("lt", "below {}"),
    "less_than_equal": ("le", "at most {}"),
}


def translate(error: ValidationError, document: object) -> ScenarioError:
    """Word a validation error of ``document``."""
    problems: list[Problem] = []
    for detail in error.errors(include_url=False):
        found = _problem(detail, document)
        if found not in problems:
            problems.append(found)
    return ScenarioError(problems)


def _problem(detail: ErrorDetails, document: object) -> Problem:
    parts = _place(detail["loc"], document, ends_in_key=detail["type"] in ("missing", "extra_forbidden"))
    message, key = _message(detail)
    place = join(parts)
    if key:
        place = f"{place}.{key}" if place else key
    return Problem(place, message)


def _place(loc: Iterable[int | str], document: object, *, ends_in_key: bool) -> list[str]:
    """Follow a location through the document: tags of unions drop out, list elements get their names."""
    loc = list(loc)
    node: Any = document
    parts: list[str] = []
    for depth, part in enumerate(loc):
        if isinstance(node, dict) and part in node:
            node = node[part]
            parts.append(str(part))
        elif isinstance(node, list | tuple) and isinstance(part, int) and part < len(node):
            names = [element_name(e, parts[-1] if parts else "") for e in node]
            name = names[part]
            unique = name is not None and names.count(name) == 1
            parts.append(name if unique and name is not None else str(part))
            node = node[part]
        elif depth == len(loc) - 1 and ends_in_key:
            parts.append(str(part))
    return parts


def _message(detail: ErrorDetails) -> tuple[str, str]:
    """The message, and the key under the place that it belongs to."""
    kind, ctx, given = detail["type"], detail.get("ctx", {}), detail.get("input")
    if kind in ("problem", "quantity"):
        return ctx["message"], ctx.get("key", "")
    if kind == "missing":
        return "needed, but not given", ""
    if kind == "value_error":
        error = ctx["error"]
        return f"{_show(given)} given: {NOT_UTF8}" if isinstance(error, UnicodeError) else str(error), ""
    if kind == "literal_error":
        names = re.findall(r"'([^']*)'", ctx["expected"])
        return _choice("value", given, names) if names else f"{_show(given)} given: {ctx['expected']} is needed", ""
    if kind.startswith("union_tag"):
        return _tag(kind, ctx, given)
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"{_show(given)} given: must be {words.format(ctx[key])}", ""
    if kind in _NEEDED:
        return f"{_show(given)} given: {_NEEDED[kind]} is needed", ""
    if kind in ("too_short", "string_too_short"):
        return f"must hold at least {ctx.get('min_length', 1)}", ""
    if kind == "string_too_long":
        return f"{len(str(given))} characters given: at most {ctx['max_length']} are allowed", ""
    return f"{_show(given)} given: {detail['msg']}", ""


def _show(given: object) -> str:
    return "a table" if isinstance(given, dict) else "a list" if isinstance(given, list) else shown(given)


def _choice(what: str, given: object, allowed: list[str]) -> str:
    if isinstance(given, str):
        return unknown(what, given, allowed)
    return f"{_show(given)} given: one of {', '.join(allowed)} is needed"


def _tag(kind: str, ctx: dict[str, Any], given: object) -> tuple[str, str]:
    """The key that selects one of several tables: an application's kind, a network's topology ..."""
    by = str(ctx.get("discriminator", ""))
    key = next((k for k in ("topology", "model", "distribution") if k in by), "kind")
    if not isinstance(given, dict):
        return f"{_show(given)} given: a table is needed", ""
    if kind == "union_tag_not_found":
        return "needed, but not given", key
    expected = [tag for tag in re.findall(r"'([^']*)'", ctx["expected_tags"]) if not tag.startswith("<")]
    return _choice(key, given.get(key), expected), key
