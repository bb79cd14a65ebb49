"""Events of links that a scenario sets after its end: they never happen.

An event is a step of a rate or delay, an outage, or a span of scripted drops. Each depends on the duration alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

from dumbbell.scenario.base import Part
from dumbbell.scenario.network.link import Direction
from dumbbell.scenario.network.schedules import DelayStep, DelaySteps, RateStep, RateSteps
from dumbbell.scenario.paths import join
from dumbbell.scenario.units import Duration

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["events"]


def events(scenario: Scenario) -> Iterator[tuple[str, Duration, bool]]:
    """Yield the events of all links: the place of the event's time, that time, and True if it is before the end."""
    end = scenario.duration.ns
    for path, link in _sections(scenario):
        for number, outage in enumerate(link.outages or ()):
            yield join([*path, "outages", str(number), "at"]), outage.at, outage.at.ns < end
        for number, rule in enumerate(link.drops or ()):
            if rule.from_ is not None:
                yield join([*path, "drops", str(number), "from"]), rule.from_, rule.from_.ns < end
        for name in ("rate", "delay"):
            yield from _steps(getattr(link, name), [*path, name], end)


def _sections(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], Direction]]:
    """Yield the sections of links that have events, with their paths."""
    for path, link in _directions(scenario.network):
        yield ("network", *path), link
    for flow in scenario.flows:
        if flow.access is not None:
            for path, link in _directions(flow):
                yield ("flows", flow.name, *path), link


def _directions(part: Part) -> Iterator[tuple[tuple[str, ...], Direction]]:
    """Find the sections of links with events in a part of a scenario, with their paths within it."""
    if isinstance(part, Direction) and _has_events(part):
        yield (), part
    values = part.__dict__
    for name, key in _ways(type(part)):
        value = values[name]
        if value is None:
            continue
        if isinstance(value, Part):
            for path, link in _directions(value):
                yield (key, *path), link
        elif type(value) is list:
            for number, inner in enumerate(value):
                if isinstance(inner, Part):
                    for path, link in _directions(inner):
                        yield (key, str(number), *path), link


def _has_events(link: Direction) -> bool:
    changes = isinstance(link.rate, RateSteps) or isinstance(link.delay, DelaySteps)
    return changes or bool(link.outages) or bool(link.drops)


@cache
def _ways(model: type[Part]) -> list[tuple[str, str]]:
    """Return the fields of a part that may hold sections of links, each with its key."""
    return [(name, f.alias or name) for name, f in model.model_fields.items() if _leads_to_links(f.annotation, model)]


def _leads_to_links(kind: Any, *within: type[Part]) -> bool:  # noqa: ANN401 - a type, or a form of `typing`
    """Return True if a value of this kind may be a section of a link, or hold one, at any depth."""
    if not (isinstance(kind, type) and issubclass(kind, Part)):
        return any(_leads_to_links(inner, *within) for inner in get_args(kind))
    if issubclass(kind, Direction):
        return True
    fields = kind.model_fields.values() if kind not in within else ()
    return any(_leads_to_links(field.annotation, *within, kind) for field in fields)


def _steps(value: object, path: list[str], end: int) -> Iterator[tuple[str, Duration, bool]]:
    """Yield the steps of a rate or delay after the first. A ramp begins at the step before it."""
    if not isinstance(value, RateSteps | DelaySteps):
        return
    steps: Sequence[RateStep | DelayStep] = value.steps
    for number, (before, step) in enumerate(pairwise(steps), 1):
        begin = before.at.ns if step.ramp else step.at.ns
        yield join([*path, "steps", str(number), "at"]), step.at, value.start.ns + begin < end
