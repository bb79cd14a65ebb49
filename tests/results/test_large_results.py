"""Results of many runs: summaries over whole columns equal those over runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.results.frames import summary
from dumbbell.results.runs import run_list
from dumbbell.results.statistics.cell_statistics import spread

DOCUMENT = {
    "name": "large",
    "duration": "1 s",
    "repetitions": 3,
    "start_jitter": "5 ms",
    "network": {
        "bottleneck": {"rate": "2 Mbit/s", "delay": "5 ms", "loss": "1 %"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    },
    "flows": [
        {"name": "a", "variant": "cubic"},
        {"name": "late", "variant": "reno", "start": "990 ms"},
        {"name": "u", "transport": "udp", "application": {"kind": "cbr", "rate": "1 Mbit/s", "packet": "500 bytes"}},
    ],
    "sweep": {
        "network.bottleneck.rate": ["12 Mbit/s", "2 Mbit/s"],
        "flows.a.variant": ["cubic", {"name": "vegas", "alpha": 1}],
    },
}


@pytest.mark.parametrize("kept", [True, False])
def test_means_over_columns_are_those_over_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    made = dumbbell.run(Scenario.from_dict(DOCUMENT), out=tmp_path / "out" if kept else None)
    results = Results.load(tmp_path / "out") if kept else made
    over_runs = summary.flow_summary(results), summary.queue_summary(results)
    assert len(over_runs[0].rows) == 4 * 3
    monkeypatch.setattr(summary, "LARGE", 0)
    over_columns = summary.flow_summary(results), summary.queue_summary(results)
    for a, b in zip(over_runs, over_columns, strict=True):
        assert (a.keys, a.metrics, len(a.rows)) == (b.keys, b.metrics, len(b.rows))
        for left, right in zip(a.rows, b.rows, strict=True):
            for one, other in zip(left, right, strict=True):
                # The order of a sum decides its last digits.
                assert one == other if not isinstance(one, float) else math.isclose(one, other, rel_tol=1e-12)


def test_runs_by_cell_are_the_same_whether_kept_or_read_when_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumbbell.run(Scenario.from_dict(DOCUMENT), out=tmp_path / "out")
    results = Results.load(tmp_path / "out")
    whole, changes = results.by_cell(), dumbbell.compare(results, results)
    monkeypatch.setattr(run_list, "LARGE", 0)
    read = results.by_cell()
    assert all(isinstance(runs, list) for runs in whole)
    assert not any(isinstance(runs, list) for runs in read)
    assert [list(runs) for runs in read] == whole
    assert [runs[1:] for runs in read] == [runs[1:] for runs in whole]
    assert [c.document() for c in dumbbell.compare(results, results)] == [c.document() for c in changes]


@pytest.mark.parametrize("metric", ["goodput_bps", "rtt_p95_ms", "utilization", "drops"])
def test_statistics_read_the_columns_that_they_need(tmp_path: Path, metric: str) -> None:
    dumbbell.run(Scenario.from_dict(DOCUMENT), out=tmp_path / "out")
    results = Results.load(tmp_path / "out")
    table, short = results.statistics(metric), spread(results, metric)
    assert not {"flows", "queues", "transfers"} & set(vars(results))
    assert table.columns[: len(short.columns) - 3] == short.columns[:-3]
    for name in ("mean", "median", "sd"):
        assert short[name].fill_null(-1.0).to_list() == pytest.approx(table[name].fill_null(-1.0).to_list(), rel=1e-12)
    rows = results.flows if metric in results.flows.columns else results.queues
    assert sorted(v for values in table["values"] for v in values if v is not None and not math.isnan(v)) == sorted(
        rows[metric].drop_nulls()
    )
