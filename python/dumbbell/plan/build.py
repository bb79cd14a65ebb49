"""The plan of a run: what `crates/plan/src/plan.rs` reads. The seed is set per repetition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.plan.captures import captures
from dumbbell.plan.directions import Rule
from dumbbell.plan.links import link_plan
from dumbbell.plan.routes import Routes
from dumbbell.plan.topology import Drawing, Edge, draw
from dumbbell.registry import unknown
from dumbbell.scenario.courses import first_delay_ns, first_rate_bps
from dumbbell.scenario.flow import Flow
from dumbbell.scenario.named import Named
from dumbbell.scenario.paths import join

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["build"]


def build(scenario: Scenario) -> dict[str, Any]:
    """Make the plan of a scenario (its sweep apart), all but the seed; ScenarioError if it can't be drawn."""
    drawing = draw(scenario.network, scenario.flows)
    crossing = _Crossing(drawing, scenario.flows)
    drops = _drops(drawing, scenario.flows, crossing)
    _check_traced(scenario, [edge.name for edge in drawing.edges])
    _check_queues(drawing, scenario.flows, crossing)
    numbers = {name: n for n, name in enumerate(drawing.nodes)}
    return {
        "seed": 0,
        "duration_ns": scenario.duration.ns,
        "measure_from_ns": scenario.measure_from.ns,
        "start_jitter_ns": scenario.start_jitter.ns,
        "nodes": drawing.nodes,
        "links": [
            {
                "name": edge.name,
                "from": numbers[edge.from_],
                "to": numbers[edge.to],
                "base_rtt_ns": _base_rtt(edge, crossing.base_rtt[n]),
                "queue": _named(edge.settings.queue),
                **link_plan(edge.settings, scenario.duration.ns),
                "drops": drops[n],
            }
            for n, edge in enumerate(drawing.edges)
        ],
        "flows": [
            {
                "name": flow.name,
                "from": numbers[sender],
                "to": numbers[receiver],
                "start_ns": flow.start.ns,
                "stop_ns": flow.stop.ns if flow.stop is not None else None,
                "class": flow.class_,
                "application": flow.application.plan(),
                "transport": _transport(flow),
            }
            for flow, (sender, receiver) in zip(scenario.flows, drawing.ends, strict=True)
        ],
        "trace": {
            "series": list(scenario.trace.tables),
            "only": scenario.trace.only,
            "interval_ns": scenario.trace.interval.ns,
            "packets": scenario.trace.packets,
        },
        **({"capture": captures(scenario.capture, drawing)} if scenario.capture.at else {}),
    }


def _check_traced(scenario: Scenario, links: list[str]) -> None:
    """Refuse to trace what isn't there."""
    known = [*(flow.name for flow in scenario.flows), *links]
    for n, name in enumerate(scenario.trace.only or []):
        if name not in known:
            raise ScenarioError([Problem(f"trace.only.{n}", unknown("flow or link", name, known))])


def _check_queues(drawing: Drawing, flows: list[Flow], crossing: _Crossing) -> None:
    """Refuse queues whose parameters contradict each other, and flows of a class that a queue on their way lacks."""
    for number, edge in enumerate(drawing.edges):
        queue, rate = edge.settings.queue, first_rate_bps(edge.settings.rate) if edge.settings.rate else 1
        try:
            rtt = _base_rtt(edge, crossing.base_rtt[number])
            classes = _core.check_queue(queue.name, dict(queue.params), rate, rtt)
        except _core.ParamError as e:
            where, message = e.args
            raise ScenarioError([Problem(f"{edge.settings.place}.queue.{where}", message)]) from None
        for n in crossing.flows[number]:
            if classes is not None and flows[n].class_ >= classes:
                place = f"{join(['flows', flows[n].name])}.class"
                why = (
                    f"{flows[n].class_} given: the queue of {edge.name} ({queue.name}) has classes 0 to {classes - 1}"
                )
                raise ScenarioError([Problem(place, why)])


def _named(named: Named) -> dict[str, Any]:
    return {"name": named.name, "params": dict(named.params)}


def _transport(flow: Flow) -> dict[str, Any]:
    if flow.variant is None or flow.datagrams:
        return {"kind": "udp"}
    variant = _named(flow.variant)
    if flow.variant.law is not None:
        variant["content"] = flow.variant.law.content
    return {"kind": "tcp", "variant": variant, "stack": _named(flow.stack)}


def _delay(edge: Edge) -> int:
    return first_delay_ns(edge.settings.delay) if edge.settings.delay is not None else 0


class _Crossing:
    """Which flows cross which links (`flows`: in either direction), and the largest base round-trip time among them.

    A flow's base round-trip time is the propagation delay along its way there and back; transmission times depend on
    packet sizes and are left out.
    """

    def __init__(self, drawing: Drawing, flows: list[Flow]) -> None:
        numbers = {name: n for n, name in enumerate(drawing.nodes)}
        routes = Routes(len(drawing.nodes), [(numbers[e.from_], numbers[e.to]) for e in drawing.edges])
        self.base_rtt: list[int | None] = [None] * len(drawing.edges)
        self.forward: list[set[int]] = []
        self.flows: list[list[int]] = [[] for _ in drawing.edges]
        for n, (flow, (sender, receiver)) in enumerate(zip(flows, drawing.ends, strict=True)):
            there = routes.path(numbers[sender], numbers[receiver])
            back = routes.path(numbers[receiver], numbers[sender])
            if there is None or back is None:
                place = f"{join(['flows', flow.name])}.to"
                raise ScenarioError([Problem(place, f"no way leads from '{sender}' to '{receiver}'")])
            rtt = sum(_delay(drawing.edges[e]) for e in [*there, *back])
            self.forward.append(set(there))
            for e in [*there, *back]:
                self.flows[e].append(n)
                self.base_rtt[e] = max(rtt, self.base_rtt[e] or 0)


def _base_rtt(edge: Edge, rtt: int | None) -> int:
    """Take a link's base RTT; refuse a limit in bdp where it would be zero."""
    if rtt == 0:
        for key, value in _values(edge.settings.queue.params):
            if isinstance(value, str) and re.search(r"bdp\s*$", value, re.IGNORECASE):
                place = f"{edge.settings.place}.queue.{key}"
                why = f"'{value}' is zero, because no flow over {edge.name} has any propagation delay"
                raise ScenarioError([Problem(place, why)])
    return rtt or 0


def _values(params: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Go through parameters, those of an inner discipline included."""
    for key, value in params.items():
        if isinstance(value, dict):
            yield from _values(value, f"{within}{key}.")
        else:
            yield f"{within}{key}", value


def _drops(drawing: Drawing, flows: list[Flow], crossing: _Crossing) -> list[list[dict[str, Any]]]:
    """Write each link's drop rules; a rule that no link can follow is an error."""
    names = [f.name for f in flows]
    given: dict[str, Rule] = {}
    followed: set[str] = set()
    written: list[list[dict[str, Any]]] = []
    for number, edge in enumerate(drawing.edges):
        rules = []
        for rule in edge.settings.drops:
            given[rule.place] = rule
            flow = _flow_number(rule, names)
            if flow is not None and number not in crossing.forward[flow]:
                continue
            followed.add(rule.place)
            rules.append(_drop(rule, flow))
        written.append(rules)
    for place, rule in given.items():
        if place not in followed:
            why = f"the data of flow '{rule.rule.flow}' do not cross this link in this direction"
            raise ScenarioError([Problem(f"{place}.flow", why)])
    return written


def _flow_number(rule: Rule, names: list[str]) -> int | None:
    if rule.rule.flow is None:
        return None
    if rule.rule.flow not in names:
        raise ScenarioError([Problem(f"{rule.place}.flow", unknown("flow", rule.rule.flow, names))])
    return names.index(rule.rule.flow)


def _drop(rule: Rule, flow: int | None) -> dict[str, Any]:
    span = rule.rule.from_, rule.rule.to
    return {
        "flow": flow,
        "data_only": rule.rule.count == "data",
        "packets": sorted(rule.rule.packets or []),
        "spans_ns": [[span[0].ns, span[1].ns]] if span[0] is not None and span[1] is not None else [],
    }
