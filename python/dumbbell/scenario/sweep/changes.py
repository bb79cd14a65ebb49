"""Changes of a document before it is read, and problems of a cell at the swept path that caused them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dumbbell.common.words import shown
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.scenario.paths import Document, canonical, join, overlap
from dumbbell.scenario.sweep.every import every, in_sweep
from dumbbell.scenario.sweep.model import Sweep

__all__ = ["change", "place_in_sweep"]


def change(document: Document, changes: Mapping[str, Any]) -> set[str]:
    """Make changes to a raw document, in place; return the keys of the document that have changed.

    A change of a swept path replaces its list of values by the one value.
    """
    changed: dict[tuple[str, ...], str] = {}
    keys: set[str] = set()
    in_sweep(document)
    for given, path in [(key, one) for key in changes for one in every(document, key)]:
        before = changed.setdefault(canonical(document, path), given)
        if before != given:
            raise ScenarioError([Problem(given, f"the same place as '{before}': it is set twice")])
        keys |= _change(document, path, changes[given])
    return keys


def _change(document: Document, path: str, value: object) -> set[str]:
    """Make one change to a raw document; return the keys that have changed."""
    place = canonical(document, path)
    keys = {place[0]}
    sweep = document.get("sweep")
    if isinstance(sweep, dict) and place[0] != "sweep":
        try:
            parsed = Sweep.model_validate(sweep)
        except ValidationError:
            parsed = None  # the check of the scenario reports it with its place
        if parsed is not None:
            parsed.check(document)
            axes = dict(parsed.axes)
            for axis in axes:
                if canonical(document, axis) == place:
                    axes[axis] = [value]
                    keys.add("sweep")
                elif overlap(canonical(document, axis), place):
                    raise ScenarioError([Problem(path, f"the sweep varies '{axis}': change that")])
            for case in parsed.cases:
                for swept in case:
                    if overlap(canonical(document, swept), place):
                        raise ScenarioError([Problem(path, f"the cases of the sweep set '{swept}'")])
            document["sweep"] = {**axes, **({"cases": parsed.cases} if parsed.cases else {})}
    Sweep.apply(document, {path: value})
    return keys


def place_in_sweep(problem: Problem, base: Document, values: dict[str, Any]) -> Problem:
    """Move a problem of a cell to the swept path that caused it, if one did."""
    try:
        place = canonical(base, problem.place) if problem.place else ()
    except ScenarioError:
        place = ()
    for path in values:
        if place and overlap(canonical(base, path), place):
            inner = "" if len(place) <= len(canonical(base, path)) else f"{problem.place}: "
            return Problem(f"sweep.{join([path])}", inner + problem.message)
    cell = ", ".join(f"{k} = {shown(v)}" for k, v in values.items())
    return Problem(problem.place, f"{problem.message} (in the sweep's cell {cell})")
