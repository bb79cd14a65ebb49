"""The two directions of a link, with everything that is inherited filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from dumbbell.scenario.network.impairments import Corruption, Duplication, Jitter, Loss, Policer, Reordering
from dumbbell.scenario.network.link import Direction, DropRule, LinkOverride
from dumbbell.scenario.network.schedules import LinkDelay, LinkRate, Outage, first_delay_ns, first_rate_bps
from dumbbell.scenario.network.wifi import Wifi
from dumbbell.scenario.registry_choice import Queue
from dumbbell.scenario.units import Overhead

__all__ = ["Rule", "Settings", "both"]


@dataclass(frozen=True)
class Rule:
    """A drop rule and its place in the scenario."""

    rule: DropRule
    place: str


class Settings(NamedTuple):
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

    rate_bps: int
    """The rate to which limits in time or bdp refer: the first, a trace's mean, or the fastest of Wi-Fi."""
    delay_ns: int
    """The propagation delay at the start."""


def both(sections: list[tuple[LinkOverride, str]]) -> tuple[Settings, Settings]:
    """Merge link sections (the first that gives a value wins), each with its place, into forward and reverse.

    The reverse direction takes what ``reverse`` gives; rate, delay, outages, queue and overhead otherwise follow the
    same section's forward direction; everything else otherwise is none.
    """
    backward: list[tuple[Direction, str]] = []
    shared: list[tuple[Direction, str]] = []
    for section, place in sections:
        if section.reverse is not None:
            backward.append((section.reverse, f"{place}.reverse"))
            shared.append(backward[-1])
        shared.append((section, place))
    place = sections[-1][1]
    forward = _given(sections)
    common = forward if not backward else _given(shared)
    return _settings(forward, forward, sections, place), _settings(common, _given(backward), backward, place)


def _given(sections: Sequence[tuple[Direction, str]]) -> dict[str, Any]:
    """Return each key with the value of the first section that gives it."""
    found: dict[str, Any] = {}
    for section, _ in reversed(sections):
        found |= {key: value for key, value in section.__dict__.items() if value is not None}
    return found


@cache
def _defaults() -> tuple[Queue, Overhead]:
    return Queue(name="droptail"), Overhead("0 bytes")


def _settings(
    common: Mapping[str, Any], single: Mapping[str, Any], own: Sequence[tuple[Direction, str]], place: str
) -> Settings:
    """Merge: rate, delay, outages, queue and overhead from ``common``, everything else from ``single``.

    The sections ``own`` give ``single``.
    """
    rules: tuple[Rule, ...] = ()
    if "drops" in single:
        where = next(where for section, where in own if section.drops is not None)
        rules = tuple(Rule(r, f"{where}.drops.{n}") for n, r in enumerate(single["drops"]))
    rate, delay, wifi = common.get("rate"), common.get("delay"), common.get("wifi")
    wired_bps = first_rate_bps(rate) if rate is not None else 0
    return Settings(
        rate=rate,
        delay=delay,
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
        wifi=wifi,
        rate_bps=wired_bps if wifi is None else wifi.rate_bps,
        delay_ns=first_delay_ns(delay) if delay is not None else 0,
    )
