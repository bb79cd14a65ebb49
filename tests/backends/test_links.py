"""Links besides queueing: from the scenario to the plan and to results; delivery traces read and written."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import BASE
from hypothesis import given
from hypothesis import strategies as st

import dumbbell
from dumbbell import Results, ResultsError, Scenario, ScenarioError, mahimahi
from dumbbell.plan.build import build
from dumbbell.results.frames.summary import queue_summary

Changed = Callable[..., Scenario]


def link_of(scenario: Scenario, name: str = "r1->r2") -> dict[str, Any]:
    (cell,) = scenario.cells
    return next(link for link in build(cell.scenario)["links"] if link["name"] == name)


# ---------------------------------------------------------------- plans


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("loss", "2 %", {"loss": 0.02}),
        ("loss", {"model": "bernoulli", "mean": "2 %"}, {"loss": 0.02}),
        (
            "loss",
            {"model": "gilbert", "p": "1 %", "r": "20 %"},
            {"loss": {"p": 0.01, "r": 0.2, "loss_bad": 1.0, "loss_good": 0.0}},
        ),
        (
            # r = 1 / 4, p = 0.25 x 0.02 / 0.98 = 0.00510204..
            "loss",
            {"model": "gilbert", "mean": "2 %", "burst": "4 packets"},
            {"loss": {"p": 0.25 * 0.02 / 0.98, "r": 0.25, "loss_bad": 1.0, "loss_good": 0.0}},
        ),
        (
            "loss",
            {"model": "gilbert-elliott", "p": "1 %", "r": "20 %", "loss_bad": "50 %", "loss_good": "0.1 %"},
            {"loss": {"p": 0.01, "r": 0.2, "loss_bad": 0.5, "loss_good": 0.001}},
        ),
        ("corruption", "1 %", {"corruption": {"packets": 0.01}}),
        ("corruption", {"bit_error_rate": 1e-6}, {"corruption": {"bits": 1e-6}}),
        ("jitter", "2 ms", {"jitter": {"distribution": "uniform", "max_ns": 2_000_000}, "jitter_reorders": False}),
        ("jitter", "0 ms", {"jitter": None, "jitter_reorders": False}),
        (
            "jitter",
            {"distribution": "normal", "mean": "2 ms", "sd": "1 ms"},
            {"jitter": {"distribution": "normal", "mean_ns": 2_000_000, "sd_ns": 1_000_000}, "jitter_reorders": False},
        ),
        (
            "jitter",
            {"distribution": "pareto", "mean": "2 ms", "shape": 2.5},
            {"jitter": {"distribution": "pareto", "mean_ns": 2_000_000, "shape": 2.5}, "jitter_reorders": False},
        ),
        (
            "reordering",
            {"share": "1 %", "delay": "5 ms", "extent": "3 packets"},
            {"reordering": {"share": 0.01, "gap": 1, "correlation": 0.0, "delay_ns": 5_000_000, "extent": 3}},
        ),
        ("duplication", "1 %", {"duplication": {"share": 0.01, "delay_ns": 0}}),
        ("duplication", {"share": "1 %", "delay": "3 ms"}, {"duplication": {"share": 0.01, "delay_ns": 3_000_000}}),
        (
            "policer",
            {"rate": "5 Mbit/s", "burst": "15 kB", "exceed": "mark"},
            {"policer": {"rate_bps": 5_000_000, "burst_bytes": 15_000, "marks": True}},
        ),
    ],
)
def test_a_wire_of_the_plan(changed: Changed, key: str, value: Any, expected: dict[str, Any]) -> None:
    plain, scenario = link_of(changed()), changed({f"network.bottleneck.{key}": value})
    assert link_of(scenario) == plain | expected
    # The reverse direction has none of it unless `reverse` gives it.
    assert link_of(scenario, "r2->r1") == link_of(changed(), "r2->r1")
    back = link_of(changed({f"network.bottleneck.reverse.{key}": value}), "r2->r1")
    assert {k: back[k] for k in expected} == expected
    assert Scenario.from_toml(scenario.to_toml()) == scenario
    dumbbell.run(scenario, repetitions=1)


def course(*steps: tuple[int, int, bool], period: int | None = None, start: int = 0) -> dict[str, Any]:
    """Return the course of a value in a plan, with steps of time (ns), value and ramp."""
    rows = [{"at_ns": at, "value": value, "ramp": ramp} for at, value, ramp in steps]
    return {"steps": rows, "period_ns": period, "start_ns": start}


def test_courses_and_outages_hold_in_both_directions(changed: Changed) -> None:
    steps = [{"at": "0 s", "rate": "2 Mbit/s"}, {"at": "1 s", "rate": "1 Mbit/s", "ramp": True}]
    delays = [{"at": "0 s", "delay": "10 ms"}, {"at": "500 ms", "delay": "30 ms"}]
    scenario = changed(
        {
            "network.bottleneck.rate": {"steps": steps, "period": "1500 ms", "start": "200 ms"},
            "network.bottleneck.delay": {"steps": delays, "reorders": True},
            "network.bottleneck.outages": [{"at": "1 s", "for": "100 ms", "every": "400 ms", "packets": "drop"}],
        }
    )
    there, back = link_of(scenario), link_of(scenario, "r2->r1")
    expected = {
        "rate_bps": 2_000_000,
        "delay_ns": 10_000_000,
        "rate_course": course((0, 2_000_000, False), (10**9, 1_000_000, True), period=15 * 10**8, start=2 * 10**8),
        "delay_course": course((0, 10_000_000, False), (5 * 10**8, 30_000_000, False)),
        "delay_reorders": True,
        "outages": [{"at_ns": 10**9, "for_ns": 10**8, "every_ns": 4 * 10**8, "drops": True}],
    }
    for link in (there, back):
        assert {k: link[k] for k in expected} == expected
    # Limits in bdp go by the first values: 2 x (5 + 10 + 5) ms.
    assert there["base_rtt_ns"] == 40_000_000
    only_there = scenario.with_changes({"network.bottleneck.reverse": {"rate": "3 Mbit/s", "outages": []}})
    back = link_of(only_there, "r2->r1")
    assert "rate_course" not in back
    assert "outages" not in back
    assert (back["rate_bps"], "delay_course" in back) == (3_000_000, True)
    assert Scenario.from_toml(scenario.to_toml()) == scenario
    dumbbell.run(scenario, repetitions=1)


def test_a_flow_has_its_own_access(changed: Changed) -> None:
    """A value that a flow sets for its own links replaces the network's, in every form of the value."""
    steps = {"steps": [{"at": "0 s", "rate": "10 Mbit/s"}, {"at": "1 s", "rate": "5 Mbit/s"}]}
    scenario = changed({"network.access.rate": steps, "flows.tcp.access": {"rate": "20 Mbit/s", "loss": "1 %"}})
    link = link_of(scenario, "s1->r1")
    assert ("rate_course" in link, link["rate_bps"], link["loss"]) == (False, 20_000_000, 0.01)


def named(name: str) -> pl.Expr:
    return pl.col("name") == name


# ---------------------------------------------------------------- results


def test_the_summary_shows_what_happened(changed: Changed) -> None:
    plain = queue_summary(dumbbell.run(changed())).frame()
    assert not {"lost on the wire", "reordered", "duplicated"} & set(plain.columns)
    wild = {
        "network.bottleneck.reordering": {"share": "10 %", "delay": "20 ms"},
        "network.bottleneck.duplication": "5 %",
        "network.bottleneck.loss": "2 %",
    }
    shown = queue_summary(dumbbell.run(changed(wild))).frame()
    for column in ("lost on the wire", "reordered", "duplicated"):
        assert shown[column][0] > 0


def test_reasons_of_drops_are_traced(changed: Changed) -> None:
    changes = {
        "network.bottleneck.policer": {"rate": "1 Mbit/s", "burst": "3 kB"},
        "network.bottleneck.corruption": "5 %",
        "network.bottleneck.outages": [{"at": "1 s", "for": "200 ms", "packets": "drop"}],
        "repetitions": 1,
    }
    results = dumbbell.run(changed(changes), trace=True)
    reasons = results.arrays(0, "drops/r1->r2")["reason"]
    words = dumbbell.registry.drop_reasons()
    counted = {words[code]: int((reasons == code).sum()) for code in set(reasons.tolist())}
    q = results.queues.row(by_predicate=named("r1->r2"), named=True)
    assert counted["policed"] == q["drops_policed"] > 0
    assert counted["corrupted"] == q["losses_corrupted"] > 0
    assert counted["outage"] == q["losses_outage"] > 0
    assert q["wire_losses"] == q["losses_corrupted"] + q["losses_outage"]


# ---------------------------------------------------------------- traces in


def write_lines(path: Path, lines: list[int]) -> Path:
    path.write_text("".join(f"{n}\n" for n in lines))
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no line"),
        ("1\n\n2\n", "line 2: '' given"),
        ("1\nx\n", "line 2: 'x' given: a whole number of milliseconds"),
        ("1\n2.5\n", "line 2: '2.5' given"),
        ("-1\n", "line 1: '-1' given"),
        ("5\n7\n6\n", "line 3: 6 given, but the line before is 7"),
        ("0\n0\n", "the last line is 0"),
        ("9999999999999\n", "is too long"),
    ],
)
def test_files_that_are_no_traces(tmp_path: Path, changed: Changed, text: str, message: str) -> None:
    (tmp_path / "bad.up").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        changed({"network.bottleneck.rate": {"trace": str(tmp_path / "bad.up")}})
    assert "network.bottleneck.rate.trace: " in str(caught.value)
    assert message in str(caught.value)


def test_a_trace_in_a_plan(tmp_path: Path, changed: Changed) -> None:
    path = write_lines(tmp_path / "a.up", [0, 1, 1, 4, 1999, 2000, 2001, 60_000])
    link = link_of(changed({"network.bottleneck.rate": {"trace": str(path)}}))
    # What lies behind the end of the run (2 s) is not needed, only where the trace begins again.
    assert link["opportunities"] == {"counts": [(0, 1), (1, 2), (4, 1), (1999, 1), (2000, 1)], "period_ms": 60_000}
    assert link["rate_bps"] == 8 * 12_000 // 60  # the mean: 8 lines of 12 000 bit in 60 s
    assert link_of(changed({"network.bottleneck.rate": {"trace": str(path)}}), "r2->r1")["opportunities"]


def test_a_trace_is_found_beside_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "traces").mkdir()
    write_lines(tmp_path / "traces" / "slow.up", [10, 20])  # 1.2 Mbit/s
    write_lines(tmp_path / "traces" / "fast.up", [2, 4])
    text = BASE.replace('rate = "2 Mbit/s"', 'rate = { trace = "traces/slow.up" }')
    text += '\n[sweep]\n"network.bottleneck.rate.trace" = ["traces/slow.up", "traces/fast.up"]\n'
    (tmp_path / "base.toml").write_text(text)
    scenario = Scenario.load(tmp_path / "base.toml")
    assert set(scenario.external_files) == {"traces/slow.up", "traces/fast.up"}
    rates = [build(cell.scenario)["links"][0]["rate_bps"] for cell in scenario.cells]
    assert rates == [1_200_000, 6_000_000]
    # A changed scenario still knows where it lies; from another folder a path means something else.
    assert len(scenario.with_changes({"repetitions": 1}).cells) == 2
    with pytest.raises(ScenarioError, match="can't be read"):
        Scenario.from_dict(scenario.to_dict())
    monkeypatch.chdir(tmp_path)
    assert Scenario.from_dict(scenario.to_dict()) == scenario


def test_results_keep_their_traces(tmp_path: Path, cli: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    write_lines(tmp_path / "cell.up", [10, 20])
    text = BASE.replace('rate = "2 Mbit/s"', 'rate = { trace = "cell.up" }')
    (tmp_path / "base.toml").write_text(text)
    done = cli("run", "base.toml", "--out", "kept")
    assert done.returncode == 0, done.stderr
    first = Results.load(tmp_path / "kept").document()
    shutil.move(tmp_path / "kept", tmp_path / "elsewhere")
    (tmp_path / "cell.up").unlink()
    again = Results.load(tmp_path / "elsewhere")
    assert again.document() == first
    assert len(again) == 2
    # Another trace of the same name is another scenario.
    write_lines(tmp_path / "cell.up", [5, 20])
    done = cli("run", "base.toml", "--out", "elsewhere")
    assert done.returncode == 2
    assert "another scenario" in done.stderr
    assert "files" in done.stderr


# ---------------------------------------------------------------- traces out


def test_deliveries_worked_by_hand() -> None:
    # 1000 bytes out at 0.5, 1.2, 3.0 and 3.1 ms: 1500 bytes are full at 1.2 ms (2000 bytes), 3000 at 3.0 (3000); the
    # 1000 at 3.1 ms make no line.
    end = np.array([500_000, 1_200_000, 3_000_000, 3_100_000], dtype=np.uint64)
    sizes = np.full(4, 1000, dtype=np.uint32)
    assert mahimahi.deliveries(end, sizes).tolist() == [2, 3]
    # One packet may fill several lines.
    assert mahimahi.deliveries(end[:1], np.array([4600], dtype=np.uint32)).tolist() == [1, 1, 1]
    # From 1.2 ms on: 1000 at 1.8, 1000 at 1.9 ms.
    assert mahimahi.deliveries(end, sizes, from_ns=1_200_000).tolist() == [2]
    assert mahimahi.deliveries(end[:0], sizes[:0]).tolist() == []


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30).map(sorted))
def test_a_saturated_trace_is_written_as_it_was_read(lines: list[int]) -> None:
    """Full packets that use every opportunity reproduce the trace, period after period."""
    period = lines[-1]
    counts = [(ms, lines.count(ms)) for ms in sorted(set(lines))]
    link = {"discipline": "droptail", "limit": "100000 packets"}
    cbr = {"kind": "cbr", "rate": "4 Gbit/s", "packet": "1500 bytes", "phase": "0 s"}
    scenario = Scenario(
        name="saturated",
        duration=f"{period * 3} ms",
        network={
            "topology": "custom",
            "nodes": ["a", "b"],
            "links": [{"from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "0 s", "queue": link}],
        },
        flows=[{"name": "flood", "transport": "udp", "from": "a", "to": "b", "application": cbr}],
        trace={"series": ["departures"]},
    )
    plan = json.loads(json.dumps(build(scenario.cells[0].scenario)))
    plan["links"][0]["opportunities"] = {"counts": counts, "period_ms": period}
    output = dumbbell._core.run(json.dumps({**plan, "seed": 1}))
    table = output.table("departures/a->b")
    expected = [ms + r * period for r in range(3) for ms in lines]
    found = mahimahi.deliveries(table["end_ns"], table["bytes"])
    assert found.tolist() == expected


def test_the_command_writes_a_trace(
    tmp_path: Path, base_file: Path, cli: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    assert cli("run", base_file, "--out", "kept", "--trace").returncode == 0
    done = cli("mahimahi", "kept", "r1->r2", "--out", "down.trace", "--run", "1", "--from", "1 s")
    assert done.returncode == 0, done.stderr
    trace = mahimahi.read(tmp_path / "down.trace")
    # The bottleneck of 2 Mbit/s is full in the second half: 2 Mbit / 12 000 bit = 166 lines.
    assert 160 <= int(trace.counts.sum()) <= 167
    assert 900 <= trace.period <= 1010
    for arguments, message in [
        (["kept", "r1->r3"], "unknown table"),
        (["kept", "r1->r2", "--run", "9"], "no run 9 exists"),
        (["kept", "r1->r2", "--from", "9"], "has no unit"),
        (["kept", "r1->r2", "--from", "2 s"], "less than 1500 bytes"),
        (["nowhere", "r1->r2"], "nowhere"),
    ]:
        done = cli("mahimahi", *arguments, "--out", "x.trace")
        assert done.returncode == 2, arguments
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_writing_needs_the_departures(tmp_path: Path, base: Scenario) -> None:
    with pytest.raises(ResultsError, match="no series were kept"):
        mahimahi.write(dumbbell.run(base), "r1->r2", tmp_path / "x")
