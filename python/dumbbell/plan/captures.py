"""Captures drawn out: which nodes and which directions of links each of them has."""

from __future__ import annotations

from typing import Any

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.plan.topology import Drawing
from dumbbell.registry import unknown
from dumbbell.scenario.capture import ROLES, Capture

__all__ = ["captures"]


def captures(capture: Capture, drawing: Drawing) -> dict[str, Any]:
    """Make the plan's captures; ScenarioError for a point that the network doesn't have."""
    points = []
    for place, name in enumerate(capture.at):
        if name in capture.at[:place]:
            raise ScenarioError([Problem(f"capture.at.{place}", f"'{name}' is there twice")])
        nodes, links = _find(name, place, drawing)
        points.append({"name": name, "nodes": nodes, "links": links})
    return {"points": points, "snaplen_bytes": capture.snaplen.bytes}


def _find(name: str, place: int, drawing: Drawing) -> tuple[list[int], list[int]]:
    """Number the nodes and links of a point. A node or link that is named like a role is meant itself."""
    links = [edge.name for edge in drawing.edges]
    if name in drawing.nodes:
        return [drawing.nodes.index(name)], []
    if name in links:
        return [], [links.index(name)]
    if name == "sender":
        return _numbers(drawing, [sender for sender, _ in drawing.ends]), []
    if name == "receiver":
        return _numbers(drawing, [receiver for _, receiver in drawing.ends]), []
    if name == "bottleneck":
        if not drawing.bottlenecks:
            why = "a custom network has no bottleneck by name: name one of its links"
            raise ScenarioError([Problem(f"capture.at.{place}", f"{why}: {', '.join(links)}")])
        return [], list(drawing.bottlenecks)
    known = [*ROLES, *drawing.nodes, *links]
    raise ScenarioError([Problem(f"capture.at.{place}", unknown("point", name, known))])


def _numbers(drawing: Drawing, names: list[str]) -> list[int]:
    """Number nodes, each once, in the order of the network."""
    return sorted({drawing.nodes.index(name) for name in names})
