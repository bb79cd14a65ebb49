"""The stack of a flow that names none: the default of its variant, declared in the registry."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from one_link import network, one_link
from own_code import NEWRENO

import dumbbell
from dumbbell import Scenario, registry
from dumbbell.plan.build import build
from dumbbell.report.tables import read_table

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

ROOT = Path(__file__).parents[2]
ONE: dict[str, Any] = {
    "name": "one",
    "duration": "10 s",
    "network": network(delay="18 ms", access="100 Mbit/s", near="1 ms", queue={"limit": "1 bdp"}),
    "flows": [{"name": "a", "variant": "cubic"}],
}
OWN_RECOVERY = ("tahoe", "reno", "newreno", "sack")


def stacks(scenario: Scenario) -> list[dict[str, Any]]:
    """The stack of the first flow in each cell's plan."""
    return [build(cell.scenario)["flows"][0]["transport"]["stack"] for cell in scenario.cells]


@pytest.mark.parametrize("variant", registry.variants())
def test_a_variant_runs_on_linux_unless_its_name_is_a_loss_recovery(variant: str) -> None:
    scenario = Scenario.from_dict(ONE, {"flows.a.variant": variant})
    assert stacks(scenario) == [{"name": "rfc" if variant in OWN_RECOVERY else "linux", "params": {}}]
    assert registry.variant(variant).default_stack == stacks(scenario)[0]["name"]


def test_a_swept_variant_takes_its_own_default_with_the_given_parameters() -> None:
    sweep = {"flows.a.variant": ["reno", "cubic", "bbr"]}
    scenario = Scenario.from_dict({**ONE, "sweep": sweep}, {"flows.a.stack": {"initial_window": "4 packets"}})
    given = {"initial_window": "4 packets"}
    expected = [{"name": name, "params": given} for name in ("rfc", "linux", "linux")]
    assert stacks(scenario) == expected
    again = Scenario.from_toml(scenario.to_toml())
    assert stacks(again) == expected
    assert stacks(again.with_changes({"flows.a.stack": "ns2"})) == [{"name": "ns2", "params": {}}] * 3


@pytest.mark.usefixtures("allow_code")
def test_variants_outside_the_registry_run_on_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(NEWRENO)
    monkeypatch.chdir(tmp_path)
    assert stacks(Scenario.from_dict(ONE, {"flows.a.variant": {"python": "mine.py:Mine"}}))[0]["name"] == "linux"


def test_the_results_name_the_stack(cli: Cli, tmp_path: Path) -> None:
    flows = [
        {"name": "a", "variant": "cubic"},
        {"name": "b", "variant": "newreno", "stack": {"ack_every": 1}},
        {"name": "p", "application": {"kind": "ping", "count": 2}},
    ]
    scenario = Scenario(**{**ONE, "flows": flows})
    expected = ["linux", "rfc(ack_every=1)", None]
    assert dumbbell.run(scenario).flows["stack"].to_list() == expected
    (tmp_path / "one.toml").write_text(scenario.to_toml())
    done = cli("run", str(tmp_path / "one.toml"), "--json")
    assert [flow["stack"] for flow in json.loads(done.stdout)["runs"][0]["flows"]] == expected
    table = cli("run", str(tmp_path / "one.toml")).stdout
    assert " a      cubic     linux " in table and " b      newreno   rfc(ack_every=1) " in table
    listed = cli("variants").stdout
    assert "default stack" in listed.splitlines()[2]


def test_results_of_before_the_default_ran_on_rfc(tmp_path: Path) -> None:
    old = dumbbell.run(Scenario.from_dict(ONE, {"flows.a.stack": "rfc", "duration": "2 s"}), out=tmp_path / "old")
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text())
    del manifest["scenario"]["flows"][0]["stack"]
    (tmp_path / "old" / "manifest.json").write_text(json.dumps({**manifest, "format": 1}))
    # Formats 1 and 2 held a file a run.
    (run,) = old.runs
    stored = {name: value for name, value in run.stored().items() if name not in {"index", "key"}}
    (tmp_path / "old" / "runs" / f"{run.key}.json").write_text(json.dumps(stored))
    read = dumbbell.read_results(tmp_path / "old")
    assert read.flows.equals(old.flows) and len(read) == 1


def test_the_page_has_the_numbers_of_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four CUBIC flows over RED, and BBR with a loss of 1 %: the default has hardly any timeouts, `rfc` has some."""
    monkeypatch.syspath_prepend(ROOT / "validation" / "stacks")
    timeouts = import_module("timeouts")
    stored = {(case, stack): values for case, stack, *values in read_table(timeouts.DATA / "timeouts.csv").rows}
    for case in timeouts.CASES:
        assert timeouts.row(case, None) == stored[case, "linux"]
        assert float(stored[case, "linux"][0]) < 0.2
        assert float(stored[case, "rfc"][0]) > 2


@pytest.mark.parametrize(
    "source", [{"kind": "cbr", "phase": "0 s"}, {"kind": "onoff", "on": "2 s", "off": "1 s", "exponential": False}]
)
def test_packets_of_sources_over_tcp_are_sent_at_once(source: dict[str, object]) -> None:
    """As on the kernel back ends, whose programs set TCP_NODELAY."""
    application = {**source, "rate": "400 kbit/s", "packet": "500 bytes"}

    def segments(**stack: object) -> int:
        flow: dict[str, object] = {"name": "f", "variant": "reno", "application": application, **stack}
        (row,) = dumbbell.run(one_link(flow, duration="2 s")).runs[0].flows
        assert 98_000 <= row["sent_bytes"] <= 100_000
        return int(row["sent_packets"])

    # A packet each 10 ms: 200 in 2 s; those of the first round trip wait for the handshake together.
    assert segments() >= 195
    # A round trip takes 40 ms, in which the next packets are collected, up to the end of the run.
    assert segments(stack={"preset": "linux", "nagle": True}) < 110
