"""The two directions of a link, with everything that is inherited filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dumbbell.scenario.impairments import Corruption, Duplication, Jitter, Loss, Policer, Reordering
from dumbbell.scenario.link import Direction, DropRule, LinkOverride
from dumbbell.scenario.registry_choice import Queue
from dumbbell.scenario.schedules import LinkDelay, LinkRate, Outage
from dumbbell.scenario.units import Overhead

__all__ = ["Rule", "Settings", "both"]


@dataclass(frozen=True)
class Rule:
    """A drop rule and its place in the scenario."""

    rule: DropRule
    place: str


@dataclass(frozen=True)
class Settings:
    """One direction of a link. A value that no section gives is None; every network gives rate and delay."""

    rate: LinkRate | None
    delay: LinkDelay | None
    outages: tuple[Outage, ...]
    queue: Queue
    overhead: Overhead
    policer: Policer | None
    loss: Loss | None
    corruption: Corruption | None
    jitter: Jitter | None
    jitter_reorders: bool
    reordering: Reordering | None
    duplication: Duplication | None
    drops: tuple[Rule, ...]
    place: str


def both(sections: list[tuple[LinkOverride, str]]) -> tuple[Settings, Settings]:
    """Merge link sections (the first that gives a value wins), each with its place, into forward and reverse.

    The reverse direction takes what ``reverse`` gives; rate, delay, outages, queue and overhead otherwise follow the
    same section's forward direction; everything else otherwise is none.
    """
    forward: list[tuple[Direction, str]] = list(sections)
    backward = [(s.reverse, f"{place}.reverse") for s, place in sections if s.reverse is not None]
    shared: list[tuple[Direction, str]] = []
    for section, place in sections:
        if section.reverse is not None:
            shared.append((section.reverse, f"{place}.reverse"))
        shared.append((section, place))
    place = sections[-1][1]
    return _settings(forward, forward, place), _settings(shared, backward, place)


def _first(sections: list[tuple[Direction, str]], key: str) -> Any:  # noqa: ANN401
    """Return the first value that a section gives."""
    return next((v for v in (getattr(s, key) for s, _ in sections) if v is not None), None)


def _settings(shared: list[tuple[Direction, str]], own: list[tuple[Direction, str]], place: str) -> Settings:
    """Merge: rate, delay, outages, queue and overhead from ``shared``, everything else from ``own``."""
    rules: tuple[Rule, ...] = ()
    for section, where in own:
        if section.drops is not None:
            rules = tuple(Rule(r, f"{where}.drops.{n}") for n, r in enumerate(section.drops))
            break
    return Settings(
        rate=_first(shared, "rate"),
        delay=_first(shared, "delay"),
        outages=tuple(_first(shared, "outages") or ()),
        queue=_first(shared, "queue") or Queue(name="droptail"),
        overhead=_first(shared, "overhead") or Overhead("0 bytes"),
        policer=_first(own, "policer"),
        loss=_first(own, "loss"),
        corruption=_first(own, "corruption"),
        jitter=_first(own, "jitter"),
        jitter_reorders=bool(_first(own, "jitter_reorders")),
        reordering=_first(own, "reordering"),
        duplication=_first(own, "duplication"),
        drops=rules,
        place=place,
    )
