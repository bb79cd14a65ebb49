"""Paths with ``*``: ``flows.*.variant`` is the variant of every flow, ``flows.cross-*.start`` the start of some."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.scenario.paths import Document, element_name, join, split

__all__ = ["every", "in_sweep"]


def every(document: Document, path: str) -> list[str]:
    """Return the paths that a path stands for: one for each element whose name fits, or the path itself.

    Raises
    ------
    ScenarioError
        The part with ``*`` names no element of a list.
    """
    if "*" not in path:
        return [path]
    parts = split(path)
    node: Any = document
    for at, part in enumerate(parts):
        if isinstance(node, list):
            names = [element_name(e, parts[at - 1] if at else "") or str(n) for n, e in enumerate(node)]
            if "*" in part and part not in names:
                fit = [name for name in names if fnmatchcase(name, part.replace("[", "[[]"))]
                if not fit:
                    raise ScenarioError([Problem(path, f"no name fits '{part}' ({', '.join(names)})")])
                return [one for name in fit for one in every(document, join([*parts[:at], name, *parts[at + 1 :]]))]
            node = node[names.index(part)] if part in names else None
        else:
            node = node.get(part) if isinstance(node, dict) else None
    return [path]


def in_sweep(document: Document) -> None:
    """Write a document's sweep without ``*``, in place: a list of such a path becomes cases, around those given."""
    sweep = document.get("sweep")
    if not isinstance(sweep, dict) or not isinstance(cases := sweep.get("cases", []), list):
        return  # the check of the sweep says what is wrong
    if not all(isinstance(case, dict) for case in cases):
        return
    paths = {path: every(document, path) for part in (sweep, *cases) for path in part}
    axes = {path: sweep[path] for path in sweep if paths[path] != [path] and isinstance(sweep[path], list)}
    for path, values in reversed(axes.items()):
        cases = [{path: value, **case} for value in values for case in cases or [{}]]
    if any(paths[path] != [path] for case in cases for path in case):
        document["sweep"] = {path: values for path, values in sweep.items() if path not in axes}
        document["sweep"]["cases"] = [_case(case, paths) for case in cases]


def _case(case: dict[str, Any], paths: dict[str, list[str]]) -> dict[str, Any]:
    """Return a case with the paths that its paths stand for."""
    found: dict[str, str] = {}
    for path in case:
        for one in paths[path]:
            if found.setdefault(one, path) != path:
                why = f"the same place as '{found[one]}', or within it: a cell would set it twice"
                raise ScenarioError([Problem(f"sweep.{join([path])}", why)])
    return {one: case[path] for one, path in found.items()}
