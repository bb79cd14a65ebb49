"""The stack of a flow that names none: one default, whatever its variant."""

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
LINUX = {"name": "linux", "params": {}}


def stacks(scenario: Scenario) -> list[dict[str, Any]]:
    """The stacks of the TCP flows in all cells' plans, as a list of those that differ."""
    found: list[dict[str, Any]] = []
    for cell in scenario.cells:
        for flow in build(cell.scenario)["flows"]:
            if flow["transport"]["kind"] == "tcp" and flow["transport"]["stack"] not in found:
                found.append(flow["transport"]["stack"])
    return found


def test_all_variants_that_are_compared_run_on_one_stack() -> None:
    """In one run, as copies of a flow, swept, in cases, and one by one as with ``--set``."""
    every = list(registry.variants())
    together = [{"name": f"f{n}", "variant": variant} for n, variant in enumerate(every)]
    assert stacks(Scenario(**{**ONE, "flows": together})) == [LINUX]
    copies = [{"name": "a", "count": len(every), "spread": {"variants": every}}]
    assert stacks(Scenario(**{**ONE, "flows": copies})) == [LINUX]
    for sweep in ({"flows.a.variant": every}, {"cases": [{"flows.a.variant": variant} for variant in every]}):
        scenario = Scenario(**ONE, sweep=sweep)
        assert len(scenario.cells) == len(every) and stacks(scenario) == [LINUX]
    for variant in every:
        assert stacks(Scenario.from_dict(ONE, {"flows.a.variant": variant})) == [LINUX]


def test_another_stack_runs_only_where_a_flow_names_it() -> None:
    flows = [{"name": name, "variant": name} for name in ("reno", "cubic", "tahoe")]
    flows[1]["stack"] = "rfc"
    made = build(Scenario(**{**ONE, "flows": flows}))["flows"]
    assert [flow["transport"]["stack"]["name"] for flow in made] == ["linux", "rfc", "linux"]


def test_parameters_without_a_preset_change_the_default_of_each_variant() -> None:
    sweep = {"flows.a.variant": ["reno", "cubic", "bbr"]}
    scenario = Scenario.from_dict({**ONE, "sweep": sweep}, {"flows.a.stack": {"initial_window": "4 packets"}})
    expected = [{"name": "linux", "params": {"initial_window": "4 packets"}}]
    assert stacks(scenario) == expected
    again = Scenario.from_toml(scenario.to_toml())
    assert stacks(again) == expected
    assert stacks(again.with_changes({"flows.a.stack": "ns2"})) == [{"name": "ns2", "params": {}}]


@pytest.mark.usefixtures("allow_code")
def test_variants_outside_the_registry_run_on_the_same_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(NEWRENO)
    monkeypatch.chdir(tmp_path)
    beside = [{"name": "a", "variant": {"python": "mine.py:Mine"}}, {"name": "b", "variant": "newreno"}]
    assert stacks(Scenario(**{**ONE, "flows": beside})) == [LINUX]


def test_the_results_name_the_stack(cli: Cli, tmp_path: Path) -> None:
    flows = [
        {"name": "a", "variant": "cubic"},
        {"name": "b", "variant": "newreno", "stack": {"ack_every": 1}},
        {"name": "p", "application": {"kind": "ping", "count": 2}},
    ]
    scenario = Scenario(**{**ONE, "flows": flows})
    expected = ["linux", "linux(ack_every=1)", None]
    assert dumbbell.run(scenario).flows["stack"].to_list() == expected
    (tmp_path / "one.toml").write_text(scenario.to_toml())
    done = cli("run", str(tmp_path / "one.toml"), "--json")
    assert [flow["stack"] for flow in json.loads(done.stdout)["runs"][0]["flows"]] == expected
    table = cli("run", str(tmp_path / "one.toml")).stdout
    assert " a      cubic     linux " in table and " b      newreno   linux(ack_every=1) " in table
    marked = [line.split()[0] for line in cli("stacks").stdout.splitlines() if " yes " in line]
    assert marked == [registry.default_stack(transport) for transport in ("tcp", "quic")]


def without_stack(folder: Path, **changes: object) -> None:
    """Make a directory that an earlier version would have written: no flow names its stack."""
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["scenario"]["flows"][0]["stack"]
    (folder / "manifest.json").write_text(json.dumps({**manifest, **changes}))


@pytest.mark.parametrize(
    ("sweep", "stack"),
    [
        ({"flows.a.variant": ["tahoe", {"name": "reno", "decrease": 0.7}]}, "rfc"),
        ({"cases": [{"flows.a.variant": "newreno"}, {"flows.a.variant": "sack"}]}, "rfc"),
        ({"flows.a.variant": ["vegas", "bbr"]}, "linux"),
        ({"duration": ["1 s"]}, "linux"),
    ],
)
def test_results_of_variants_with_their_own_default_keep_their_stack(
    tmp_path: Path, sweep: dict[str, Any], stack: str
) -> None:
    """Until 0.1.0 Tahoe, Reno, NewReno and SACK ran on `rfc`, the others (CUBIC here) on `linux`."""
    scenario = Scenario.from_dict({**ONE, "sweep": sweep}, {"flows.a.stack": stack})
    cells = len(dumbbell.run(scenario, out=tmp_path))
    without_stack(tmp_path, version="0.1.0")
    assert dumbbell.read_results(tmp_path).flows["stack"].to_list() == [stack] * cells


def test_results_of_a_preset_before_the_one_default_are_read(tmp_path: Path) -> None:
    """Its flows are in no document."""
    scenario = Scenario(name="preset", preset="tcp_1up", duration="6 s", network=ONE["network"])
    stacks = dumbbell.run(scenario, out=tmp_path).flows["stack"].to_list()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "version": "0.1.0"}))
    assert dumbbell.read_results(tmp_path).flows["stack"].to_list() == stacks


def test_results_of_before_the_default_ran_on_rfc(tmp_path: Path) -> None:
    old = dumbbell.run(Scenario.from_dict(ONE, {"flows.a.stack": "rfc", "duration": "2 s"}), out=tmp_path / "old")
    without_stack(tmp_path / "old", format=1)
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
