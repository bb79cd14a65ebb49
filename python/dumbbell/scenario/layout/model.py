"""The layout of a scenario: its network drawn out, with routes, and checked as a whole.

Each part checks itself when it is read. The checks here need several parts at once: which links a flow crosses,
whether the queues on its path have its class, whether a limit in bdp has a round-trip time to refer to, whether a
drop rule can match, which nodes and links a capture point has. `dumbbell.plan` writes the layout in base units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.layout.capture_points import Point, capture_points
from dumbbell.scenario.layout.drawing import Drawing, draw
from dumbbell.scenario.layout.graph import Crossing, Edge
from dumbbell.scenario.layout.media import Medium, media
from dumbbell.scenario.layout.offered_load import rate_of
from dumbbell.scenario.network.directions import Rule
from dumbbell.scenario.paths import join

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["Drop", "Layout", "lay_out"]


@dataclass(frozen=True)
class Drop:
    """A drop rule of one direction of a link, with the number of its flow; None: packets of all flows."""

    rule: Rule
    flow: int | None


@dataclass(frozen=True)
class Layout:
    """A checked scenario, drawn out. Lists by edge are in the order of ``drawing.edges``.

    Attributes
    ----------
    drawing : Drawing
        Nodes, both directions of each link, the ends of each flow.
    base_rtt_ns : list of int
        By edge: the largest propagation round-trip time of a flow that crosses it, ns; 0 without such a flow.
    drops : list of lists of Drop
        By edge: the rules that apply to it.
    points : list of Point
        Capture points.
    has_classes : list of bool
        By edge: True if its queue has classes.
    crossed : list of lists of int
        By flow: the edges on its path, in both directions.
    media : list of Medium
        Wi-Fi media with their stations.
    rates : list of float or None
        By flow: transfers per second of a workload.
    """

    drawing: Drawing
    base_rtt_ns: list[int]
    drops: list[list[Drop]]
    points: list[Point]
    has_classes: list[bool]
    crossed: list[list[int]]
    media: list[Medium]
    rates: list[float | None]


def lay_out(scenario: Scenario) -> Layout:
    """Draw a scenario out, without its sweep.

    Raises
    ------
    ScenarioError
        If parts of the scenario contradict each other.
    """
    flows = scenario.single_flows
    drawing = draw(scenario.network, scenario.graph)
    crossing = scenario.graph.crossing
    drops = _drops(drawing, flows, crossing)
    _check_traced(scenario, drawing)
    base_rtt_ns, has_classes = _check_queues(drawing, flows, crossing)
    points = capture_points(scenario.capture, drawing)
    rates = [
        rate_of(flow, path, drawing.edges, scenario.duration.ns)
        for flow, path in zip(flows, crossing.forward, strict=True)
    ]
    of_media = media(drawing, crossing.forward, crossing.flows)
    return Layout(drawing, base_rtt_ns, drops, points, has_classes, crossing.crossed, of_media, rates)


def _check_traced(scenario: Scenario, drawing: Drawing) -> None:
    """Refuse to trace a flow or a link that doesn't exist."""
    if not scenario.trace.only:
        return
    known = [*(flow.name for flow in scenario.single_flows), *(edge.name for edge in drawing.edges)]
    for n, name in enumerate(scenario.trace.only):
        if name not in known:
            raise ScenarioError([Problem(f"trace.only.{n}", unknown("flow or link", name, known))])


def _check_queues(drawing: Drawing, flows: list[Flow], crossing: Crossing) -> tuple[list[int], list[bool]]:
    """Check the queues' parameters and the classes of the flows on them.

    Returns, for each edge, its base RTT in ns, and True if its queue has classes.
    """
    base_rtt_ns, has_classes = [], []
    checked: dict[tuple[int, int], int | None] = {}  # most links have the settings of another one
    for edge, largest, crossed_by in zip(drawing.edges, _largest_rtts(drawing, crossing), crossing.flows, strict=True):
        queue = edge.settings.queue
        rtt = _base_rtt(edge, largest)
        base_rtt_ns.append(rtt)
        if (same := (id(edge.settings), rtt)) not in checked:
            rate = edge.settings.rate_bps or 1
            try:
                if queue.own is not None:
                    checked[same] = queue.own.check(dict(queue.params), rate, rtt)
                else:
                    checked[same] = _core.check_queue(queue.name, dict(queue.params), rate, rtt)
            except _core.ParamError as e:
                where, message = e.args
                whole = queue.own is not None and where == "name" and where not in queue.params
                place = f"{edge.settings.place}.queue"
                raise ScenarioError([Problem(place if whole else f"{place}.{where}", message)]) from None
        classes = checked[same]
        has_classes.append(classes is not None)
        if classes is None:
            continue
        for n in crossed_by:
            if flows[n].class_ >= classes:
                place = f"{join(['flows', flows[n].name])}.class"
                why = f"{flows[n].class_} given: the queue of {edge.name} ({queue.name}) has classes 0 to {classes - 1}"
                raise ScenarioError([Problem(place, why)])
    return base_rtt_ns, has_classes


def _largest_rtts(drawing: Drawing, crossing: Crossing) -> list[int | None]:
    """Return, by edge, the largest base round-trip time of the flows that cross it, ns; None without such a flow.

    A flow's base round-trip time is the propagation delay of its path in both directions. Transmission times depend
    on packet sizes and are not part of it.
    """
    delays = [edge.settings.delay_ns for edge in drawing.edges]
    rtts = [sum([delays[edge] for edge in round_trip]) for round_trip in crossing.round_trips]
    return [max([rtts[n] for n in of_edge], default=None) for of_edge in crossing.flows]


def _base_rtt(edge: Edge, rtt: int | None) -> int:
    """Return a link's base RTT, ns; refuse a limit in bdp where the base RTT is zero."""
    if rtt == 0:
        for key, value in _values(edge.settings.queue.params):
            if isinstance(value, str) and re.search(r"bdp\s*$", value, re.IGNORECASE):
                place = f"{edge.settings.place}.queue.{key}"
                why = f"'{value}' is zero, because no flow over {edge.name} has any propagation delay"
                raise ScenarioError([Problem(place, why)])
    return rtt or 0


def _values(params: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Iterate over parameters, including those of an inner discipline."""
    for key, value in params.items():
        if isinstance(value, dict):
            yield from _values(value, f"{within}{key}.")
        else:
            yield f"{within}{key}", value


def _drops(drawing: Drawing, flows: list[Flow], crossing: Crossing) -> list[list[Drop]]:
    """Find each link's drop rules; a rule that applies to no link is an error."""
    if not any(edge.settings.drops for edge in drawing.edges):
        return [[] for _ in drawing.edges]
    names = [f.name for f in flows]
    given: dict[str, Rule] = {}
    applied: set[str] = set()
    found: list[list[Drop]] = []
    for number, edge in enumerate(drawing.edges):
        rules = []
        for rule in edge.settings.drops:
            given[rule.place] = rule
            flow = _flow_number(rule, names)
            if flow is not None and number not in crossing.forward[flow]:
                continue
            applied.add(rule.place)
            rules.append(Drop(rule, flow))
        found.append(rules)
    for place, rule in given.items():
        if place not in applied:
            why = f"the data of flow '{rule.rule.flow}' do not cross this link in this direction"
            raise ScenarioError([Problem(f"{place}.flow", why)])
    return found


def _flow_number(rule: Rule, names: list[str]) -> int | None:
    if rule.rule.flow is None:
        return None
    if rule.rule.flow not in names:
        raise ScenarioError([Problem(f"{rule.place}.flow", unknown("flow", rule.rule.flow, names))])
    return names.index(rule.rule.flow)
