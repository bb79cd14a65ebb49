"""Swept quantities have a column of numbers in base units beside their texts; frames go to pandas and DuckDB."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import BASE

import dumbbell
from dumbbell import Results, ResultsError, Scenario
from dumbbell.cli.compare import _rank
from dumbbell.results.frames.swept_values import base_units, paths_of
from dumbbell.results.statistics.changes import Change
from required import require_packages

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
RATES = ["12 Mbit/s", "500 kbit/s", "2 Mbit/s"]
SWEEP = {"network.bottleneck.rate": RATES, "flows.cbr.start": ["0 s", "100 ms"]}


@pytest.fixture(scope="module")
def results() -> Results:
    return dumbbell.run(Scenario.from_toml(BASE, {"sweep": SWEEP, "duration": "300 ms", "repetitions": 2}))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["12 Mbit/s", None, "500 kbit/s"], ("bps", [12_000_000, None, 500_000])),
        (["10 ms", "1 s"], ("s", [0.01, 1.0])),
        (["1 kB", "64 bytes"], ("bytes", [1000, 64])),
        (["20 packets", "2.5 packets"], ("packets", [20.0, 2.5])),
        (["1 %", "0.5 %"], ("share", [0.01, 0.005])),
        (["0.5 bdp", "2 bdp"], ("bdp", [0.5, 2.0])),
        (["20 packets", "1 bdp"], None),  # no common unit
        (["cubic", "reno"], None),
        ([1, 2], None),  # numbers already
        ([None], None),
    ],
)
def test_texts_of_one_kind_become_numbers(texts: list[object], expected: object) -> None:
    assert base_units(texts) == expected


def test_frames_sort_by_the_number(results: Results) -> None:
    for frame in (results.flows, results.queues):
        assert frame.columns[:7] == [
            *("network.bottleneck.rate", "network.bottleneck.rate_bps", "flows.cbr.start", "flows.cbr.start_s"),
            *("run", "repetition", "seed"),
        ]
        assert frame.schema["network.bottleneck.rate_bps"] == pl.Int64
        ordered = frame.sort("network.bottleneck.rate_bps", maintain_order=True)
        texts = ordered["network.bottleneck.rate"].unique(maintain_order=True).to_list()
        assert texts == ["500 kbit/s", "2 Mbit/s", "12 Mbit/s"]
        assert paths_of(frame) == list(SWEEP)


def test_tables_show_the_texts_alone(results: Results) -> None:
    table = results.statistics("goodput_bps")
    assert table.columns[:3] == ["network.bottleneck.rate", "flows.cbr.start", "name"]
    (cell, _), *_ = results.comparisons("goodput_bps", by="rate")
    assert list(cell) == ["flows.cbr.start", "name"]


@pytest.mark.parametrize(("call", "package"), [("to_pandas", "pandas"), ("to_duckdb", "duckdb")])
def test_a_missing_package_is_named(results: Results, monkeypatch: pytest.MonkeyPatch, call: str, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ResultsError, match=f"this needs {package} and pyarrow: pip install {package} pyarrow"):
        getattr(results, call)()


def test_frames_go_to_pandas(results: Results) -> None:
    require_packages("pandas", "pyarrow")
    frame = results.to_pandas("queues")
    assert list(frame.columns) == results.queues.columns
    assert frame["utilization"].tolist() == results.queues["utilization"].to_list()


def test_frames_go_to_duckdb(results: Results) -> None:
    require_packages("duckdb", "pyarrow")
    rate = "network.bottleneck.rate"
    query = f'SELECT "{rate}", avg(goodput_bps) FROM flows GROUP BY "{rate}", "{rate}_bps" ORDER BY "{rate}_bps"'
    found = results.to_duckdb().sql(query).fetchall()
    assert [rate for rate, _ in found] == ["500 kbit/s", "2 Mbit/s", "12 Mbit/s"]


def test_an_unknown_frame_is_an_error(results: Results) -> None:
    with pytest.raises(ResultsError, match=r"unknown table 'flow': did you mean 'flows'\?"):
        results.to_pandas("flow")  # type: ignore[arg-type]


def test_cells_are_listed_in_the_order_of_the_sweep(tmp_path: Path, cli: Cli) -> None:
    """As texts, "12 Mbit/s" is before "2 Mbit/s"; as times, "100 ms" is before "20 ms"."""
    rates, delays = ["500 kbit/s", "2 Mbit/s", "12 Mbit/s"], ["20 ms", "100 ms"]
    swept = {"network.bottleneck.rate": rates, "network.bottleneck.delay": delays}
    scenario = Scenario.from_toml(BASE, {"sweep": swept, "duration": "300 ms", "repetitions": 2})
    dumbbell.run(scenario, out=tmp_path / "a")
    dumbbell.run(scenario.with_changes({"flows.tcp.variant": "vegas"}), out=tmp_path / "b")
    kept = Results.load(tmp_path / "a")
    cells = [(rate, delay) for rate in rates for delay in delays]
    table = kept.statistics("goodput_bps").filter(pl.col("name") == "tcp")
    assert list(table.select(list(swept)).iter_rows()) == cells
    pairs = [(c.a, c.b) for cell, c in kept.comparisons("goodput_bps", "rate") if cell["name"] == "tcp"]
    assert pairs == [(rates[0], rates[1]), (rates[0], rates[2]), (rates[1], rates[2])] * 2
    changes = dumbbell.compare(tmp_path / "a", tmp_path / "b", ["start_s"])
    names = [f"bottleneck.rate {rate}, bottleneck.delay {delay}" for rate, delay in cells]
    found = list(dict.fromkeys(change.cell for change in changes))
    assert found == names
    # No start differs: all changes have the same rank, and the table keeps their order.
    shown = cli("compare", tmp_path / "a", tmp_path / "b", "--metric", "start_s", "--all").stdout
    assert [name for name in names if name in shown] == names
    places = [shown.index(name) for name in names]
    assert places == sorted(places)


def test_a_change_from_zero_keeps_the_others_in_order() -> None:
    """Its relative size is NaN, which compares with nothing: the table was in no order."""
    changes = [
        Change("", f"{a:g}", "drops", a, b, 5, 0.0, 1.0, 0.5, 1.0, paired=True)
        for a, b in ((1.0, 2.0), (0.0, 5.0), (2.0, 20.0), (0.0, 1.0), (4.0, 12.0))
    ]
    assert [change.who for change in sorted(changes, key=_rank)] == ["2", "4", "1", "0", "0"]
