"""The markers of each test, by which ``make`` chooses: by its folder, its fixtures and what its code requires.

A test without such a marker is ``quick``. Code is read, not run: the functions that a test and its fixtures call
within ``tests`` are followed to the calls of ``required``. A call that this misses fails a quick test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

__all__ = ["MARKERS", "markers", "needs"]

TESTS = Path(__file__).parents[1]
MARKERS = {
    "quick": "what a change to the core, a scenario, a capture or the command line breaks (set by itself)",
    "slow": "takes long, and tests no satellite",
    "programs": "needs programs of the host",
    "kernel": "the satellite `kernel`, or needs root, namespaces or Linux in virtual time",
    "studies": "the satellites `studies` and `report`",
    "browser": "the satellite `studio`, or needs a browser or Node",
    "cluster": "the satellite `cluster`",
    "host_clock": "measures on the host's own clock: at most two at a time; a failure is repeated at most twice",
}
FOLDERS = {
    "kernel": "kernel",
    "studies": "studies",
    "report": "studies",
    "studio": "browser",
    "cluster": "cluster",
    "validation": "slow",
}
FIXTURES = {"require_link_emulation": "host_clock", "require_machines": "host_clock", "done": "studies"}
GROUPS = {
    "host": "kernel",
    "users": "kernel",
    "uml": "kernel",
    "programs": "programs",
    "studio": "browser",
    "wheel": "slow",
}
"""Marker of each group of requirements that a quick test doesn't have."""
BROWSERS = {"chromium", "node"}


def markers(item: pytest.Function) -> set[str]:
    """Return the markers that a test has besides its own."""
    found = {FOLDERS[part] for part in item.path.relative_to(TESTS).parts[:1] if part in FOLDERS}
    found |= {FIXTURES[name] for name in item.fixturenames if name in FIXTURES}
    found |= needs(item.function)
    for name in item.fixturenames:
        for fixture in item._fixtureinfo.name2fixturedefs.get(name, ()):
            found |= needs(fixture.func)
    own = {mark.name for mark in item.iter_markers()} & set(MARKERS)
    return found - own if found | own else {"quick"}


@cache
def needs(function: Callable[..., Any]) -> frozenset[str]:
    """Return the markers of what a function requires, itself or through functions of ``tests``."""
    found: set[str] = set()
    seen: set[int] = set()
    todo: list[Any] = [function]
    while todo:
        given = todo.pop()
        given = getattr(getattr(given, "hypothesis", None), "inner_test", given)
        given = getattr(given, "__wrapped__", given)
        if isinstance(given, type):
            todo += vars(given).values()
        if (
            not isinstance(given, FunctionType)
            or id(given) in seen
            or TESTS not in Path(given.__code__.co_filename).parents
        ):
            continue
        seen.add(id(given))
        for code in codes(given.__code__):
            found |= called(code)
            todo += [given.__globals__[name] for name in code.co_names if name in given.__globals__]
    return frozenset(found)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def called(code: CodeType) -> set[str]:
    """Return the markers of what this code requires itself, by the words that it passes."""
    words = {word for c in code.co_consts for word in (c if isinstance(c, tuple) else (c,)) if isinstance(word, str)}
    found = {GROUPS[word] for word in words & set(GROUPS)} if "require" in code.co_names else set()
    if "require_programs" in code.co_names:
        found.add("browser" if words & BROWSERS else "programs")
    if "require_root" in code.co_names:
        found.add("kernel")
    return found
