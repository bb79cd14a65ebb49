"""Problems between keys of a scenario whose values have to suit each other: times, names of flows, repetitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.exceptions import Problem
from dumbbell.registry import unknown
from dumbbell.scenario.base import LONGEST_NAME
from dumbbell.scenario.paths import join

if TYPE_CHECKING:
    from dumbbell.scenario.flow.model import Flow
    from dumbbell.scenario.model import Scenario

__all__ = ["TIMED", "timing_problems"]

TIMED = frozenset({"duration", "flows", "measure_from", "repetitions", "start_jitter", "until"})
"""The keys."""


def timing_problems(scenario: Scenario) -> list[Problem]:
    """Return the problems of times, names and repetitions."""
    found = []
    if scenario.measure_from.ns >= scenario.duration.ns:
        found.append(
            Problem("measure_from", f"'{scenario.measure_from}' given: must be before the end at '{scenario.duration}'")
        )
    if scenario.until is not None and scenario.until.at_most < scenario.repetitions:
        found.append(
            Problem("until.at_most", f"{scenario.until.at_most} given: repetitions are {scenario.repetitions} already")
        )
    singles = [flow.name for flow in scenario.single_flows]
    if scenario.until is not None and scenario.until.flow not in {None, *singles}:
        message = unknown("flow", str(scenario.until.flow), singles)
        found.append(Problem("until.flow", message))
    names: set[str] = set()
    for number, flow in enumerate(scenario.flows):
        if flow.name in names:
            found.append(Problem(f"flows.{number}.name", f"'{flow.name}' is taken by an earlier flow"))
        names.add(flow.name)
        found += _flow_problems(scenario, flow)
    return found or _copy_problems(scenario, names)


def _copy_problems(scenario: Scenario, names: set[str]) -> list[Problem]:
    """Return the first problem of a copy of a flow."""
    for single in scenario.single_flows:
        if single.group is None:
            continue
        place = join(["flows", single.group])
        if single.name in names:
            return [Problem(f"{place}.count", f"'{single.name}' is taken by another flow")]
        if len(single.name) > LONGEST_NAME:
            why = f"'{single.group}' given: names of copies have at most {LONGEST_NAME} characters"
            return [Problem(f"{place}.name", why)]
        end, jitter = single.stop or scenario.duration, single.start_jitter or scenario.start_jitter
        if single.start.ns + (jitter.ns if jitter is not None else 0) > end.ns or single.start.ns >= end.ns:
            return [Problem(f"{place}.spread", f"copy '{single.name}' may start after its end at '{end}'")]
    return []


def _flow_problems(scenario: Scenario, flow: Flow) -> list[Problem]:
    place = join(["flows", flow.name])
    if flow.start.ns >= scenario.duration.ns:
        return [Problem(f"{place}.start", f"'{flow.start}' given: must be before the end at '{scenario.duration}'")]
    if flow.stop is not None and flow.stop.ns > scenario.duration.ns:
        return [Problem(f"{place}.stop", f"'{flow.stop}' given: the run ends earlier, at '{scenario.duration}'")]
    end = flow.stop or scenario.duration
    jitter = flow.start_jitter or scenario.start_jitter
    if jitter is not None and flow.start.ns + jitter.ns > end.ns:
        late = f"'{flow.start}' given: with start_jitter '{jitter}' it may start after its end at '{end}'"
        return [Problem(f"{place}.start", late)]
    return []
