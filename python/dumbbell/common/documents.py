"""TOML and JSON that others wrote, read within bounds.

A reader's memory can be a large multiple of a document's size: of a key with n parts it grows with n squared, and each
level of nesting costs a table. So the parts of keys and the levels are counted in one pass before anything is built.
Both functions raise nothing but ValueError, with a reason that fits behind "not valid TOML: ".
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

__all__ = ["read_json", "read_toml"]

DEEPEST = 64
"""Levels of lists and tables within each other, and parts of a dotted key. A scenario needs less than ten."""
MOST_DOTS = 300_000
"""Dots of all keys together: each is a table, of about 1 kB while it is read. 100,000 cases have one in each head."""
LONGEST_NUMBER = 200
"""Characters of a number with a prefix such as 0x. Decimal ones are bounded by Python (4,300 digits)."""
_TOKEN = re.compile(
    r"""
      \"{3} [^"\\]*+ (?: (?: \\.? | "(?!"") ) [^"\\]*+ )*+ (?: "{3,5} | \Z )  # texts of several lines; their end is
    | '{3}  [^']*+   (?: '(?!'')              [^']*+   )*+ (?: '{3,5} | \Z )  # up to five quotes
    | " [^"\\\n]*+ (?: \\[^\n]? [^"\\\n]*+ )*+ "?
    | ' [^'\n]*+ '?
    | \# [^\n]*+
    | (?P<number> \b 0 [xob] \w*+ )
    | (?P<sign> = (?: [ \t]*+ [+-]?+ [\d_]++ \. )?+ | [][{},.\n] )  # the dot of a value's number isn't one of a key
    """,
    re.VERBOSE | re.DOTALL,
)
"""What isn't content of a text or a comment. A text without an end is an error that the reader finds."""


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML.

    Raises
    ------
    ValueError
        If it isn't TOML, or is nested too deeply, or has too many keys with dots.
    """
    _check(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_json(text: str | bytes) -> Any:  # noqa: ANN401
    """Read JSON; ValueError if it isn't that, or is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _check(text: str) -> None:
    """Count the parts of keys and the levels."""
    dots = parts = depth = 0
    for token in _TOKEN.finditer(text):
        sign = token["sign"]
        if sign == ".":
            dots += 1
            parts += 1
        elif sign is not None:
            parts = 0
            depth += (sign in "[{") - (sign in "]}")
        elif token["number"] is not None and len(token["number"]) > LONGEST_NUMBER:
            raise ValueError(f"a number of {len(token['number'])} characters: at most {LONGEST_NUMBER} are possible")
        if max(depth, parts) >= DEEPEST:
            raise ValueError(f"nested too deeply: at most {DEEPEST} levels, and parts of a key, are possible")
        if dots > MOST_DOTS:
            raise ValueError(f"more than {MOST_DOTS} dots between the parts of keys")
