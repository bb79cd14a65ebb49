"""The plan of a run: a scenario's layout in base units, as `crates/plan/src/plan.rs` reads it."""

from __future__ import annotations

from typing import Any

from dumbbell.plan.links import link_plan
from dumbbell.scenario import Scenario
from dumbbell.scenario.flow.application import Ping
from dumbbell.scenario.flow.default_jitter import default_jitters
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.flow.web import Web
from dumbbell.scenario.flow.workload import Workload
from dumbbell.scenario.layout.model import Drop
from dumbbell.scenario.registry_choice import Named, Owned

__all__ = ["build"]


def build(scenario: Scenario, seed: int = 0) -> dict[str, Any]:
    """Return the plan of one run of a scenario; the sweep is not part of it.

    Parameters
    ----------
    scenario : Scenario
        Usually that of a cell.
    seed : int
        The seed of the repetition.

    Returns
    -------
    dict
        Plain values for JSON: ``nodes``, ``links``, ``flows``, ``trace``, ``capture``; times in ns, rates in bit/s.
    """
    layout = scenario.layout
    drawing = layout.drawing
    numbers = {name: n for n, name in enumerate(drawing.nodes)}
    settings = {id(edge.settings): edge.settings for edge in drawing.edges}  # access links share theirs
    of_settings = {key: link_plan(each, scenario.duration.ns) for key, each in settings.items()}
    return {
        "seed": seed,
        "duration_ns": scenario.duration.ns,
        "measure_from_ns": scenario.measure_from.ns,
        "start_jitter_ns": 0 if scenario.start_jitter is None else scenario.start_jitter.ns,
        "nodes": drawing.nodes,
        "links": [
            {
                "name": edge.name,
                "from": numbers[edge.from_],
                "to": numbers[edge.to],
                "base_rtt_ns": base_rtt_ns,
                "queue": _owned(edge.settings.queue),
                **of_settings[id(edge.settings)],
                "drops": [_drop(drop) for drop in drops],
            }
            for edge, base_rtt_ns, drops in zip(drawing.edges, layout.base_rtt_ns, layout.drops, strict=True)
        ],
        **_media(scenario, numbers),
        "flows": [
            {
                "name": flow.name,
                "from": numbers[sender],
                "to": numbers[receiver],
                "start_ns": flow.start.ns,
                **_start_jitter(flow, jitter),
                "stop_ns": flow.stop.ns if flow.stop is not None else None,
                "class": flow.class_,
                **({} if flow.ip == 4 else {"ip": flow.ip}),
                "application": _application(flow, rate),
                "transport": _transport(flow),
            }
            for flow, (sender, receiver), rate, jitter in zip(
                scenario.single_flows, drawing.ends, layout.rates, default_jitters(scenario), strict=True
            )
        ],
        "trace": {
            "series": list(scenario.trace.tables),
            "only": scenario.trace.only,
            "interval_ns": scenario.trace.interval.ns,
            "packets": scenario.trace.packets,
        },
        **_captures(scenario),
    }


def _start_jitter(flow: Flow, default_ns: int | None) -> dict[str, Any]:
    """Return the plan's entry for a start jitter that isn't the scenario's; empty without one."""
    own_ns = default_ns if flow.start_jitter is None else flow.start_jitter.ns
    return {} if own_ns is None else {"start_jitter_ns": own_ns}


def _media(scenario: Scenario, numbers: dict[str, int]) -> dict[str, Any]:
    """Return the plan's entry for Wi-Fi media; empty without one."""
    media = [
        {
            "down": medium.down,
            "up": medium.up,
            "nodes": [numbers[station] for station in medium.stations],
            "wifi": medium.wifi.plan(medium.stations),
        }
        for medium in scenario.layout.media
    ]
    return {"media": media} if media else {}


def _captures(scenario: Scenario) -> dict[str, Any]:
    """Return the plan's entry for captures; empty without any."""
    points = [{"name": p.name, "nodes": p.nodes, "links": p.links} for p in scenario.layout.points]
    if not scenario.capture.keeps:
        return {}
    qlog = {} if scenario.capture.qlog is None else {"qlog": scenario.capture.qlog}
    return {"capture": {"points": points, "snaplen_bytes": scenario.capture.snaplen.bytes, **qlog}}


def _named(named: Named) -> dict[str, Any]:
    return {"name": named.name, "params": dict(named.params)}


def _owned(named: Owned) -> dict[str, Any]:
    """The same for a name that may be own code: its content makes another plan."""
    content = {} if named.own is None else {"content": named.own.content}
    return {**_named(named), **content}


def _application(flow: Flow, rate: float | None) -> dict[str, Any]:
    app = flow.application
    if isinstance(app, Workload):
        plan = app.plan()
        if rate is not None:
            plan["arrivals"]["per_s"] = rate
        return {**plan, "arrivals_of": flow.group if app.arrivals.together and flow.group else flow.name}
    if isinstance(app, Ping):
        return app.plan(flow.ip)
    return app.plan(flow.transport) if isinstance(app, Web) else app.plan()


def _transport(flow: Flow) -> dict[str, Any]:
    stack = flow.endpoint_stack
    if flow.variant is None or stack is None:
        return {"kind": "udp"}
    variant = _owned(flow.variant)
    tls = {} if flow.tls is None else {"tls": _named(flow.tls)}
    return {"kind": flow.transport, "variant": variant, "stack": _named(stack), **tls}


def _drop(drop: Drop) -> dict[str, Any]:
    rule = drop.rule.rule
    span = rule.from_, rule.to
    return {
        "flow": drop.flow,
        "data_only": rule.count == "data",
        "packets": sorted(rule.packets or []),
        "spans_ns": [[span[0].ns, span[1].ns]] if span[0] is not None and span[1] is not None else [],
    }
