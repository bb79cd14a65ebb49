"""Metrics that follow from the path, statistics over repetitions, fairness, the warm-up, and `dumbbell stats`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import dumbbell
from dumbbell import ResultsError, Scenario, ScenarioError
from dumbbell.cli import app
from dumbbell.metrics import paired, summarize
from dumbbell.results.runs.record import Run
from dumbbell.results.statistics.harm import solo
from dumbbell.scenario.units import Duration

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

PAIR: dict[str, Any] = {
    "name": "pair",
    "duration": "12 s",
    "repetitions": 5,
    "start_jitter": "100 ms",
    "network": {
        "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"discipline": "droptail", "limit": "1 bdp"}},
        "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
    },
    "flows": [{"name": "a", "variant": "reno", "stack": "rfc"}, {"name": "b", "variant": "cubic", "stack": "rfc"}],
    "sweep": {"flows.a.variant": ["reno", "vegas"]},
}

TIMES = {"start_s": 0.0, "stop_s": 12.0, "sent_packets": 100}


def one(**changes: Any) -> dumbbell.Results:
    flow = {"name": "a", "variant": "reno", **changes.pop("flow", {})}
    return dumbbell.run(
        Scenario(**{**PAIR, "sweep": None, "repetitions": 1, "start_jitter": "0 s", "flows": [flow], **changes})
    )


def test_comparing_without_a_sweep_is_refused() -> None:
    with pytest.raises(ResultsError, match="unknown swept path 'variant': nothing is swept here"):
        one().comparisons("goodput_bps", "variant")


def test_idle_round_trip() -> None:
    # Forward: 1500 bytes, 1.2 ms at 10 Mbit/s and twice 0.12 ms at 100 Mbit/s; back: 52 bytes, 0.0416 ms and twice
    # 0.00416 ms; propagation 2 x (10 + 1 + 1) ms.
    row = one().flows.row(0, named=True)
    assert row["idle_rtt_ms"] == pytest.approx(24 + 1.2 + 0.24 + 0.0416 + 0.00832, abs=1e-9)
    assert row["rtt_excess_ms"] == pytest.approx(row["rtt_mean_ms"] - row["idle_rtt_ms"])
    assert row["power"] == pytest.approx(row["goodput_bps"] / (row["rtt_mean_ms"] / 1000))
    assert row["retransmission_overhead"] == pytest.approx(row["retransmitted_bytes"] / row["sent_bytes"])
    # A lone full window never sees less than the idle path.
    assert row["rtt_min_ms"] <= row["idle_rtt_ms"] <= row["rtt_mean_ms"]


def test_idle_round_trip_of_a_ping_is_what_it_measures() -> None:
    ping = {"variant": None, "application": {"kind": "ping", "count": 3, "packet": "64 bytes"}}
    row = one(flow=ping).flows.row(0, named=True)
    assert row["rtt_min_ms"] == pytest.approx(row["idle_rtt_ms"], rel=1e-6)
    assert row["rtt_excess_ms"] == pytest.approx(0, abs=1e-6)


def test_slowdown() -> None:
    # A window that holds all of it: handshake, then 100 segments of 1448 bytes back to back at 10 Mbit/s.
    flow = {
        "application": {"kind": "transfer", "size": f"{100 * 1448} bytes"},
        "stack": {"preset": "linux-tuned", "initial_window": "200 packets"},
    }
    row = one(flow=flow).transfers.row(0, named=True)
    assert row["took_s"] == pytest.approx(row["end_s"] - row["start_s"])
    # 120 ms of data, and 36 ms of a round trip and a half; access links add 0.5 ms or so.
    assert row["took_s"] == pytest.approx(0.156, abs=0.002)
    assert row["slowdown"] == pytest.approx(1.0, abs=0.01)
    slow = one(flow={**flow, "stack": "linux"}).transfers.row(0, named=True)
    assert slow["slowdown"] > 1.2, "slow start takes round trips"


def test_links_without_a_set_rate_have_no_idle_round_trip(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("1\n2\n3\n")
    bottleneck = {**PAIR["network"]["bottleneck"], "rate": {"trace": str(tmp_path / "trace")}, "queue": "droptail"}
    row = one(network={**PAIR["network"], "bottleneck": bottleneck}).flows.row(0, named=True)
    assert row["idle_rtt_ms"] is None
    assert row["rtt_excess_ms"] is None
    assert row["rtt_mean_ms"] is not None


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("stats") / "pair")


@pytest.fixture(scope="module")
def pair(place: str) -> dumbbell.Results:
    return dumbbell.run(Scenario(**PAIR), out=place, trace=True)


def test_statistics(pair: dumbbell.Results) -> None:
    table = pair.statistics("goodput_bps")
    assert table.select("flows.a.variant", "name").rows() == [(v, name) for v in ("reno", "vegas") for name in "ab"]
    flows = pair.flows
    for row in table.iter_rows(named=True):
        mine = flows.filter((flows["name"] == row["name"]) & (flows["flows.a.variant"] == row["flows.a.variant"]))
        values = mine.sort("repetition")["goodput_bps"].to_numpy()
        assert row["values"] == values.tolist()
        s = summarize(values)
        assert (row["n"], row["mean"], row["median"], row["sd"]) == (5, s.mean, s.median, s.sd)
        assert (row["min"], row["max"], row["low"], row["high"]) == (s.min, s.max, s.low, s.high)
    student = pair.statistics("goodput_bps", interval="student")
    assert (student["low"] <= student["mean"]).all()
    with pytest.raises(ResultsError, match="did you mean 'goodput_bps'"):
        pair.statistics("goodput_bp")
    with pytest.raises(ResultsError, match="no number"):
        pair.statistics("variant")


@pytest.mark.usefixtures("pair")
def test_the_table_names_its_interval(place: str) -> None:
    def title(*options: str) -> str:
        found = CliRunner().invoke(app, ["stats", place, *options]).stdout
        return " ".join(found.partition("reno")[0].split())

    assert "low, high: 95 % interval of the median (between ordered values)" in title()
    student = title("--ci", "student", "--level", "0.9")
    assert "low, high: 90 % interval of the mean (Student's t)" in student


def test_comparisons_are_paired(pair: dumbbell.Results) -> None:
    compared = pair.comparisons("goodput_bps", "variant")
    # The other flow has what this one leaves: its comparisons aren't part of the family.
    assert [(cell["name"], c.a, c.b) for cell, c in compared] == [("a", "reno", "vegas")]
    values = {
        (r["flows.a.variant"], r["name"]): r["values"] for r in pair.statistics("goodput_bps").iter_rows(named=True)
    }
    assert compared[0][1].difference == paired(values["reno", "a"], values["vegas", "a"])
    both = pair.comparisons("goodput_bps", "variant", names=["a", "b"])
    alone = paired(values["reno", "a"], values["vegas", "a"], level=1 - 0.05 / 2)  # the first of two by Holm
    assert both[0][1].difference == alone and both[1][0]["name"] == "b"
    with pytest.raises(ResultsError, match="unknown flow or queue 'c'"):
        pair.comparisons("goodput_bps", "variant", names=["c"])
    assert compared[0][1].difference.median > 0, "Reno gets more beside CUBIC than Vegas does"
    with pytest.raises(ResultsError, match="swept path"):
        pair.comparisons("goodput_bps", "queue")


def test_fairness(pair: dumbbell.Results) -> None:
    table = pair.fairness()
    assert table.height == len(pair)
    for run, row in zip(pair.runs, table.iter_rows(named=True), strict=True):
        a, b = (flow["goodput_bps"] for flow in run.flows)
        assert row["jain"] == pytest.approx((a + b) ** 2 / (2 * (a**2 + b**2)))
        assert row["least_share_ratio"] == pytest.approx(2 * min(a, b) / (a + b))
        assert row["largest_share_ratio"] == pytest.approx(2 * max(a, b) / (a + b))
    assert table["rtt_slope"].null_count() == len(pair), "both flows have the same round trip"
    over_time = pair.fairness(window_s=1.0)
    assert over_time.height == len(pair) * 11, "whole seconds from the later start on"
    assert over_time["jain"].is_between(0.5, 1.0).all()
    with pytest.raises(ResultsError, match="two flows"):
        pair.fairness(["a"])
    with pytest.raises(ResultsError, match="needs series"):
        dumbbell.run(Scenario(**{**PAIR, "sweep": None})).fairness(window_s=1.0)
    with pytest.raises(ResultsError, match="unknown flow"):
        pair.fairness(["a", "c"])


def test_unfairness_of_round_trips() -> None:
    far = {"access": {"delay": "10 ms"}}
    flows = [{"name": "near", "variant": "reno"}, {"name": "far", "variant": "reno", **far}]
    results = dumbbell.run(Scenario(**{**PAIR, "duration": "60 s", "sweep": None, "flows": flows}))
    # Reno's share is proportional to RTT to the power of -1 to -2 [Lakshman and Madhow 1997]; the queue, which both
    # wait in, makes their round trips less different than the idle ones are.
    slopes = results.fairness()["rtt_slope"]
    assert slopes.null_count() == 0
    assert -2 < np.median(slopes.to_numpy()) < -0.3, slopes.to_list()


def test_warm_up_is_cut_and_both_are_kept(pair: dumbbell.Results) -> None:
    table = pair.settled()
    assert table.height == 2 * len(pair)
    goodput = pair.flows["goodput_bps"].to_numpy()
    # Whole windows of 0.1 s only, so up to 0.1 of 12 s are missing.
    assert table["whole_bps"].to_numpy() == pytest.approx(goodput, rel=0.02)
    known = table.drop_nulls("warm_up_s")
    assert known.height > 0
    assert ((known["warm_up_s"] >= 0) & (known["warm_up_s"] <= 6)).all()
    with pytest.raises(ResultsError, match="no series"):
        one().settled()


def test_a_given_warm_up_is_cut(pair: dumbbell.Results) -> None:
    table = pair.settled(warm_up_s=6.0)
    assert (table["warm_up_s"] == 6.0).all()
    # Whole and cut together give the part that was cut: 60 of its 119 windows or so.
    run, row = pair.runs[0], table.row(0, named=True)
    series = pair.table(run, "flow/a")
    begin = run.flows[0]["start_s"] + 6.0
    end = begin + 0.1 * int((run.flows[0]["stop_s"] - begin) / 0.1 + 1e-9)
    delivered = np.interp([begin, end], series["t_ns"].to_numpy() * 1e-9, series["delivered"].to_numpy())
    assert row["settled_bps"] == pytest.approx(8 * np.diff(delivered)[0] / (end - begin), rel=0.01)
    with pytest.raises(ResultsError, match="no window"):
        pair.settled(window_s=60.0)


def test_harm_runs_the_flows_alone(pair: dumbbell.Results) -> None:
    table = pair.harm()
    assert table.height == 2 * len(pair)
    for row in table.iter_rows(named=True):
        flow = next(f for f in pair.runs[row["run"]].flows if f["name"] == row["name"])
        assert row["contested"] == flow["goodput_bps"]
        assert row["harm"] == pytest.approx((row["alone"] - row["contested"]) / row["alone"])
        assert row["contested"] < 0.95 * 9.65e6, "1448 of 1500 bytes of 10 Mbit/s are shared"
    # A flow's rate alone doesn't depend on the silent flows: it is the rate in a scenario with this flow only.
    alone = {(r["flows.a.variant"], r["name"], r["repetition"]): r["alone"] for r in table.iter_rows(named=True)}
    assert all(alone["reno", "b", r] == alone["vegas", "b", r] for r in range(5))
    own = dumbbell.run(Scenario(**{**PAIR, "sweep": None, "flows": PAIR["flows"][:1]}))
    for r, goodput in enumerate(own.flows["goodput_bps"]):
        assert alone["reno", "a", r] == pytest.approx(goodput, rel=0.02)
    delay = pair.harm("rtt_mean_ms")
    vegas = (delay["flows.a.variant"] == "vegas") & (delay["name"] == "a")
    assert delay.filter(vegas & (delay["harm"] <= 0.2)).is_empty(), "CUBIC's queue"
    with pytest.raises(ResultsError, match="more' or 'less"):
        pair.harm("sent_packets")
    with pytest.raises(ResultsError, match="unknown metric"):
        pair.harm("goodput")


@pytest.mark.usefixtures("pair")
def test_stats_command(cli: Cli, place: str) -> None:
    shown = cli("stats", place, "--by", "variant", "--flow", "a")
    assert shown.returncode == 0, shown.stderr
    assert "Mbit/s" in shown.stdout
    assert "reno" in shown.stdout
    harm = cli("stats", "harm", place)
    assert harm.returncode == 0, harm.stderr
    assert "contested" in harm.stdout
    assert len(json.loads(cli("stats", "harm", place, "--json").stdout)["runs"]) == 20
    found = json.loads(cli("stats", place, "--metric", "rtt_p95_ms", "--by", "variant", "--json").stdout)
    assert [c["n"] for c in found["cells"]] == [5] * 4
    assert len(found["comparisons"]) == 1
    assert np.isfinite([c["median"] for c in found["comparisons"]]).all()
    assert found["margin"] == {"size": 0.05, "relative": True}
    assert found["comparisons"][0]["margin"] == pytest.approx(0.05 * max(c["mean"] for c in found["cells"][::2]))
    assert {c["level"] for c in found["cells"]} == {0.9375}
    other = json.loads(cli("stats", place, "--by", "variant", "--flow", "b", "--json").stdout)["comparisons"]
    assert [c["cell"]["name"] for c in other] == ["b"]
    assert other[0]["holm"] == other[0]["p"], "the only one of its family"
    assert "from 0.500 Mbit/s on" in cli("stats", place, "--by", "variant", "--margin", "0.5 Mbit/s").stdout
    for wrong in (
        ["--by", "variant", "--margin", "1 ms"],
        ["--margin", "1 %"],
        ["--metric", "goodput"],
        ["--flow", "c"],
        ["--by", "queue"],
        ["--ci", "normal"],
    ):
        done = cli("stats", place, *wrong)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_a_flow_alone_starts_as_beside_the_others() -> None:
    """Flows that start together have a default jitter; alone, a flow had none."""
    scenario = Scenario(**{**PAIR, "sweep": None, "duration": "3 s", "repetitions": 2, "start_jitter": None})
    together = dumbbell.run(scenario)
    alone = dumbbell.run(solo(scenario, "a", ["b"]))
    starts = [
        [f["start_s"] for run in results.runs for f in run.flows if f["name"] == "a"] for results in (together, alone)
    ]
    assert starts[0] == starts[1]
    assert 0 < starts[0][0] != starts[0][1]
    own = {**PAIR, "sweep": None, "flows": [{**PAIR["flows"][0], "start_jitter": "0 s"}, PAIR["flows"][1]]}
    assert solo(Scenario(**own), "a", ["b"]).flows[0].start_jitter == Duration("0 s")
    with pytest.raises(ScenarioError, match="with start_jitter '20 s' it may start after its end"):
        Scenario(**{**own, "flows": [{**PAIR["flows"][0], "start_jitter": "20 s"}]})


def test_copies_of_a_flow_are_alone_too() -> None:
    """The other copies were running beside a copy that was to be alone."""
    flows = [{"name": "a", "variant": "reno", "count": 2, "spread": {"delay": ["1 ms", "5 ms"]}}]
    copies = Scenario(**{**PAIR, "sweep": None, "duration": "5 s", "repetitions": 1, "flows": flows})
    written = [{"name": f"a-{n}", "variant": "reno", "access": {"delay": f"{d} ms"}} for n, d in ((1, 1), (2, 5))]
    single = Scenario(**{**PAIR, "sweep": None, "duration": "5 s", "repetitions": 1, "flows": written})
    found = dumbbell.run(copies).harm()
    assert found.to_dicts() == dumbbell.run(single).harm().to_dicts()
    assert (found["alone"] > 1.5 * found["contested"]).any()


def test_flows_of_a_preset_are_silent_too() -> None:
    preset = {"name": "tcp_ndown", "streams": 2, "length": "2 s"}
    made = {key: value for key, value in PAIR.items() if key not in ("sweep", "flows", "duration", "repetitions")}
    results = dumbbell.run(Scenario(**made, preset=preset, repetitions=1))
    found = results.harm()
    assert found.height == 2
    assert (found["alone"] > 1.2 * found["contested"]).any()


def made(paths: dict[str, list[str]], values: Callable[[dict[str, str], int, str], float], names: str = "ab") -> Any:
    """Results of a sweep with two flows, with these goodputs by cell, repetition and flow."""
    flows = [{"name": name, "variant": "reno"} for name in "ab"]
    scenario = Scenario(**{**PAIR, "flows": flows, "sweep": paths})
    runs: list[Run] = []
    for cell in scenario.cells:
        for n in range(5):
            rows = [
                {"name": name, "variant": "reno", "stack": "rfc", "goodput_bps": values(cell.values, n, name), **TIMES}
                for name in names
            ]
            runs.append(Run(len(runs), str(len(runs)), cell.values, n, scenario.repetition_seed(n), rows, [], []))
    return dumbbell.Results(scenario, runs)


def test_a_complementary_flow_is_no_second_family() -> None:
    """Two flows that fill a link doubled the family: 36 comparisons instead of 18."""
    random = np.random.default_rng(4).normal(5e6, 3e5, 100).tolist()
    rates = ["9 Mbit/s", "10 Mbit/s", "11 Mbit/s"]

    def shared(cell: dict[str, str], n: int, name: str) -> float:
        first = random[5 * rates.index(cell["network.bottleneck.rate"]) + n]
        return float(first if name == "a" else 10e6 - first)

    found = made({"network.bottleneck.rate": rates}, shared)
    assert [c["name"] for c, _ in found.comparisons("goodput_bps", "rate")] == ["a"] * 3

    def independent(cell: dict[str, str], n: int, name: str) -> float:
        return float(random[50 * (name == "b") + 5 * rates.index(cell["network.bottleneck.rate"]) + n])

    found = made({"network.bottleneck.rate": rates}, independent)
    assert [c["name"] for c, _ in found.comparisons("goodput_bps", "rate")] == ["a"] * 3 + ["b"] * 3


def test_significant_differences_are_first(tmp_path: Path) -> None:
    """The fourth line could be the only one that differs."""
    sweep = {"flows.a.variant": ["reno", "newreno", "vegas"]}
    place = str(tmp_path / "sorted")
    dumbbell.run(Scenario(**{**PAIR, "duration": "4 s", "sweep": sweep}), out=place)
    lines = CliRunner().invoke(app, ["stats", place, "--by", "variant", "--flow", "a"]).stdout.splitlines()
    shown = ["no difference shown" not in line for line in lines if line.startswith("name ")]
    assert len(shown) == 3 and shown == sorted(shown, reverse=True) and any(shown)


def test_a_family_that_would_not_end_is_refused() -> None:
    rates = [f"{n} kbit/s" for n in range(1000, 1300)]
    found = made({"network.bottleneck.rate": rates}, lambda cell, n, _name: len(cell) + n, "a")
    with pytest.raises(ResultsError, match=r"44,850 pairs of its values: at most 20,000 are compared; sweep fewer"):
        found.comparisons("goodput_bps", "rate")
