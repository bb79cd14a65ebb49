"""A setting that would change nothing is an error with its place; in a sweep, only if no cell uses it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE, FULL
from one_link import refused

import dumbbell
from dumbbell import Scenario, ScenarioError
from dumbbell.plan.build import build
from dumbbell.scenario.sweep.until import TEXTS

Change = Callable[..., Scenario]
TRANSFER = {"kind": "transfer", "size": "10 kB"}
PRIO = {"discipline": "prio"}
STEPS = {
    "steps": [
        {"at": at, "rate": rate} for at, rate in (("0 s", "2 Mbit/s"), ("500 ms", "1 Mbit/s"), ("1 s", "2 Mbit/s"))
    ]
}
DELAYS: list[dict[str, Any]] = [{"at": "0 s", "delay": "5 ms"}, {"at": "2 s", "delay": "9 ms"}]

IGNORED: list[tuple[dict[str, Any], str]] = [
    ({"flows.tcp.class": 1}, "flows.tcp.class: 1 given, but no queue on the flow's path has classes (droptail)"),
    ({"capture.snaplen": "96 bytes"}, "capture.snaplen: '96 bytes' given, but no packet is captured"),
    ({"until": {"half_width": "5 %", "metric": "variant"}}, "until.metric: 'variant' given: a column of texts"),
    ({"trace.interval": "10 ms"}, "trace.interval: '10 ms' given, but no series"),
    (
        {"trace.series": ["drops"], "trace.interval": "10 ms"},
        "trace.interval: '10 ms' given, but no series of flows or queues is recorded",
    ),
    ({"trace.only": ["tcp"]}, "trace.only.0: 'tcp' given, but no series is recorded"),
    (
        {"trace.series": ["queues"], "trace.only": ["tcp"]},
        "trace.only.0: 'tcp' given, but no series of flows is recorded",
    ),
    (
        {"trace.series": ["flows"], "trace.only": ["tcp", "r1->r2"]},
        "trace.only.1: 'r1->r2' given, but no series of links is recorded",
    ),
    ({"trace.series": True, "trace.only": ["cbr"]}, "trace.only.0: 'cbr' given, but a udp flow has no"),
    (
        {"network.bottleneck.outages": [{"at": "1 s", "for": "1 s"}, {"at": "2 s", "for": "1 s"}]},
        "network.bottleneck.outages.1.at: '2 s' given, but the run ends before it takes effect, at '2 s'",
    ),
    (
        {"network.bottleneck.reverse": {"outages": [{"at": "3 s", "for": "1 s", "every": "2 s"}]}},
        "network.bottleneck.reverse.outages.0.at: '3 s' given, but the run ends",
    ),
    (
        {"flows.tcp.access": {"drops": [{"from": "5 s", "to": "6 s"}]}},
        "flows.tcp.access.drops.0.from: '5 s' given, but the run ends",
    ),
    (
        {"network.bottleneck.rate": {**STEPS, "start": "1 s"}},
        "network.bottleneck.rate.steps.2.at: '1 s' given, but the run ends",
    ),
    (
        {"network.access.delay": {"steps": [*DELAYS, {"at": "3 s", "delay": "1 ms", "ramp": True}]}},
        "network.access.delay.steps.2.at: '3 s' given, but the run ends",
    ),
    ({"trace.series": True, "trace.only": []}, "trace.only: [] given: nothing would be recorded"),
    (
        {"flows.tcp.application": {**TRANSFER, "every": "1 s"}},
        "flows.tcp.application.every: '1 s' given, but the flow makes one transfer",
    ),
    ({"flows.tcp.at": "routers"}, "network.access: no access link exists"),
]

USED: list[dict[str, Any]] = [
    {"flows.tcp.class": 1, "network.bottleneck.queue": PRIO},
    {"flows.tcp.class": 1, "sweep": {"network.bottleneck.queue": ["droptail", PRIO]}},
    {"capture": {"at": ["sender"], "snaplen": "96 bytes"}},
    {"until": {"half_width": "5 %", "metric": "throughput_bps"}},
    {"trace": {"series": ["queues"], "interval": "10 ms"}},
    {"trace": {"series": ["flows", "drops"], "only": ["tcp", "r1->r2"]}},
    {"network.bottleneck.outages": [{"at": "1999 ms", "for": "1 s", "every": "5 s"}]},
    {"network.bottleneck.outages": [{"at": "2 s", "for": "1 s"}], "sweep": {"duration": ["2 s", "4 s"]}},
    {"network.bottleneck.drops": [{"from": "2 s", "to": "4 s", "packets": [1]}], "sweep": {"duration": ["2 s", "4 s"]}},
    {"network.bottleneck.drops": [{"packets": [1_000_000]}]},
    {"network.bottleneck.rate": {**STEPS, "start": "999 ms"}},
    {"network.access.delay": {"steps": [DELAYS[0], {"at": "3 s", "delay": "1 ms", "ramp": True}]}},
    {"flows.tcp.application": {**TRANSFER, "repeat": 2, "every": "1 s"}},
    {"flows.tcp.application": {**TRANSFER, "every": "1 s"}, "sweep": {"flows.tcp.application.repeat": [1, 2]}},
]


@pytest.mark.parametrize(("changes", "message"), IGNORED, ids=[message for _, message in IGNORED])
def test_a_setting_without_effect_is_an_error(changed: Change, changes: dict[str, Any], message: str) -> None:
    with refused(message):
        changed(changes)


@pytest.mark.parametrize("changes", USED, ids=str)
def test_a_setting_with_an_effect_is_accepted(changed: Change, changes: dict[str, Any]) -> None:
    assert changed(changes).cells


def test_a_setting_that_no_cell_uses_is_an_error(changed: Change) -> None:
    with pytest.raises(ScenarioError, match=r"flows.tcp.class: 1 given.*\(droptail\)"):
        changed({"flows.tcp.class": 1, "sweep": {"network.bottleneck.queue": ["droptail", {"limit": "5 packets"}]}})
    with pytest.raises(ScenarioError, match=r"flows.tcp.class: 2 given"):
        changed({"sweep": {"flows.tcp.class": [0, 2]}})
    outage = [{"at": "4 s", "for": "1 s"}]
    with pytest.raises(ScenarioError, match=r"network.bottleneck.outages.0.at: '4 s' given, but the run ends"):
        changed({"network.bottleneck.outages": outage, "sweep": {"duration": ["2 s", "3 s"]}})


def test_the_columns_of_texts_are_those_of_the_results() -> None:
    flow = dumbbell.run(Scenario.from_toml(BASE, {"repetitions": 1, "duration": "500 ms"})).runs[0].flows[0]
    assert {key for key, value in flow.items() if isinstance(value, str)} == set(TEXTS)


def test_a_metric_that_no_flow_has_stops_the_repetitions(changed: Change) -> None:
    until = {"half_width": "5 %", "metric": "owd_mean_ms", "flow": "tcp"}
    with pytest.raises(ScenarioError, match=r"until.metric: 'owd_mean_ms' given: flow 'tcp' doesn't have a value"):
        dumbbell.run(changed({"until": until, "duration": "500 ms"}))


def test_the_command_line_names_the_setting(base_file: Path, cli: Callable[..., Any]) -> None:
    done = cli("run", str(base_file), "--set", "flows.tcp.class=1")
    assert (done.returncode, "flows.tcp.class: 1 given, but no queue" in done.stderr) == (2, True)


# ------------------------------------------------------------ every key of a scenario

BESIDE_THE_PLAN = {"name", "description", "repetitions", "seed", "until", "sweep"}
"""Keys that choose runs, or describe them: they are no part of the plan of one run."""


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all keys that hold a single value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    else:
        yield path


def without(document: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    """A copy of a document without one key."""
    changed = copy.deepcopy(document)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return changed


DOCUMENT = without(
    Scenario.from_toml(FULL).with_changes({"capture": {"at": ["sender"], "snaplen": "96 bytes"}}).to_dict(), ("sweep",)
)
"""A scenario with most keys, without its sweep, which sets some of them again."""
KEYS = [path for path in leaves(DOCUMENT) if path[0] not in BESIDE_THE_PLAN]


@pytest.mark.parametrize("path", KEYS, ids=[".".join(map(str, path)) for path in KEYS])
def test_every_key_changes_the_plan(path: tuple[str | int, ...]) -> None:
    """Without the key, the plan is another one, or the scenario is refused."""
    plans = [build(cell.scenario, 1) for cell in Scenario.from_dict(DOCUMENT).cells]
    try:
        shorter = Scenario.from_dict(without(DOCUMENT, path))
    except ScenarioError:
        return
    assert [build(cell.scenario, 1) for cell in shorter.cells] != plans
