"""The two directions of a link, with everything that is inherited filled in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from dumbbell.scenario.impairments import Corruption, Duplication, Jitter, Loss, Policer, Reordering
from dumbbell.scenario.link import Direction, DropRule, LinkOverride
from dumbbell.scenario.registry_choice import Queue
from dumbbell.scenario.schedules import LinkDelay, LinkRate, Outage, first_rate_bps
from dumbbell.scenario.units import Overhead
from dumbbell.scenario.wifi import Wifi

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
    wifi: Wifi | None

    @property
    def rate_bps(self) -> int:
        """The rate to which limits in time or bdp refer: the first, a trace's mean, or the fastest of Wi-Fi."""
        if self.wifi is not None:
            return self.wifi.rate_bps
        return first_rate_bps(self.rate) if self.rate is not None else 0


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


def _given(sections: list[tuple[Direction, str]]) -> dict[str, Any]:
    """Return each key with the value of the first section that gives it."""
    found: dict[str, Any] = {}
    for section, _ in reversed(sections):
        found |= {key: value for key, value in section.__dict__.items() if value is not None}
    return found


@cache
def _defaults() -> tuple[Queue, Overhead]:
    return Queue(name="droptail"), Overhead("0 bytes")


def _settings(shared: list[tuple[Direction, str]], own: list[tuple[Direction, str]], place: str) -> Settings:
    """Merge: rate, delay, outages, queue and overhead from ``shared``, everything else from ``own``."""
    rules: tuple[Rule, ...] = ()
    for section, where in own:
        if section.drops is not None:
            rules = tuple(Rule(r, f"{where}.drops.{n}") for n, r in enumerate(section.drops))
            break
    common = _given(shared)
    single = common if own is shared else _given(own)
    return Settings(
        rate=common.get("rate"),
        delay=common.get("delay"),
        outages=tuple(common.get("outages", ())),
        queue=common.get("queue") or _defaults()[0],
        overhead=common.get("overhead") or _defaults()[1],
        policer=single.get("policer"),
        loss=single.get("loss"),
        corruption=single.get("corruption"),
        jitter=single.get("jitter"),
        jitter_reorders=bool(single.get("jitter_reorders")),
        reordering=single.get("reordering"),
        duplication=single.get("duplication"),
        drops=rules,
        place=place,
        wifi=common.get("wifi"),
    )
