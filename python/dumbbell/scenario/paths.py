"""Dotted paths into a scenario document: ``flows.tcp.variant``, ``network.bottleneck.queue.limit``.

An element of a list is addressed by its number (from 0) or by its name; a link without a name by ``"a->b"``. A part
that contains a dot is written in quotes.
"""

from __future__ import annotations

import copy
import re
from functools import lru_cache
from typing import Any

from dumbbell.common.numbers import whole
from dumbbell.common.words import shown
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown

__all__ = ["Document", "assign", "canonical", "copied", "element_name", "join", "overlap", "split"]

Document = dict[str, Any]

SHORT_FORMS = {"variant": "name", "stack": "preset", "queue": "discipline", "inner": "discipline", "preset": "name"}
"""Tables that may also be written as a bare name, and the key of that name."""

_PLAIN = {str, int, float, bool, type(None)}
"""Types whose values never change."""

_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^."']+?))\s*(\.|$)""")


def split(path: str) -> list[str]:
    """Split a path into its parts; ScenarioError if it isn't one."""
    return list(_split(path))


@lru_cache(maxsize=1024)
def _split(path: str) -> tuple[str, ...]:
    parts, at, more = [], 0, True
    while more:
        match = _PART.match(path, at)
        if match is None:
            raise ScenarioError([Problem(path, "not a path: parts are joined by dots, such as flows.tcp.variant")])
        parts.append(next(g for g in match.groups()[:3] if g is not None))
        at, more = match.end(), match.group(4) == "."
    return tuple(parts)


def join(parts: list[str]) -> str:
    """Join parts into a path, with quotes where a part needs them."""
    return ".".join(f'"{p}"' if re.search(r"""[."'\s]""", p) or not p else p for p in parts)


def element_name(element: object, within: str) -> str | None:
    """The name by which an element of the list ``within`` is addressed: a table, or a part that was read from one."""
    if isinstance(element, dict):
        name, ends = element.get("name"), (element.get("from"), element.get("to"))
    else:
        name = getattr(element, "name", None)
        ends = (getattr(element, "from_", None), getattr(element, "to", None))
    if isinstance(name, str):
        return name
    if within == "links" and None not in ends:
        return f"{ends[0]}->{ends[1]}"
    return None


def _index(elements: list[Any], part: str, place: str, within: str) -> int:
    names = [element_name(e, within) for e in elements]
    if part in names:
        return names.index(part)
    number = whole(part)
    if number is not None and number < len(elements):
        return number
    known = [n for n in names if n is not None]
    if number is not None:
        raise ScenarioError(
            [Problem(place, f"no element has the number {part}: the list has {len(elements)} (from 0)")]
        )
    raise ScenarioError([Problem(place, unknown("name", part, known))])


def canonical(document: Document, path: str) -> tuple[str, ...]:
    """Replace names of list elements by their numbers, so that two spellings of a path compare equal."""
    node: Any = document
    parts: list[str] = []
    for part in split(path):
        if isinstance(node, list):
            number = _index(node, part, path, parts[-1] if parts else "")
            parts.append(str(number))
            node = node[number]
        else:
            parts.append(part)
            node = node.get(part) if isinstance(node, dict) else None
    return tuple(parts)


def overlap(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return True if one canonical path is the other, or lies within it."""
    n = min(len(a), len(b))
    return a[:n] == b[:n]


def copied(value: Any) -> Any:  # noqa: ANN401
    """Copy a document, or a part of it, as `copy.deepcopy` does, but faster where it has plain values."""
    kind = type(value)
    if kind is dict:
        return {key: copied(element) for key, element in value.items()}
    if kind is list:
        return [copied(element) for element in value]
    return value if kind in _PLAIN else copy.deepcopy(value)


def assign(document: Document, path: str, value: object) -> None:
    """Set a value in a document, in place. Missing tables are made: the scenario's check refuses wrong ones."""
    *parents, last = split(path)
    node: Any = document
    for depth, part in enumerate(parents):
        if isinstance(node, list):
            node = node[_index(node, part, path, parents[depth - 1])]
            continue
        child = node.setdefault(part, {})
        if isinstance(child, str) and part in SHORT_FORMS:
            child = node[part] = {SHORT_FORMS[part]: child}
        if not isinstance(child, dict | list):
            here = join(parents[: depth + 1])
            why = f"{here} is {shown(child)}, which has no '{[*parents, last][depth + 1]}'"
            raise ScenarioError([Problem(path, why)])
        node = child
    if isinstance(node, list):
        node[_index(node, last, path, parents[-1])] = value
    else:
        node[last] = value
