"""Workloads: distributions of sizes, offered load, processor sharing, slowdown by size, incast, copies, refusals."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from one_link import network, one_link, refused
from pydantic import TypeAdapter

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.cli.summaries import print_results
from dumbbell.exceptions import ResultsError, ScenarioError
from dumbbell.metrics import number
from dumbbell.plan.build import build
from dumbbell.report import write_results_report
from dumbbell.results.statistics.slowdowns import ALL, slowdown_table, transfer_summary
from dumbbell.scenario.flow.sizes import Sizes, SizesPart
from dumbbell.scenario.layout.offered_load import wire_bytes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SIZES: TypeAdapter[SizesPart] = TypeAdapter(Sizes)
DISTRIBUTIONS: list[Any] = [
    "web-search",
    "data-mining",
    "imc10",
    {"distribution": "exponential", "mean": "50 kB"},
    {"distribution": "uniform", "min": "5 kB", "max": "100 kB"},
    {"distribution": "pareto", "mean": "50 kB", "shape": 1.5},
    {"distribution": "pareto", "mean": "50 kB", "shape": 1, "max": "10 MB"},
    {"distribution": "pareto", "min": "5 kB", "shape": 0.7, "max": "10 MB"},
    {"distribution": "lognormal", "mean": "50 kB", "sigma": 2},
    {"distribution": "lognormal", "median": "5 kB", "sigma": 1},
]


def one_flow(application: dict[str, Any], **changes: Any) -> Scenario:
    """A scenario with one workload over 100 Mbit/s and a base RTT of 2 ms."""
    flow = {"name": "w", "variant": "cubic", "application": {"kind": "workload", **application}}
    return one_link(flow, **{"network": network("100 Mbit/s", "1 ms", queue="droptail"), **changes})


# ------------------------------------------------------------------ sizes and load


@pytest.mark.parametrize("given", DISTRIBUTIONS, ids=str)
def test_means_of_sizes_and_packets_follow_from_the_survival_function(given: Any) -> None:
    sizes = SIZES.validate_python(given)
    x = np.concatenate(([0.0], np.geomspace(1, 1e15, 40_001)))
    survival = np.array([sizes.survival(float(v)) for v in x])
    assert (np.diff(survival) <= 1e-12).all()
    assert sizes.mean == pytest.approx(np.trapezoid(survival, x), rel=1e-3)
    for size in (3e3, 2e5, 5e6):
        above = np.where(x >= size, survival, 0.0)
        assert sizes.excess(size) == pytest.approx(np.trapezoid(above, x), rel=0.01, abs=1.0)
    # The sum over packets of P(S > k payload), one term after the other.
    packets = sum(sizes.survival(k * 1448.0) for k in range(700_000)) if given == "web-search" else None
    if packets is not None:
        assert sizes.mean_packets(1448) == pytest.approx(packets, rel=1e-4)
    assert sizes.mean / 1448 < sizes.mean_packets(1448) < sizes.mean / 1448 + 1


@pytest.mark.parametrize("more", [{}, {"max": "1 MB"}])
def test_a_mean_gives_the_smallest_size(more: dict[str, str]) -> None:
    sizes = SIZES.validate_python({"distribution": "pareto", "mean": "50 kB", "shape": 1.5, **more})
    assert sizes.mean == pytest.approx(50_000, rel=1e-9)


def test_a_load_gives_a_rate_by_the_bytes_on_the_slowest_link() -> None:
    scenario = one_flow({"arrivals": {"load": 0.6}, "sizes": "10 kB"})
    # 10 kB are 7 packets of 1448 bytes with 52 bytes of headers each.
    assert wire_bytes(scenario.single_flows[0]) == 10_000 + 7 * 52
    assert scenario.layout.rates == [pytest.approx(0.6 * 1e8 / (8 * 10_364))]
    framed = scenario.with_changes({"network.bottleneck.overhead": "38 bytes"})
    assert framed.layout.rates == [pytest.approx(0.6 * 1e8 / (8 * (10_364 + 7 * 38)))]
    copies = scenario.with_changes({"flows.w.count": 4})
    assert copies.layout.rates == [pytest.approx(0.6 * 1e8 / (8 * 10_364) / 4)] * 4


def test_the_offered_load_is_on_the_link() -> None:
    """Constant intervals: over 100 s, the share of the link is that which was asked, within 1 %."""
    scenario = one_flow(
        {"arrivals": {"load": 0.6, "process": "constant"}, "sizes": "100 kB"},
        duration="100 s",
        network=network(delay="1 ms", queue="droptail"),
    )
    results = dumbbell.run(scenario)
    link = next(row for row in results.runs[0].queues if row["name"] == "r1->r2")
    assert link["throughput_bps"] == pytest.approx(6e6, rel=0.01)
    (flow,) = results.runs[0].flows
    assert flow["transfers_started"] - flow["transfers_completed"] <= 1


@pytest.mark.parametrize("given", DISTRIBUTIONS, ids=str)
def test_sampled_sizes_have_the_stated_distribution(given: Any) -> None:
    """Kolmogorov-Smirnov at the level of 1 %, for the sizes of the transfers that a run has begun."""
    sizes = SIZES.validate_python(given)
    # They begin within 0.1 s; most of them don't complete.
    scenario = one_flow({"arrivals": {"rate": "40000 /s"}, "sizes": given, "count": 2000}, duration="100 ms", seed=5)
    drawn, counts = np.unique(dumbbell.run(scenario).transfers["bytes"].to_numpy(), return_counts=True)
    assert counts.sum() == 2000
    up_to = np.cumsum(counts) / 2000
    # Sizes are rounded to whole bytes: the function is compared half a byte beside its jumps.
    after = [1 - sizes.survival(float(b) + 0.5) for b in drawn]
    before = [1 - sizes.survival(float(b) - 0.5) for b in drawn]
    largest = max(np.abs(after - up_to).max(), np.abs(before - up_to + counts / 2000).max())
    assert largest * math.sqrt(2000) < 1.63


def test_a_poisson_process_offers_the_load_within_1_percent_over_100_s() -> None:
    """75,000 transfers of equal size: the relative standard deviation of their number is 0.37 %."""
    scenario = one_flow({"arrivals": {"load": 0.6}, "sizes": "10 kB"}, duration="100 s")
    results = dumbbell.run(scenario)
    offered = results.transfers.height * wire_bytes(scenario.single_flows[0]) * 8 / 100
    assert offered == pytest.approx(60e6, rel=0.01)
    link = next(row for row in results.runs[0].queues if row["name"] == "r1->r2")
    # The link carries 3 small packets of the sender for a transfer, too: SYN, ACK and FIN.
    assert link["throughput_bps"] == pytest.approx(60e6 * (1 + 3 * 54 / 10_364), rel=0.01)


@cache
def ten_thousand() -> Results:
    """10,000 transfers of the example, with a bound that keeps the run short."""
    sizes = {"distribution": "pareto", "mean": "8 kB", "shape": 1.2, "max": "1 MB"}
    return dumbbell.run(Scenario.load(EXAMPLES / "generated.toml", {"flows.short.application.sizes": sizes}))


def test_ten_thousand_transfers_have_the_stated_sizes_and_times() -> None:
    frame = ten_thousand().transfers
    assert frame.height == 10_000
    assert frame["end_s"].null_count() == 0
    sizes = SIZES.validate_python({"distribution": "pareto", "mean": "8 kB", "shape": 1.2, "max": "1 MB"})
    drawn, counts = np.unique(frame["bytes"].to_numpy(), return_counts=True)
    share = np.cumsum(counts) / frame.height
    below = np.array([1 - sizes.survival(float(b) + 0.5) for b in drawn])
    # Kolmogorov-Smirnov at the level of 1 %: sqrt(n) D <= 1.63.
    assert np.abs(below - share).max() * 100 < 1.63
    # The 10,000th arrival of a Poisson process is at 50 s, with a relative standard deviation of 1 %.
    start = frame["start_s"].to_numpy()
    assert start[-1] == pytest.approx(50, rel=0.03)
    intervals = np.sort(np.diff(start))
    rank = np.arange(1, intervals.size + 1) / intervals.size
    assert np.abs(1 - np.exp(-200 * intervals) - rank).max() * 100 < 1.63


def test_one_row_of_results_stands_for_the_transfers() -> None:
    (row,) = ten_thousand().runs[0].flows
    assert (row["name"], row["transfers_started"], row["transfers_completed"]) == ("short", 10_000, 10_000)
    assert row["delivered_bytes"] == ten_thousand().transfers["bytes"].sum()
    assert row["completion_time_s"] is not None


def test_variants_see_the_same_transfers() -> None:
    scenario = one_flow(
        {"arrivals": {"rate": "50 /s"}, "sizes": "imc10"},
        duration="2 s",
        repetitions=2,
        sweep={"flows.w.variant": ["reno", "bbr1"]},
    )
    frame = dumbbell.run(scenario).transfers.select("flows.w.variant", "repetition", "start_s", "bytes")
    reno, bbr = (frame.filter(pl.col("flows.w.variant") == v).drop("flows.w.variant") for v in ("reno", "bbr1"))
    assert reno.equals(bbr)
    first, second = (reno.filter(pl.col("repetition") == r)["bytes"].to_list() for r in (0, 1))
    assert first[:20] != second[:20]


def test_processor_sharing() -> None:
    """Many short transfers through a fair queue: M/G/1 with processor sharing, a mean slowdown of 1 / (1 - load).

    [Kleinrock 1976, section 4.4]: E[T | size x] = (x / C) / (1 - load), for any distribution of sizes. Transfers are
    written at once into connections that are open, with a window above every size, so that the queue at the
    bottleneck serves them; the time of propagation is 1 % of the mean transmission time.
    """
    stack = {"preset": "linux", "initial_window": "2000 packets", "handshake": False, "window": "64 MiB"}
    sizes = {"distribution": "pareto", "mean": "25 kB", "shape": 1.5, "max": "500 kB"}
    queue = {"discipline": "drr", "limit": "100000 packets"}
    over = network(delay="100 us", access="10 Gbit/s", queue=queue)
    scenario = one_flow({"arrivals": {"load": 0.6}, "sizes": sizes}, duration="300 s", network=over)
    changes = {"flows.w.variant": "newreno", "flows.w.stack": stack}
    frame = dumbbell.run(scenario.with_changes(changes)).transfers.drop_nulls("slowdown")
    assert frame.height > 8000
    # By size: packets of a finite size make the smallest transfers differ, so from five packets on.
    large = frame.filter(pl.col("bytes") > 5 * 1448)
    for low, high in ((5 * 1448, 20_000), (20_000, 60_000), (60_000, 600_000)):
        part = large.filter((pl.col("bytes") > low) & (pl.col("bytes") <= high))
        assert part["slowdown"].mean() == pytest.approx(2.5, rel=0.10), (low, high, part.height)


# ------------------------------------------------------------------ slowdown by size


@cache
def web_search() -> Results:
    """The example at 60 % load with ten repetitions, with small sizes, so that a short run has many transfers."""
    sizes = {"distribution": "web-search", "scale": 0.03}
    changes = {"duration": "1 s", "flows.web.variant": "dctcp", "flows.web.application.sizes": sizes}
    return dumbbell.run(Scenario.load(EXAMPLES / "web-search.toml", changes))


def test_slowdown_by_size_has_intervals_over_repetitions() -> None:
    table = web_search().slowdowns()
    bins = table.filter((pl.col("size") != ALL) & (pl.col("statistic") == "mean"))
    assert bins.height >= 7
    assert (bins["median_bytes"].diff().drop_nulls() > 0).all()
    for statistic in ("mean", "median", "p99"):
        rows = table.filter(pl.col("statistic") == statistic)
        assert (rows["n"] >= (5 if statistic == "p99" else 10)).all()
        assert ((rows["low"] <= rows["value"]) & (rows["value"] <= rows["high"])).all()
        assert (rows["value"] >= 0.99).all()
    whole = table.filter((pl.col("size") == ALL) & (pl.col("statistic") == "mean")).row(0, named=True)
    frame = web_search().transfers
    assert whole["transfers"] + whole["incomplete"] == frame.height
    by_repetition = frame.drop_nulls("slowdown").group_by("repetition").agg(pl.col("slowdown").mean())
    assert whole["value"] == pytest.approx(by_repetition["slowdown"].mean())


def test_the_summary_has_means_over_repetitions() -> None:
    summary = transfer_summary(web_search())
    (row,) = summary.frame().iter_rows(named=True)
    frame = web_search().transfers
    parts = frame.partition_by("repetition")
    assert (row["name"], row["transfers"]) == ("web", frame.height / 10)
    assert row["incomplete"] == frame["end_s"].null_count() / 10
    medians = [np.sort(part["took_s"].drop_nulls())[(part["took_s"].count() + 1) // 2 - 1] for part in parts]
    assert row["median ms"] == pytest.approx(1e3 * np.mean(medians))
    whole = web_search().slowdowns().filter((pl.col("size") == ALL) & (pl.col("statistic") == "mean"))
    assert row["mean slowdown"] == pytest.approx(whole["value"][0])


def test_the_printed_results_have_the_transfers(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(web_search(), every_row=False)
    printed = capsys.readouterr().out
    assert "web search: transfers (mean of 10 repetitions)" in printed
    assert "mean slowdown" in printed


def test_a_poisson_process_varies_the_timing_and_the_copies_of_a_flow_are_named_once() -> None:
    found = {}
    for process in ("poisson", "constant"):
        scenario = one_flow({"arrivals": {"rate": "100 /s", "process": process}, "sizes": "10 kB"}, duration="1 s")
        results = dumbbell.run(scenario.with_changes({"flows.w.count": 2}))
        found[process] = {warned.name: warned.text for warned in results.lint()}
    assert "phase-effects" not in found["poisson"]
    assert "the copies of flow 'w' start at the same instant" in found["constant"]["phase-effects"]


def test_percentiles_are_those_of_each_repetition() -> None:
    frame = web_search().transfers.filter(pl.col("bytes") <= 2000).drop_nulls("slowdown")
    expected = [
        np.sort(part["slowdown"].to_numpy())[int(np.ceil(0.99 * part.height)) - 1]
        for part in frame.partition_by("repetition")
    ]
    table = web_search().slowdowns(bins=["2 kB"])
    row = table.filter((pl.col("size") == "up to 2 kB") & (pl.col("statistic") == "p99")).row(0, named=True)
    assert row["value"] == pytest.approx(np.mean(expected))
    assert set(table["size"]) == {"up to 2 kB", "over 2 kB", ALL}


def test_the_figure_is_as_the_literature_draws_it() -> None:
    picture = web_search().plot.slowdown().picture
    assert [panel.title for panel in picture.panels] == ["mean", "median", "99th percentile"]
    for panel in picture.panels:
        assert panel.x_log
        assert panel.y_log
        (curve,) = panel.curves
        assert curve.low is not None
        assert len(curve.x) >= 7
        assert (np.diff(curve.x) > 0).all()


def test_slowdowns_are_in_json_and_in_the_report(tmp_path: Path) -> None:
    scenario = one_flow({"arrivals": {"rate": "40 /s"}, "sizes": "imc10"}, duration="2 s", repetitions=3)
    results = dumbbell.run(scenario, out=tmp_path / "kept")
    document = json.loads(json.dumps(results.document(), allow_nan=False))
    assert {row["statistic"] for row in document["slowdowns"]} == {"mean", "median", "p95", "p99"}
    write_results_report(tmp_path / "kept", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Slowdown of transfers by size" in page
    assert "Transfers by size" in page
    # The summary and the first figure show completion times: the goodput is the load that was asked for.
    mean = results.slowdowns().filter((pl.col("size") == ALL) & (pl.col("statistic") == "mean"))["value"][0]
    assert f"mean slowdown {number(mean)} [" in page
    assert "Flow 'w': goodput" not in page
    assert page.index("Slowdown of transfers by size") < page.index("Goodput")
    again = dumbbell.read_results(tmp_path / "kept")
    assert again.slowdowns().equals(results.slowdowns())
    assert slowdown_table(again).columns[:3] == ["flow", "size", "transfers"]


def test_only_transfers_of_the_measured_time_count() -> None:
    scenario = one_flow({"arrivals": {"rate": "40 /s"}, "sizes": "5 kB"}, measure_from="5 s")
    results = dumbbell.run(scenario)
    row = results.slowdowns().row(0, named=True)
    late = results.transfers.filter(pl.col("start_s") >= 5)
    assert row["transfers"] + row["incomplete"] == late.height < results.transfers.height


def test_results_without_workloads_have_no_slowdowns(base: Scenario) -> None:
    results = dumbbell.run(base)
    assert "slowdowns" not in results.document()
    with pytest.raises(ResultsError, match="no generated transfers"):
        results.slowdowns()


# ------------------------------------------------------------------ incast and copies


def test_incast_begins_together_and_its_rounds_take_longer_with_more_servers() -> None:
    scenario = Scenario.load(EXAMPLES / "incast.toml", {"sweep": {"flows.server.count": [5, 40]}})
    results = dumbbell.run(scenario)
    frame = results.rounds()
    few, many = (frame.filter(pl.col("flows.server.count") == n) for n in (5, 40))
    assert few["transfers"].unique().to_list() == [5]
    assert many["transfers"].unique().to_list() == [40]
    assert few.height == many.height == 20
    assert results.transfers.group_by("flows.server.count", "number").agg(pl.col("start_s").n_unique())[
        "start_s"
    ].unique().to_list() == [1]
    # 5 x 32 kB take 1.3 ms at 1 Gbit/s without a loss; 40 overflow the buffer, and some wait for a timeout of 200 ms.
    assert few["took_s"].to_numpy().max() < 0.01
    assert many["took_s"].drop_nulls().to_numpy().max() > 0.1


def test_copies_differ_by_their_spread() -> None:
    scenario = Scenario.load(EXAMPLES / "many.toml")
    flows = scenario.single_flows
    assert [flow.name for flow in flows[:2]] == ["user-1", "user-2"]
    assert len(flows) == 50
    plan = build(scenario.cells[0].scenario, seed=3)
    assert [f["transport"]["variant"]["name"] for f in plan["flows"][:3]] == ["cubic", "bbr3", "cubic"]
    delays = {link["name"]: link["delay_ns"] for link in plan["links"]}
    assert (delays["s1->r1"], delays["s50->r1"]) == (1_000_000, 20_000_000)
    results = dumbbell.run(scenario.with_changes({"duration": "6 s", "measure_from": "0 s"}))
    starts = results.flows["start_s"].to_numpy()
    assert 0 <= starts.min() < 1
    assert 4 < starts.max() <= 5
    rtts = results.flows["idle_rtt_ms"].to_list()
    assert rtts[-1] - rtts[0] == pytest.approx(4 * 19, abs=0.1)
    assert Scenario.from_toml(scenario.to_toml()) == scenario


def test_copies_can_start_one_after_the_other() -> None:
    scenario = one_flow({"arrivals": {"rate": "6 /s"}, "sizes": "1 kB"})
    changed = scenario.with_changes({"flows.w.count": 3, "flows.w.spread": {"every": "2 s"}})
    plan = build(changed, seed=1)
    assert [flow["start_ns"] for flow in plan["flows"]] == [0, 2 * 10**9, 4 * 10**9]
    assert [flow["application"]["arrivals"]["per_s"] for flow in plan["flows"]] == [2.0, 2.0, 2.0]
    assert [flow["application"]["arrivals_of"] for flow in plan["flows"]] == ["w-1", "w-2", "w-3"]


def test_a_sweep_varies_a_workload() -> None:
    scenario = one_flow(
        {"arrivals": {"load": 0.2}, "sizes": "10 kB"}, sweep={"flows.w.application.arrivals.load": [0.2, 0.4]}
    )
    first, second = (cell.scenario.layout.rates[0] for cell in scenario.cells)
    assert second == pytest.approx(2 * (first or 0))


# ------------------------------------------------------------------ examples, files, refusals


@pytest.mark.parametrize("name", ["data-mining", "own-sizes"])
def test_examples(name: str) -> None:
    results = dumbbell.run(Scenario.load(EXAMPLES / f"{name}.toml", {"duration": "8 s"}))
    for row in results.flows.iter_rows(named=True):
        assert row["transfers_completed"] >= 0.9 * row["transfers_started"] > 0
    if name == "own-sizes":
        own = results.transfers.filter(pl.col("flow") == "trace")
        assert own["start_s"].to_list() == [0.5, 0.51, 2.0, 2.25, 7.0]
        assert own["bytes"].to_list() == [20_000, 20_000, 300_000, 1500, 800_000]


def test_files_are_stored_with_the_results(tmp_path: Path) -> None:
    (tmp_path / "cdf.txt").write_text("1000 20\n5000 100\n", encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        one_flow({"arrivals": {"rate": "10 /s"}, "sizes": "1 kB"})
        .to_toml()
        .replace('sizes = "1 kB"', 'sizes = { distribution = "file", file = "cdf.txt" }'),
        encoding="utf-8",
    )
    results = dumbbell.run(Scenario.load(tmp_path / "s.toml", {"duration": "3 s"}), out=tmp_path / "kept")
    (tmp_path / "cdf.txt").unlink()
    assert dumbbell.read_results(tmp_path / "kept").slowdowns().equals(results.slowdowns())


BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"arrivals": {}}, ["application.arrivals.rate: needed"]),
    ({"arrivals": {"rate": "10 /s", "load": 0.5}}, ["arrivals.load", "'rate' and 'load' exclude each other"]),
    ({"arrivals": {"rate": "10"}}, ["arrivals.rate", "no unit", '"200 /s"']),
    ({"arrivals": {"load": 0}}, ["arrivals.load", "above 0"]),
    ({"arrivals": {"file": "none.txt"}}, ["arrivals.file: 'none.txt' can't be read"]),
    ({"sizes": None}, ["application.sizes: needed"]),
    ({"sizes": "web-serach"}, ["application.sizes: unknown distribution 'web-serach': did you mean 'web-search'?"]),
    ({"sizes": {"distribution": "pareto", "mean": "1 kB", "shape": 0.9}}, ["shape: 0.9 given", "mean is infinite"]),
    ({"sizes": {"distribution": "pareto", "shape": 1.2}}, ["mean: needed"]),
    ({"sizes": {"distribution": "lognormal", "sigma": 1}}, ["mean: needed"]),
    ({"sizes": {"distribution": "uniform", "min": "2 kB", "max": "1 kB"}}, ["max: '1 kB' given", "'2 kB'"]),
    ({"sizes": {"distribution": "file", "file": "none.txt"}}, ["file: 'none.txt' can't be read: No such file"]),
    (
        {"arrivals": {"load": 0.5}, "sizes": {"distribution": "pareto", "min": "1 kB", "shape": 1}},
        ["arrivals.load: the sizes have no finite mean"],
    ),
    ({"arrivals": {"rate": "1e6 /s"}}, ["application.arrivals: about 1e+07 transfers would arrive"]),
]


@pytest.mark.parametrize(("changes", "parts"), BAD, ids=[" ".join(parts)[:50] for _, parts in BAD])
def test_refusals(changes: dict[str, Any], parts: list[str]) -> None:
    given = {"arrivals": {"rate": "10 /s"}, "sizes": "10 kB", **changes}
    with refused(*parts):
        one_flow(given)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("1000 0.5\n", "the share of its last line must be 1 or 100"),
        ("1000 0.5\n500 1\n", "sizes and shares must ascend"),
        ("1000 x\n", "line 1 is no list of numbers"),
        ("1000\n", "line 1 has 1 numbers"),
        ("0 0.5\n10 1\n", "sizes must be above zero"),
        ("nan 0.5\n10 1\n", "sizes finite"),
    ],
)
def test_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, why: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cdf.txt").write_text(lines, encoding="utf-8")
    with pytest.raises(ScenarioError, match=why):
        one_flow({"arrivals": {"rate": "10 /s"}, "sizes": {"distribution": "file", "file": "cdf.txt"}})


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"flows.w.transport": "udp", "flows.w.variant": None}, "'workload' needs tcp"),
        ({"flows.w.spread": {"every": "1 s"}}, "a spread needs several copies: set count"),
        ({"flows.w.count": 2, "flows.w.spread": {"variants": ["reno"]}}, "exclude each other"),
        ({"flows.w.count": 2, "flows.w.spread": {}}, "needed: at least one"),
        ({"flows.w.count": 20, "flows.w.spread": {"every": "1 s"}}, "flows.w.spread: copy 'w-11' may start after"),
        ({"flows.w.count": 0}, "at least 1"),
        ({"trace": {"series": True, "only": ["w"]}}, "a workload has no series"),
    ],
)
def test_refused_flows(changes: dict[str, Any], part: str) -> None:
    scenario = one_flow({"arrivals": {"rate": "10 /s"}, "sizes": "10 kB"})
    with refused(part):
        scenario.with_changes(changes)
