"""The two directions of a link, with everything that is inherited filled in."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.scenario.link import Direction, DropRule, LinkOverride
from dumbbell.scenario.named import Queue
from dumbbell.scenario.units import Duration, Overhead, Percentage, Rate

__all__ = ["Rule", "Settings", "both"]


@dataclass(frozen=True)
class Rule:
    """A drop rule and where it stands in the scenario."""

    rule: DropRule
    place: str


@dataclass(frozen=True)
class Settings:
    """One direction of a link. Rate and delay are None where no section gives them."""

    rate: Rate | None
    delay: Duration | None
    queue: Queue
    overhead: Overhead
    loss: Percentage
    jitter: Duration
    jitter_reorders: bool
    drops: tuple[Rule, ...]
    place: str


def both(sections: list[tuple[LinkOverride, str]]) -> tuple[Settings, Settings]:
    """Merge link sections (the first that gives a value wins), each with its place, into forward and reverse.

    The reverse direction takes what ``reverse`` gives; rate, delay, queue and overhead otherwise follow the same
    section's forward direction; loss, jitter and drops otherwise are none.
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


def _settings(shared: list[tuple[Direction, str]], own: list[tuple[Direction, str]], place: str) -> Settings:
    """Take rate, delay, queue, overhead from ``shared``; loss, jitter and drops from ``own``."""
    rules: tuple[Rule, ...] = ()
    for section, where in own:
        if section.drops is not None:
            rules = tuple(Rule(r, f"{where}.drops.{n}") for n, r in enumerate(section.drops))
            break
    return Settings(
        rate=next((s.rate for s, _ in shared if s.rate is not None), None),
        delay=next((s.delay for s, _ in shared if s.delay is not None), None),
        queue=next((s.queue for s, _ in shared if s.queue is not None), Queue(name="droptail")),
        overhead=next((s.overhead for s, _ in shared if s.overhead is not None), Overhead("0 bytes")),
        loss=next((s.loss for s, _ in own if s.loss is not None), Percentage("0 %")),
        jitter=next((s.jitter for s, _ in own if s.jitter is not None), Duration("0 s")),
        jitter_reorders=next((s.jitter_reorders for s, _ in own if s.jitter_reorders is not None), False),
        drops=rules,
        place=place,
    )
