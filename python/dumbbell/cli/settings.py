"""Settings that options and arguments give as ``NAME=VALUE``."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["settings"]

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def settings(given: Iterable[str], example: str, *, option: str = "", form: str = "NAME=VALUE") -> dict[str, str]:
    """Divide settings into names and values, each without spaces around it.

    Parameters
    ----------
    option : str
        The option that gives them; empty for arguments.

    Raises
    ------
    DumbbellError
        If one has another form or a control character, such as a newline, or a name is given twice.
    """
    from dumbbell.exceptions import DumbbellError

    before = f"{option}: " if option else ""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise DumbbellError(f"{before}'{text}' given: {form} is needed, such as {example}")
        if _CONTROLS.search(text):
            raise DumbbellError(f"{before}{text!r} given: control characters, such as a newline, are not possible")
        if name in found:
            raise DumbbellError(f"{before}'{name}' is set twice")
        found[name] = value
    return found
