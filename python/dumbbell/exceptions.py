"""The errors of Dumbbell.

Every message names the value given, the values allowed and, for names, the nearest valid one. The command line prints
it without a traceback and ends with exit code 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "LONGEST_VALUE",
    "BackendError",
    "CaptureError",
    "DumbbellError",
    "EndlessCallError",
    "Problem",
    "ResultsError",
    "ScenarioError",
    "bounded",
]

LONGEST_VALUE = 200
"""Characters of a value that a message repeats."""
LONGEST_LINE = 4_000
"""Characters of a line. The longest of our own list the names of all columns."""
_VALUE = re.compile(r"(?<!\w)(['\"])((?:(?!\1(?!\w)).)*+)(\1?)|[^\s'\".:]++")
"""A value in quotes, which aren't apostrophes, or a word: a part of a dotted path too."""


def bounded(message: str) -> str:
    """Shorten the values that a message repeats, in quotes or without spaces, and its lines.

    Examples
    --------
    >>> len(bounded(f"name: '{'a b ' * 1000}' given: must be shorter"))
    234
    """
    lines = (_VALUE.sub(_shortened, line) for line in message.split("\n"))
    return "\n".join(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..." for line in lines)


def _shortened(found: re.Match[str]) -> str:
    quote, text, end = found.groups() if found[1] else ("", found[0], "")
    if len(text) <= LONGEST_VALUE:
        return found[0]
    return f"{quote}{text[:LONGEST_VALUE]}...{end}" if quote else _ends(text)


def _ends(path: str) -> str:
    """Leave out the middle of a long path: its end says the most."""
    half = LONGEST_VALUE // 2
    return path if len(path) <= LONGEST_VALUE else f"{path[:half]}...{path[-half:]}"


class DumbbellError(Exception):
    """Any error that input, files or the machine can cause. Values in its message are shortened (`bounded`)."""

    def __init__(self, message: str = "") -> None:
        super().__init__(bounded(message))


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a scenario.

    Attributes
    ----------
    place : str
        Its place, as a dotted path such as ``flows.tcp.variant``; empty for the scenario as a whole.
    message : str
        The value given and the values allowed.
    file : str or None
        The file in which the value stands, where that is one that the scenario extends.
    """

    place: str
    message: str
    file: str | None = None

    def __str__(self) -> str:
        return f"{_ends(self.place)}: {self.message}" if self.place else self.message


class ScenarioError(DumbbellError):
    """A scenario that can't be run.

    Attributes
    ----------
    problems : tuple of Problem
        Every problem found.
    source : str or None
        The file of the scenario.
    """

    def __init__(self, problems: list[Problem] | tuple[Problem, ...], source: str | None = None) -> None:
        self.problems = tuple(problems)
        self.source = source
        files = [p.file or source for p in self.problems]
        super().__init__("\n".join(f"{f}: {p}" if f else str(p) for f, p in zip(files, self.problems, strict=True)))


class BackendError(DumbbellError):
    """A back end that failed to make a run."""


class EndlessCallError(BackendError):
    """A call of a library that has not returned for a long time. Its thread can't be stopped: end the process."""


class ResultsError(DumbbellError):
    """Results that can't be stored or read."""


class CaptureError(DumbbellError):
    """A capture file that can't be read, or a question about one that can't be answered."""
