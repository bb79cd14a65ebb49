"""Counted things in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: object, thing: str) -> str:
    """Write a number with the thing that it counts, in the plural unless it is one.

    Examples
    --------
    >>> counted(1, "cell"), counted(0, "TCP connection"), counted("5 to 10", "repetition")
    ('1 cell', '0 TCP connections', '5 to 10 repetitions')
    """
    return f"{number} {thing}{'' if str(number) == '1' else 's'}"
