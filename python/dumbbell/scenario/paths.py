"""Dotted paths into a scenario document: ``flows.tcp.variant``, ``network.bottleneck.queue.limit``.

An element of a list is addressed by its number (from 0) or by its name; a link without a name by ``"a->b"``. A part
that contains a dot is written in quotes.
"""

from __future__ import annotations

import re
from typing import Any

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown

__all__ = ["Document", "assign", "canonical", "element_name", "join", "overlap", "split"]

Document = dict[str, Any]

SHORT_FORMS = {"variant": "name", "stack": "preset", "queue": "discipline", "inner": "discipline"}
"""Tables that may also be written as a bare name, and the key of that name."""

_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^."']+?))\s*(\.|$)""")


def split(path: str) -> list[str]:
    """Split a path into its parts; ScenarioError if it isn't one."""
    parts, at, more = [], 0, True
    while more:
        match = _PART.match(path, at)
        if match is None:
            raise ScenarioError([Problem(path, "not a path: parts are joined by dots, such as flows.tcp.variant")])
        parts.append(next(g for g in match.groups()[:3] if g is not None))
        at, more = match.end(), match.group(4) == "."
    return parts


def join(parts: list[str]) -> str:
    """Join parts into a path, with quotes where a part needs them."""
    return ".".join(f'"{p}"' if re.search(r"""[."'\s]""", p) or not p else p for p in parts)


def element_name(element: object, within: str) -> str | None:
    """The name by which an element of the list ``within`` is addressed."""
    if not isinstance(element, dict):
        return None
    if isinstance(element.get("name"), str):
        return str(element["name"])
    if within == "links" and "from" in element and "to" in element:
        return f"{element['from']}->{element['to']}"
    return None


def _index(elements: list[Any], part: str, place: str, within: str) -> int:
    names = [element_name(e, within) for e in elements]
    if part in names:
        return names.index(part)
    if part.isdigit() and int(part) < len(elements):
        return int(part)
    known = [n for n in names if n is not None]
    if part.isdigit():
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
            raise ScenarioError([Problem(path, f"{here} is {child!r}, which has no '{[*parents, last][depth + 1]}'")])
        node = child
    if isinstance(node, list):
        node[_index(node, last, path, parents[-1])] = value
    else:
        node[last] = value
