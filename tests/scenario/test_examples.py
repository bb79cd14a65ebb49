"""Every scenario file of ``examples`` runs, and there is one for each kind of generated or measured traffic."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.scenario.flow.application import Page
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.flow.workload import Workload

EXAMPLES = {file.stem: file for file in sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.toml"))}
SHORT = 8.0
"""Longest simulated time, s, of those that can be shortened."""
WHOLE = {"video"}
"""Those in which something happens later."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_cell_of_every_example_runs(name: str) -> None:
    first = Scenario.load(EXAMPLES[name]).cells[0].scenario
    changes: dict[str, object] = {"repetitions": 1}
    if first.preset is None and first.duration.seconds > SHORT and name not in WHOLE:
        changes["duration"] = f"{SHORT:g} s"
        if first.measure_from.seconds:
            changes["measure_from"] = "0 s"
    short = first.with_changes(changes)
    begun = [row for row in dumbbell.run(short).runs[0].flows if row["start_s"] < short.duration.seconds - 1]
    assert begun
    for row in begun:
        assert row["delivered_bytes"] > 0, row["name"]
    for place in EXAMPLES[name].read_text(encoding="utf-8").splitlines():
        if place.startswith("#     dumbbell run"):
            assert f"examples/{name}.toml" in place


def workload(wanted: Callable[[Workload], bool]) -> Callable[[Scenario], bool]:
    return lambda scenario: any(isinstance(f.application, Workload) and wanted(f.application) for f in scenario.flows)


def sized(name: str) -> Callable[[Scenario], bool]:
    return workload(lambda w: w.sizes is not None and w.sizes.plan()["kind"] == name)


def flow(wanted: Callable[[Flow], bool]) -> Callable[[Scenario], bool]:
    return lambda scenario: any(wanted(f) for f in scenario.flows)


def preset(name: str) -> Callable[[Scenario], bool]:
    return lambda scenario: scenario.preset is not None and scenario.preset.name == name


@cache
def first_cells() -> list[Scenario]:
    return [Scenario.load(file).cells[0].scenario for file in EXAMPLES.values()]


KINDS: dict[str, Callable[[Scenario], bool]] = {
    "copies that differ in start, delay and variant": flow(
        lambda f: bool(f.spread and f.spread.start and f.spread.delay and f.spread.variants)
    ),
    "Poisson arrivals": workload(lambda w: w.arrivals.rate is not None and w.arrivals.process == "poisson"),
    "arrivals of a trace": workload(lambda w: w.arrivals.file is not None),
    "load": workload(lambda w: w.arrivals.load is not None),
    "fixed sizes": sized("fixed"),
    "Pareto sizes": sized("pareto"),
    "lognormal sizes": sized("lognormal"),
    "empirical sizes": sized("empirical"),
    "reused connections": workload(lambda w: w.connections == "reuse"),
    "incast": workload(lambda w: w.arrivals.together),
    "a page over six connections": flow(lambda f: isinstance(f.application, Page) and f.application.http == "h1"),
    "voice": flow(lambda f: f.application.kind == "voice"),
    "transfers over QUIC": flow(lambda f: f.transport == "quic" and isinstance(f.application, Workload)),
    **{name: preset(name) for name in ("rrul", "tcp_nup", "rtt_fair", "voip", "responsiveness")},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_traffic_has_an_example(kind: str) -> None:
    assert any(KINDS[kind](scenario) for scenario in first_cells())
