"""Counted things and given values in sentences."""

from __future__ import annotations

from dumbbell.exceptions import LONGEST_VALUE

__all__ = ["counted", "shown"]


def counted(number: object, thing: str) -> str:
    """Write a number with the thing that it counts, in the plural unless it is one.

    Examples
    --------
    >>> counted(1, "cell"), counted(0, "TCP connection"), counted("5 to 10", "repetition")
    ('1 cell', '0 TCP connections', '5 to 10 repetitions')
    """
    return f"{number} {thing}{'' if str(number) == '1' else 's'}"


def shown(value: object) -> str:
    r"""Write a value of others in a message, cut where it is long.

    Examples
    --------
    >>> shown(True), shown("a\nb"), shown(1 << 36000)
    ('true', "'a\\nb'", 'a number of more than 4,300 digits')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return repr(f"{value[:LONGEST_VALUE]}...")
    try:
        text = repr(value)
    except ValueError:  # what Python writes is bounded
        return "a number of more than 4,300 digits"
    return text if isinstance(value, str) or len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
