"""Capture points: the nodes and the directions of links that each of them has."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario.capture import ROLES, Capture
from dumbbell.scenario.layout.drawing import Drawing

__all__ = ["Point", "capture_points"]


@dataclass(frozen=True)
class Point:
    """A capture point with the numbers of its nodes and of its directions of links."""

    name: str
    nodes: list[int]
    links: list[int]


def capture_points(capture: Capture, drawing: Drawing) -> list[Point]:
    """Find the nodes and links of each capture point; ScenarioError for a point that the network doesn't have."""
    points = []
    for place, name in enumerate(capture.at):
        if name in capture.at[:place]:
            raise ScenarioError([Problem(f"capture.at.{place}", f"'{name}' is given twice")])
        points.append(Point(name, *_find(name, place, drawing)))
    return points


def _find(name: str, place: int, drawing: Drawing) -> tuple[list[int], list[int]]:
    """Number the nodes and links of a point. The name of a node or link takes precedence over a role."""
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
