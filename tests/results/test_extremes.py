"""The summary of a large sweep: the extremes with their cells instead of thousands of lines."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario
from dumbbell.results.frames.extremes import READABLE, extremes
from dumbbell.results.frames.summary import Summary

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def test_each_column_has_its_extremes_with_their_cells() -> None:
    rows = [("1 ms", "a", 4.0, 0.0), ("2 ms", "a", 9.0, 0.0), ("3 ms", "a", 5.0, None), ("4 ms", "a", 7.0, 2.0)]
    found = extremes(Summary(("delay", "name"), ("goodput", "timeouts"), rows))
    assert found.rows == [
        ("a", "goodput", 4.0, "delay 1 ms", 6.0, 9.0, "delay 2 ms"),
        ("a", "timeouts", 0.0, "2 of 4 cells", 0.0, 2.0, "delay 4 ms"),
    ]


def test_a_column_without_values_has_no_row_and_a_constant_one_says_so() -> None:
    rows = [(n, "a", None, 1.0) for n in range(3)]
    found = extremes(Summary(("x", "name"), ("rtt", "n"), rows))
    assert found.rows == [("a", "n", 1.0, "all 3 cells", 1.0, 1.0, "all 3 cells")]


def test_many_flows_have_their_extremes_together() -> None:
    rows = [(x, f"f{n}", 10.0 * x + n) for x in (1, 2) for n in range(8)]
    found = extremes(Summary(("x", "name"), ("goodput",), rows))
    assert found.rows == [("all 8", "goodput", 10.0, "x 1, name f0", 18.5, 27.0, "x 2, name f7")]


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "flows", "whole"), [(10, 1, True), (60, 1, True), (61, 1, False), (10, 8, False)])
def test_a_large_sweep_prints_its_extremes(cli: Cli, tmp_path: Path, cells: int, flows: int, whole: bool) -> None:
    write_sweep(tmp_path, cells, flows)
    shown = cli("run", "many.toml").stdout
    everything = cli("run", "many.toml", "--all").stdout
    assert (shown == everything) is whole
    assert everything.count("\n") >= cells * flows
    assert whole or f"the extremes of {cells * flows} rows (--all prints every row)" in shown
    assert shown.count("\n") < 2 * READABLE + 20
    document = json.loads(cli("run", "many.toml", "--json").stdout)
    assert len(document["runs"]) == cells


def write_sweep(folder: Path, cells: int, flows: int, **changes: Any) -> None:
    """Write a scenario of many cells."""
    link = {"rate": "10 Mbit/s", "delay": "5 ms"}
    scenario = {
        "name": "many",
        "duration": "100 ms",
        "network": {"bottleneck": link, "access": {"rate": "100 Mbit/s", "delay": "1 ms"}},
        "flows": [{"name": f"f{n}", "variant": "reno"} for n in range(flows)],
        "sweep": {"network.bottleneck.rate": [f"{n + 1} Mbit/s" for n in range(cells)]},
    }
    (folder / "many.toml").write_text(Scenario.from_dict(scenario, changes).to_toml(), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "options"), [(31, []), (61, ["--metric", "completion_time_s"])])
def test_statistics_of_a_large_sweep_are_the_extremes(cli: Cli, tmp_path: Path, cells: int, options: list[str]) -> None:
    transfer = {"flows.f0.application": {"kind": "transfer", "size": "1 kB"}}
    write_sweep(tmp_path, cells, 2, start_jitter="5 ms", **transfer)
    assert cli("run", "many.toml", "--out", "kept").returncode == 0
    shown = cli("stats", "kept", *options).stdout
    everything = cli("stats", "kept", *options, "--all").stdout
    assert f"the extremes of {2 * cells} rows (--all prints every row)" in shown
    assert shown.count("\n") < 20
    assert everything.count("\n") >= 2 * cells
    assert len(json.loads(cli("stats", "kept", *options, "--json").stdout)["cells"]) == 2 * cells
    assert cli("stats", "kept", *options, "--flow", "f1").stdout.count("\n") < READABLE + 20


@pytest.mark.slow
def test_comparisons_and_harm_of_a_large_sweep_are_the_extremes(cli: Cli, tmp_path: Path) -> None:
    write_sweep(tmp_path, 31, 2, repetitions=2, start_jitter="5 ms")
    assert cli("run", "many.toml", "--out", "kept").returncode == 0
    made = 2 * 31 * 30 // 2
    shown = cli("stats", "kept", "--by", "rate").stdout
    assert f"{made} comparisons: " in shown
    assert shown.count("\n") < 20
    assert cli("stats", "kept", "--by", "rate", "--all").stdout.count(" Mbit/s") >= made
    harm = cli("stats", "harm", "kept").stdout
    assert (
        "Harm: goodput, Mbit/s, alone and contested; median: the extremes of 62 rows (--all prints every row)" in harm
    )
    assert harm.count("\n") < 20
    assert cli("stats", "harm", "kept", "--all").stdout.count("\n") >= 62
