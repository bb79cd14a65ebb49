"""Units of answers: a bare number, also in quotes, is in the question's unit; others have a unit of the same kind."""

from __future__ import annotations

import math
import re

from dumbbell import _core

__all__ = ["KINDS", "number"]

KINDS = {
    "Mbit/s": "rate",
    "kbit/s": "rate",
    "s": "duration",
    "ms": "duration",
    "bytes": "bytes",
    "packets": "mean packets",
    "%": "probability",
}
"""Unit of a question -> the kind of its quantity."""
LONGEST = 40
"""Characters of an answer; and of a wrong one in a message."""
_BARE = re.compile(r"\s*[+-]?[0-9]{1,12}(\.[0-9]{1,12})?\s*")


def number(given: object, unit: str) -> float:
    """Return an answer as a number in the unit.

    Raises
    ------
    ValueError
        If it isn't a number, or its unit is of another kind; the message has the given value and the right form.
    """
    form = f'a number in {unit}, such as 12.5 or "12.5 {unit}",' if unit else "a number without a unit, such as 1.25,"
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError(f"{_kind(given)} given: {form} is needed")
    if isinstance(given, str):
        if _BARE.fullmatch(given):
            return float(given)
        shown = repr(given) if len(given) <= LONGEST else f"{len(given)} characters"
        if not unit or len(given) > LONGEST:
            raise ValueError(f"{shown} given: {form} is needed")
        try:
            value = _core.parse(KINDS[unit], given) / _core.parse(KINDS[unit], f"1 {unit}")
        except ValueError as e:
            raise ValueError(f"{e}; the question is in {unit}") from None
        return float(value)
    try:
        value = float(given)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ValueError(f"a number beyond all bounds given: {form} is needed")
    return value


def _kind(given: object) -> str:
    if isinstance(given, bool):
        return "true" if given else "false"
    return "a list" if isinstance(given, list) else "a table" if isinstance(given, dict) else "a date or time"
