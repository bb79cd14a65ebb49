"""Numbers in texts."""

from __future__ import annotations

import re

__all__ = ["ROUNDING", "whole"]

ROUNDING = 1e-12
"""Part of the largest value up to which differences count as equal: sums in another order differ by less."""

_WHOLE = re.compile(r"[0-9]{1,18}")


def whole(text: str) -> int | None:
    """Read a text of 1 to 18 digits from 0 to 9; None for any other.

    `str.isdigit` accepts characters that `int` refuses, and `int` refuses more than 4,300 digits.

    Examples
    --------
    >>> whole("20"), whole("²"), whole("-1")
    (20, None, None)
    """
    return int(text) if _WHOLE.fullmatch(text) else None
