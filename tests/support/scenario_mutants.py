"""Mutants of scenario files: values, keys and characters exchanged, at random but repeatably."""

from __future__ import annotations

import copy
import random
from typing import Any

__all__ = ["VALUES", "mutant_document", "mutant_text"]

DEEP: Any = 1
for _ in range(400):
    DEEP = [DEEP]

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**400, 0.0, -0.0, 0.5, 1e308, 5e-324),
    *(float("nan"), float("inf"), float("-inf")),
    *("", " ", "\0", "\n", "x" * 300, "\u202e", "<!--<script>", "delay [/ms]", "=1+1", "{}", "%s", "../..", "a.b", '"'),
    *("0", "1", "-1 ms", "0 s", "1 ns", "1e400 s", "1e-400 s", "9" * 400 + " s", "nan s", "inf Mbit/s", "1 \u03bcs"),
    *("1 \u00b5s", "10 mbit", "10 Mbit/s", "1 bit/s", "1e18 bit/s", "100 %", "-1 %", "0 packets", "1 bdp", "1e300 bdp"),
    *("1 byte", "1 EB", "0 bytes", "cubic", "fq_codel", "quic", "linux", "\u0661\u0662 ms", "1_000 ms", "0x10 ms"),
    *([], {}, [[]], [{}], {"": 1}, {"name": "cubic"}, {"kind": "bulk"}, {"discipline": "red"}, [1, "2", None], DEEP),
]
"""Values that a key may be given."""


def _places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, value in inner for place in _places(value, (*path, key)))]


def mutant_document(document: dict[str, Any], others: list[dict[str, Any]], draw: random.Random) -> dict[str, Any]:
    """Return a copy of a document with one to three changes; ``others`` give further values."""
    made = copy.deepcopy(document)
    for _ in range(draw.choice([1, 1, 2, 3])):
        *within, key = draw.choice([p for p in _places(made) if p])
        node: Any = made
        for part in within:
            node = node[part]
        kind = draw.choice(["value", "value", "value", "delete", "other", "rename", "double"])
        if kind == "value":
            node[key] = copy.deepcopy(draw.choice(VALUES))
        elif kind == "delete":
            del node[key]
        elif kind == "other":
            other: Any = draw.choice(others)
            for part in draw.choice(_places(other)):
                other = other[part]
            node[key] = copy.deepcopy(other)
        elif kind == "rename" and isinstance(node, dict):
            node[draw.choice(["x", "", "kind", "name", "at", key + "s", "every"])] = node.pop(key)
        elif isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        if not made:
            break
    return made


def mutant_text(text: str | bytes, draw: random.Random) -> bytes:
    """Return a text as bytes with some of its bytes changed, cut out or repeated."""
    content = bytearray(text.encode() if isinstance(text, str) else text)
    for _ in range(draw.choice([1, 2, 5])):
        if not content:
            break
        at = draw.randrange(len(content))
        kind = draw.choice(["byte", "cut", "repeat", "insert"])
        if kind == "byte":
            content[at] = draw.randrange(256)
        elif kind == "cut":
            del content[at : at + draw.choice([1, 5, 100])]
        elif kind == "repeat":
            content[at:at] = content[at : at + draw.choice([1, 30, 300])] * draw.choice([1, 1, 20])
        else:
            content[at:at] = draw.choice(
                ['"', "[", "]", "{", "}", "=", "\ufeff", "\u03bc", "'''", "[[", "#", "\r"]
            ).encode()
    return bytes(content)
