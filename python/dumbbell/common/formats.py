"""Versions of the formats that Dumbbell reads: a newer one is refused before anything else of it is read."""

from __future__ import annotations

__all__ = ["newer"]


def newer(given: object, newest: int) -> str | None:
    """Return the reason for refusing a format's number that is above the newest known one; None for all others."""
    if type(given) is not int or given <= newest:
        return None
    shown = given if given < 1_000_000 else "a large number"
    known = "format 1 is" if newest == 1 else f"formats 1 to {newest} are"
    return f"{shown} given: {known} known to this version of Dumbbell, a newer one has written it"
