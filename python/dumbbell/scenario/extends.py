"""Scenarios that extend another file: ``extends = "base.toml"``.

The file is merged with the one that it extends, which may extend another one in turn, before anything is checked:

- a table is merged key by key with the table of that name. A table that gives another choice (a `kind`, the name of
  a queue discipline, variant or stack ...) than the extended file replaces it.
- in ``flows`` and ``network.links``, elements are merged by their names; others are added at the end.
- any other value replaces that of the extended file.

A path is relative to the folder of the file that gives it. Paths of other files, such as traces, are relative to the
folder of the file that is run. Results keep the merged scenario.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.common.reading import read_text
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.scenario import files, toml
from dumbbell.scenario.paths import SHORT_FORMS, Document, canonical, element_name, overlap

__all__ = ["KEY", "Merged", "files_of", "merge"]

KEY = "extends"
MOST_FILES = 8
"""Files of a chain, the first included: a scenario of more is hard to follow."""
CHOICES = ("kind", "topology", "model", "distribution")
"""Keys whose values choose between tables with different keys, besides those of `SHORT_FORMS`."""
FORMS = (*CHOICES, "trace", "cellular", "steps", "python", "library")
"""Keys that only one of several forms of a table has."""
NAMED_LISTS = (("flows",), ("network", "links"))
"""Lists whose elements are merged by name."""


@dataclass(frozen=True)
class _File:
    """A file of a chain: its name in errors, and its own part of the scenario."""

    source: str | None
    document: Document


@dataclass(frozen=True)
class Merged:
    """A scenario that is merged with the files that it extends.

    Attributes
    ----------
    document : Document
        The merged scenario.
    chain : tuple of _File
        The files, that of the scenario first.
    """

    document: Document
    chain: tuple[_File, ...]

    def located(self, problems: tuple[Problem, ...], changes: Mapping[str, Any]) -> list[Problem]:
        """Add to each problem the file in which its value stands, if that is not the scenario's own."""
        if len(self.chain) == 1:
            return list(problems)
        return [Problem(p.place, p.message, p.file or self._file_of(p.place, changes)) for p in problems]

    def _file_of(self, place: str, changes: Mapping[str, Any]) -> str | None:
        """Return the extended file that gives the value at a place; None for the scenario's own file."""
        merged = _canonical(self.document, place)
        changed = (_canonical(self.document, path) for path in changes)
        if merged is None or any(path is not None and overlap(path, merged) for path in changed):
            return None
        for number, file in enumerate(self.chain):
            if _holds(file.document, place):
                return file.source if number else None
        return None


def merge(document: Document, source: str | None) -> Merged:
    """Merge a document with the files that it extends.

    Parameters
    ----------
    document : Document
        Plain values; it is changed.
    source : str or None
        Its file; None for a text, which extends files of the current folder.

    Raises
    ------
    ScenarioError
        If a file can't be read, or the files extend each other.
    """
    chain = [_File(source, document)]
    place = Path(source) if source is not None else None
    read = [] if place is None else [_identity(place)]
    while (named := chain[-1].document.pop(KEY, None)) is not None:
        where = chain[-1].source
        if not isinstance(named, str) or not named or "\0" in named:
            raise ScenarioError([Problem(KEY, "the path of a scenario file is needed")], where)
        place = (files.current().folder if place is None else place.parent) / named
        if len(chain) == MOST_FILES:
            why = f"'{named}' given: at most {MOST_FILES} files can extend each other"
            raise ScenarioError([Problem(KEY, why)], where)
        chain.append(_File(os.fspath(place), _read(place, named, where)))
        read.append(_identity(place))
        if read[-1] in read[:-1]:
            why = f"'{named}' given: the files extend each other in a circle"
            raise ScenarioError([Problem(KEY, why)], where)
    merged = chain[-1].document
    try:
        for file in reversed(chain[:-1]):
            merged = _tables(merged, file.document, ())
    except RecursionError:
        raise ScenarioError([Problem("", "nested too deeply")], source) from None
    return Merged(merged, tuple(chain))


def files_of(path: Path) -> list[Path]:
    """Return a scenario file and those that it extends, each before the one that it extends."""
    merged = merge(toml.read(read_text(path)), os.fspath(path))
    return [Path(file.source) for file in merged.chain if file.source is not None]


def _read(place: Path, named: str, source: str | None) -> Document:
    """Read a file that ``source`` extends."""
    try:
        if place.exists() and not place.is_file():
            raise ValueError("it is not a regular file")
        text = read_text(place)
    except (OSError, ValueError) as e:
        why = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
        raise ScenarioError([Problem(KEY, f"'{named}' can't be read: {why}")], source) from None
    try:
        return toml.read(text)
    except ScenarioError as e:
        raise ScenarioError(e.problems, os.fspath(place)) from None


def _identity(place: Path) -> tuple[int, int] | None:
    """Return the same for two paths of one file."""
    try:
        status = place.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _tables(base: Document, over: Document, place: tuple[str, ...]) -> Document:
    """Merge two tables."""
    merged = dict(base)
    for key, value in over.items():
        merged[key] = _values(base[key], value, (*place, key)) if key in base else value
    return merged


def _values(base: Any, over: Any, place: tuple[str, ...]) -> Any:  # noqa: ANN401
    """Merge two values of a key."""
    if isinstance(over, dict):
        key = SHORT_FORMS.get(place[-1]) if place[0] != "sweep" else None
        if key is not None and isinstance(base, str):
            base = {key: base}
        if isinstance(base, dict) and not _is_another_choice(base, over, key):
            return _tables(base, over, place)
    if isinstance(over, list) and isinstance(base, list) and place in NAMED_LISTS:
        return _named(base, over, place)
    return over


def _is_another_choice(base: Document, over: Document, key: str | None) -> bool:
    """Return True if a table chooses other keys than the one that it would be merged with."""
    choices = CHOICES if key is None else (key, "name")
    forms = [{form for form in (*choices, *FORMS) if form in table} for table in (base, over)]
    if forms[0] and forms[1] and forms[0] != forms[1]:
        return True
    return any(choice in over and over[choice] != base.get(choice, over[choice]) for choice in choices)


def _named(base: list[Any], over: list[Any], place: tuple[str, ...]) -> list[Any]:
    """Merge two lists by the names of their elements; without unique names, the list replaces the other."""
    names = [
        [element_name(element, place[-1]) if isinstance(element, dict) else None for element in part]
        for part in (base, over)
    ]
    if any(None in part or len(set(part)) < len(part) for part in names):
        return over
    merged = list(base)
    for name, element in zip(names[1], over, strict=True):
        if name in names[0]:
            at = names[0].index(name)
            merged[at] = _tables(merged[at], element, (*place, str(at)))
        else:
            merged.append(element)
    return merged


def _canonical(document: Document, place: str) -> tuple[str, ...] | None:
    """Return the canonical path of a place; None if it has none."""
    try:
        return canonical(document, place) if place else None
    except ScenarioError:
        return None


def _holds(document: Document, place: str) -> bool:
    """Return True if a document gives a value at a place."""
    path = _canonical(document, place)
    node: Any = document
    for part in path or ():
        if isinstance(node, dict) and part in node:
            node = node[part]
        elif isinstance(node, list) and int(part) < len(node):
            node = node[int(part)]
        else:
            return False
    return path is not None
