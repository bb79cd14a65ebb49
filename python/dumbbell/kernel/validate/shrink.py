"""Makes a case that differs smaller, as long as the same figure still differs.

Steps are tried in a fixed order, the ones that remove most first. A step that keeps the difference is kept, and the
list starts again. The result is a local minimum: no single step makes it smaller.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from dumbbell.exceptions import DumbbellError
from dumbbell.kernel.validate.cases import Case
from dumbbell.kernel.validate.verdicts import Judged, Outcome
from dumbbell.scenario import Scenario

__all__ = ["TRIALS", "shrunk", "smaller"]

TRIALS = 24
"""Runs of a case on both sides, at most."""
LEAST_S = 4.0
"""Shortest run that is tried, s."""

Document = dict[str, Any]


def smaller(document: Document, flow: str) -> Iterator[Document]:
    """Return scenarios that are simpler by one step, and keep the flow that differs."""
    for n, other in enumerate(document["flows"]):
        if other["name"] != flow:
            new = copy.deepcopy(document)
            del new["flows"][n]
            yield new
    link = document["network"]["bottleneck"]
    if "loss" in link:
        yield _without(document, "loss")
    if "rate" in link.get("reverse", {}):
        yield _without(document, "reverse", "rate")
    queue = link["queue"]
    if queue["discipline"] != "droptail":
        new = copy.deepcopy(document)
        plain = {"discipline": "droptail", "limit": queue.get("limit", "1000 packets")}
        new["network"]["bottleneck"]["queue"] = plain
        yield new
    yield from _simpler_values(document, flow)


def _simpler_values(document: Document, flow: str) -> Iterator[Document]:
    """Return scenarios with a default instead of a value, or a shorter run."""
    if any(len(f["stack"]) > 1 for f in document["flows"]):
        new = copy.deepcopy(document)
        for f in new["flows"]:
            f["stack"] = {"preset": f["stack"]["preset"]}
        yield new
    for key in document["network"]["bottleneck"]["queue"]:
        if key not in ("discipline", "limit", "gentle"):
            yield _without(document, "queue", key)
    seconds = float(document["duration"].split()[0])
    if seconds / 2 >= LEAST_S:
        new = copy.deepcopy(document)
        new["duration"] = f"{seconds / 2:g} s"
        yield new
    if any(float(f["start"].split()[0]) > 0 for f in document["flows"] if f["name"] == flow and "start" in f):
        new = copy.deepcopy(document)
        for f in new["flows"]:
            if f["name"] == flow:
                f["start"] = "0 s"
        yield new


def _without(document: Document, *path: str) -> Document:
    """Return the scenario without a key of the bottleneck."""
    new = copy.deepcopy(document)
    part = new["network"]["bottleneck"]
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return new


def shrunk(
    case: Case, found: Judged, compared: Callable[[Case], list[Judged]], trials: int = TRIALS
) -> tuple[Case, Judged]:
    """Return the smallest scenario found that still differs in the same figure of the same flow.

    Parameters
    ----------
    compared : callable
        Runs a case on both sides.
    """
    best, document = (case, found), _document(case.scenario)
    left = trials
    while left:
        for candidate in smaller(document, found.flow):
            if left == 0:
                break
            left -= 1
            try:
                trial = Case(case.name, Scenario.from_dict(candidate))
                still = [j for j in compared(trial) if (j.flow, j.figure) == (found.flow, found.figure)]
            except DumbbellError:
                continue  # not a scenario that both sides can run
            if still and still[0].outcome is Outcome.DIFFERENT:
                best, document = (trial, still[0]), candidate
                break
        else:
            break
    return best


def _document(scenario: Scenario) -> Document:
    """Return a scenario's document with every stack as a table."""
    document = scenario.to_dict()
    for flow in document["flows"]:
        if isinstance(flow.get("stack"), str):
            flow["stack"] = {"preset": flow["stack"]}
    return document
