"""Bulk flows that start at the same instant have a start jitter by default, the same draw on every back end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from one_link import network, one_link

import dumbbell
from dumbbell import Scenario
from dumbbell.backends import Backend, Job, Simulator
from dumbbell.cli import app
from dumbbell.kernel.uml.backend import Uml
from dumbbell.plan.build import build
from hosts import once

BULK = [{"name": "a", "variant": "cubic"}, {"name": "b", "variant": "reno"}]
SOURCE = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "1000 bytes"}
MOST_MS = 10.0


def scenario(flows: list[dict[str, Any]], **changes: Any) -> Scenario:
    queue = {"discipline": "droptail", "limit": "30 packets"}
    over = network(delay="5 ms", access="100 Mbit/s", queue=queue)
    return one_link(*flows, **{"duration": "2 s", "network": over, **changes})


def jitters(given: Scenario) -> dict[str, float | None]:
    """Return the start jitter of each flow of a plan, ms; None: the plan's own."""
    plan = build(given)
    of = {flow["name"]: flow.get("start_jitter_ns") for flow in plan["flows"]}
    return {name: None if ns is None else ns / 1e6 for name, ns in of.items()}


def test_flows_that_start_together_are_apart() -> None:
    assert jitters(scenario(BULK)) == {"a": MOST_MS, "b": MOST_MS}
    # At most a hundredth of the shortest: of 0.5 s.
    assert jitters(scenario([{**BULK[0], "stop": "500 ms"}, BULK[1]])) == {"a": 5.0, "b": 5.0}
    later = [{**BULK[0], "start": "1.9 s"}, {**BULK[1], "start": "1.9 s"}, {**BULK[0], "name": "c"}]
    assert jitters(scenario(later)) == {"a": 1.0, "b": 1.0, "c": None}
    assert jitters(scenario([{**BULK[0], "count": 2}])) == {"a-1": MOST_MS, "a-2": MOST_MS}


@pytest.mark.parametrize(
    ("flows", "changes"),
    [
        (BULK, {"start_jitter": "0 s"}),
        (BULK, {"start_jitter": "1 ms"}),
        (BULK[:1], {}),
        ([BULK[0], {**BULK[1], "start": "1 ms"}], {}),
        ([BULK[0], {"name": "p", "application": {"kind": "ping", "interval": "10 ms"}}], {}),
        ([BULK[0], {"name": "u", "transport": "udp", "application": SOURCE}], {}),
        ([{**flow, "application": {"kind": "transfer", "size": "10 kB"}} for flow in BULK], {}),
        ([{**BULK[0], "count": 2, "spread": {"every": "1 ms"}}], {}),
    ],
)
def test_other_flows_start_exactly(flows: list[dict[str, Any]], changes: dict[str, Any]) -> None:
    given = scenario(flows, **changes)
    assert set(jitters(given).values()) == {None}
    assert build(given)["start_jitter_ns"] == 1e6 * (changes.get("start_jitter") == "1 ms")


def test_a_spread_of_its_own_replaces_it() -> None:
    copies = {**BULK[0], "count": 2, "spread": {"start": "3 ms"}}
    assert jitters(scenario([copies, BULK[1]])) == {"a-1": 3.0, "a-2": 3.0, "b": None}


def starts(given: Scenario, backend: Backend) -> list[float]:
    return [flow["start_s"] for run in dumbbell.run(given, backend=backend).runs for flow in run.flows]


def test_the_seed_decides_and_it_can_be_switched_off() -> None:
    drawn = starts(scenario(BULK, repetitions=3), Simulator())
    assert len(set(drawn)) == 6
    assert all(0 <= at <= MOST_MS / 1000 for at in drawn)
    assert starts(scenario(BULK, start_jitter="0 s"), Simulator()) == [0.0, 0.0]


@pytest.mark.usefixtures("require_uml")
def test_the_draws_are_the_same_in_virtual_time() -> None:
    given = scenario(BULK, repetitions=2)
    assert starts(given, Uml()) == starts(given, Simulator())


def test_a_kernels_steps_state_it() -> None:
    def steps(**changes: Any) -> str:
        return "\n".join(Uml().steps(Job(scenario(BULK, **changes).cells[0], 0, 1)))

    assert steps().count("starts at 0 s and up to 10 ms more") == 2
    assert "more" not in steps(start_jitter="0 s")


@pytest.mark.usefixtures("require_link_emulation")
def test_the_draws_are_the_same_on_the_host() -> None:
    given = scenario(BULK)
    (made,) = once(given, calibration="off").runs
    assert [flow["start_s"] for flow in made.flows] == starts(given, Simulator())


def test_the_command_line_states_it(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(scenario(BULK).to_toml())
    text = "flows 'a' and 'b' start together: each starts up to 10 ms later, drawn from the seed"
    assert text in CliRunner().invoke(app, ["run", str(file)]).stderr
    exact = CliRunner().invoke(app, ["run", str(file), "--set", "start_jitter=0 s"]).stderr
    assert "start together" not in exact
    assert "flows 'a' and 'b' start at the same instant" in exact  # the warning about phase effects
