"""Settings that are given and change nothing: each is an error, because its author expects an effect.

A sweep may combine a setting with values that don't use it, such as a class with a queue without classes beside one
with classes. Such a setting is refused only if it has no effect in any cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.exceptions import Problem
from dumbbell.scenario.flow.application import Page, Transfer
from dumbbell.scenario.flow.workload import Workload
from dumbbell.scenario.network.late_events import events
from dumbbell.scenario.paths import join

if TYPE_CHECKING:
    from dumbbell.scenario.flow.model import Flow
    from dumbbell.scenario.model import Scenario

__all__ = ["Effects"]


@dataclass(frozen=True)
class _Setting:
    """A setting whose effect depends on others; ``message`` is None where it has one."""

    place: str
    message: str | None


class Effects:
    """The settings of a sweep's cells, with the reason why one has no effect in any cell that gives it."""

    def __init__(self) -> None:
        self._messages: dict[str, str | None] = {}

    def add(self, cell: Scenario) -> None:
        """Add the settings of a cell."""
        for setting in _settings(cell):
            self._note(setting.place, setting.message)

    def merge(self, later: Effects) -> None:
        """Add the settings of later cells."""
        for place, message in later._messages.items():
            self._note(place, message)

    def _note(self, place: str, message: str | None) -> None:
        known = self._messages.setdefault(place, message)
        self._messages[place] = None if known is None else message

    def problems(self) -> list[Problem]:
        """Return the settings that have no effect in any cell that gives them."""
        return [Problem(place, message) for place, message in self._messages.items() if message is not None]


def _settings(scenario: Scenario) -> Iterator[_Setting]:
    yield from _trace(scenario)
    if "snaplen" in scenario.capture.model_fields_set:
        why = None if scenario.capture.at else _given(scenario.capture.snaplen, "no packet is captured: set capture.at")
        yield _Setting("capture.snaplen", why)
    if scenario.capture.qlog is not None:
        quic = [flow.application for flow in scenario.single_flows if flow.transport == "quic"]
        # Videos, pages of objects and workloads write none.
        logged = any(a.size is not None if isinstance(a, Page) else a.kind not in {"video", "workload"} for a in quic)
        why = "only videos, pages of objects and workloads are quic, which have none" if quic else "no flow is quic"
        yield _Setting("capture.qlog", None if logged else _given(scenario.capture.qlog, why))
    for number, flow in enumerate(scenario.single_flows):
        yield from _application(flow)
        if flow.class_ > 0:
            yield _Setting(f"{_place(flow)}.class", _class(scenario, number))
    for place, time, happens in events(scenario):
        why = None if happens else _given(time, f"the run ends before it takes effect, at '{scenario.duration}'")
        yield _Setting(place, why)
    access = getattr(scenario.network, "access", None)
    if access is not None:
        why = (
            None
            if scenario.graph.pairs
            else 'no access link exists: every flow has at = "routers" or names routers as its ends'
        )
        yield _Setting("network.access", why)


def _given(value: object, why: str) -> str:
    shown = value if isinstance(value, int) else f"'{value}'"
    return f"{shown} given, but {why}"


def _place(flow: Flow) -> str:
    return join(["flows", flow.name])


def _trace(scenario: Scenario) -> Iterator[_Setting]:
    trace = scenario.trace
    tables = trace.tables
    if "interval" in trace.model_fields_set and trace.interval.ns > 0:
        rows = {"flows", "queues"} & set(tables)
        why = 'no series of flows or queues is recorded: set trace.series = true, or to a list with "flows" or "queues"'
        yield _Setting("trace.interval", None if rows else _given(trace.interval, why))
    if trace.only is None:
        return
    workloads = {flow.name for flow in scenario.single_flows if isinstance(flow.application, Workload)}
    recorded = {flow.name: "flows" in tables and flow.has_series for flow in scenario.single_flows}
    links = bool({"queues", "departures", "drops"} & set(tables))
    recorded |= dict.fromkeys((edge.name for edge in scenario.layout.drawing.edges), links)
    for number, name in enumerate(trace.only):
        if not tables:
            why = "no series is recorded: set trace.series = true"
        elif name not in {flow.name for flow in scenario.single_flows}:
            why = 'no series of links is recorded: add "queues", "departures" or "drops" to trace.series'
        elif "flows" in tables:
            why = f"a {'workload' if name in workloads else 'udp flow'} has no series"
        else:
            why = 'no series of flows is recorded: add "flows" to trace.series'
        yield _Setting(f"trace.only.{number}", None if recorded.get(name) else _given(name, why))
    if not trace.only:
        yield _Setting(
            "trace.only", None if not tables else "[] given: nothing would be recorded; set trace.series = false"
        )


def _application(flow: Flow) -> Iterator[_Setting]:
    app = flow.application
    if isinstance(app, Transfer | Page) and "every" in app.model_fields_set and app.every.ns > 0:
        why = _given(app.every, "the flow makes one transfer: set application.repeat (0: until the flow stops)")
        yield _Setting(f"{_place(flow)}.application.every", why if app.repeat == 1 else None)


def _class(scenario: Scenario, number: int) -> str | None:
    flow = scenario.single_flows[number]
    layout = scenario.layout
    if any(layout.has_classes[edge] for edge in layout.crossed[number]):
        return None
    queues = sorted({layout.drawing.edges[edge].settings.queue.name for edge in layout.crossed[number]})
    why = f'no queue on the flow\'s path has classes ({", ".join(queues)}): prio has them, and drr with by = "class"'
    return _given(flow.class_, why)
