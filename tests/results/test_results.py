"""Runs, frames, series and the directory that keeps them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell import Results, ResultsError, Scenario, ScenarioError
from dumbbell.backends import Finished, Job, Simulator
from dumbbell.metrics import summarize
from dumbbell.results.frames.summary import short_names

SWEEP = {
    "sweep": {"flows.tcp.variant": ["reno", {"name": "vegas", "alpha": 2}], "network.bottleneck.loss": ["0 %", "1 %"]}
}


class KilledError(Exception):
    """Represents any reason that ends a process during its work."""


class Dying(Simulator):
    """A simulator whose process dies after some runs."""

    def __init__(self, after: int) -> None:
        self.after = after

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        for count, finished in enumerate(super().run(jobs, parallel)):
            if count == self.after:
                raise KilledError
            yield finished


class Counting(Simulator):
    """A simulator that counts its runs."""

    runs = 0

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        for finished in super().run(jobs, parallel):
            self.runs += 1
            yield finished


def content(directory: Path) -> dict[str, bytes]:
    """Every file but the manifest."""
    files = (p for p in sorted(directory.rglob("*")) if p.is_file() and p.name != "manifest.json")
    return {str(p.relative_to(directory)): p.read_bytes() for p in files}


def test_frames(changed: Callable[..., Scenario]) -> None:
    results = dumbbell.run(changed(SWEEP))
    assert len(results) == 2 * 2 * 2
    swept = ["flows.tcp.variant", "network.bottleneck.loss", "network.bottleneck.loss_share"]
    assert results.flows.columns[:7] == [*swept, "run", "repetition", "seed", "name"]
    assert results.flows.height == 8 * 2
    assert set(results.flows["flows.tcp.variant"]) == {"reno", "vegas(alpha=2)"}
    # Cells are paired: every cell has the same seeds.
    assert results.flows.group_by("seed").len()["len"].to_list() == [8, 8]
    lossy = results.flows.filter(pl.col("network.bottleneck.loss") == "1 %", pl.col("name") == "tcp")
    assert lossy["dropped_packets"].sum() > 0
    assert "utilization" in results.queues.columns
    assert "runs" in repr(results)
    assert "<table" in results._repr_html_()


def test_short_names_stay_distinct() -> None:
    paths = ["flows.a.variant", "flows.b.variant", "network.bottleneck.queue.limit", "duration"]
    assert list(short_names(paths).values()) == ["a.variant", "b.variant", "queue.limit", "duration"]
    twins = ["flows.a.application.rate", "flows.b.application.rate"]
    assert list(short_names(twins).values()) == ["a.application.rate", "b.application.rate"]


def test_repetitions_differ_and_runs_repeat(base: Scenario) -> None:
    first, second = dumbbell.run(base), dumbbell.run(base)
    assert first.document() == second.document()
    a, b = (run.flows for run in first.runs)
    assert a != b


@pytest.mark.parametrize("trace", [False, True])
def test_jobs_never_change_results(changed: Callable[..., Scenario], tmp_path: Path, trace: bool) -> None:
    scenario = changed({**SWEEP, "trace.series": trace})
    dumbbell.run(scenario, jobs=1, out=tmp_path / "one")
    dumbbell.run(scenario, jobs=2, out=tmp_path / "two")
    assert content(tmp_path / "one") == content(tmp_path / "two")


@pytest.mark.parametrize("trace", [False, True])
def test_a_killed_run_is_continued(changed: Callable[..., Scenario], tmp_path: Path, trace: bool) -> None:
    scenario = changed({**SWEEP, "trace.series": trace})
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    dumbbell.run(scenario, out=whole)
    with pytest.raises(KilledError):
        dumbbell.run(scenario, out=broken, jobs=1, backend=Dying(after=3))
    assert len((broken / "runs" / "journal.jsonl").read_text().splitlines()) == 1 + 3
    assert json.loads((broken / "manifest.json").read_text())["finished"] is None
    counting = Counting()
    results = dumbbell.run(scenario, out=broken, backend=counting)
    assert counting.runs == 8 - 3
    assert content(whole) == content(broken)
    assert results.flows.equals(Results.load(whole).flows)
    assert json.loads((broken / "manifest.json").read_text())["finished"] is not None


@pytest.mark.parametrize("damage", ["row", "file", "lost"])
def test_damaged_runs_are_found_and_made_again(base: Scenario, tmp_path: Path, damage: str) -> None:
    dumbbell.run(base, out=tmp_path / "out")
    before = content(tmp_path / "out")
    [victim] = (tmp_path / "out" / "runs").iterdir()
    rows = pl.read_parquet(victim)
    if damage == "row":  # a goodput that somebody has edited
        edited = [rows["run"][0].replace('"goodput_bps": ', '"goodput_bps": 1'), *rows["run"][1:]]
        rows.with_columns(run=pl.Series(edited)).write_parquet(victim)
    elif damage == "file":
        victim.write_bytes(victim.read_bytes()[:100])
    else:
        victim.unlink()
    read = Results.load(tmp_path / "out")
    left = rows.height - 1 if damage == "row" else 0
    assert (len(read), read.damaged, read.flows.height) == (left, damage != "lost", 2 * left)
    counting = Counting()
    results = dumbbell.run(base, out=tmp_path / "out", backend=counting)
    assert counting.runs == rows.height - left
    assert content(tmp_path / "out") == before
    assert (len(results), results.damaged) == (rows.height, 0)


def test_an_edited_table_is_not_read(base: Scenario, tmp_path: Path) -> None:
    flows = dumbbell.run(base, out=tmp_path / "out").flows
    file = tmp_path / "out" / "flows.parquet"
    pl.read_parquet(file).with_columns(goodput_bps=pl.lit(1e9)).write_parquet(file)
    assert Results.load(tmp_path / "out").flows.equals(flows)


def test_a_lost_manifest_is_made_again(base: Scenario, tmp_path: Path) -> None:
    flows = dumbbell.run(base, out=tmp_path / "out").flows
    (tmp_path / "out" / "manifest.json").unlink()
    assert Results.load(tmp_path / "out").flows.equals(flows)
    counting = Counting()
    dumbbell.run(base, out=tmp_path / "out", backend=counting)
    assert counting.runs == 0
    assert (tmp_path / "out" / "manifest.json").exists()


def test_another_build_is_refused(base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumbbell.run(base, out=tmp_path / "out")
    monkeypatch.setattr("dumbbell.results.store.directory.build_hash", lambda: "0123456789abcdef")
    with pytest.raises(ResultsError, match="holds results of another build of dumbbell"):
        dumbbell.run(base, out=tmp_path / "out")
    assert len(Results.load(tmp_path / "out")) == 2


def test_more_repetitions_run_only_the_new_ones(base: Scenario, tmp_path: Path) -> None:
    dumbbell.run(base, out=tmp_path / "out")
    counting = Counting()
    results = dumbbell.run(base, out=tmp_path / "out", repetitions=5, backend=counting)
    assert counting.runs == 3
    assert len(results) == 5
    assert len(Results.load(tmp_path / "out")) == 5


@pytest.mark.parametrize(
    ("changes", "part"), [({"network.bottleneck.rate": "3 Mbit/s"}, "network"), ({"seed": 8}, "seed"), (SWEEP, "sweep")]
)
def test_another_scenario_is_refused(
    base: Scenario, changed: Callable[..., Scenario], tmp_path: Path, changes: dict[str, Any], part: str
) -> None:
    dumbbell.run(base, out=tmp_path / "out")
    before = content(tmp_path / "out")
    with pytest.raises(ResultsError, match=rf"holds another scenario \('base'; {part} differs\)"):
        dumbbell.run(changed(changes), out=tmp_path / "out")
    assert content(tmp_path / "out") == before


def test_foreign_directory_is_refused(base: Scenario, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ResultsError, match="not empty, and not a results directory"):
        dumbbell.run(base, out=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="can't be written"):
        dumbbell.run(base, out=tmp_path / "file")


def test_other_version_is_refused(base: Scenario, tmp_path: Path) -> None:
    dumbbell.run(base, out=tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f'"version": "{dumbbell.__version__}"', '"version": "0.0.1"'))
    with pytest.raises(ResultsError, match=r"holds results of dumbbell 0\.0\.1"):
        dumbbell.run(base, out=tmp_path / "out")


def test_parquet_holds_the_frames(base: Scenario, tmp_path: Path) -> None:
    results = dumbbell.run(base, out=tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "flows.parquet").equals(results.flows)
    assert pl.read_parquet(tmp_path / "out" / "queues.parquet").equals(results.queues)


def test_directory_may_move(base: Scenario, tmp_path: Path) -> None:
    results = dumbbell.run(base, out=tmp_path / "out", trace=True)
    shutil.move(tmp_path / "out", tmp_path / "moved")
    again = Results.load(tmp_path / "moved")
    assert again.scenario == results.scenario
    assert again.flows.equals(results.flows)
    assert again.series(0, "cwnd", flow="tcp").height > 0


@pytest.mark.parametrize("stored", [False, True])
def test_series(base: Scenario, tmp_path: Path, stored: bool) -> None:
    results = dumbbell.run(base, trace=True, out=tmp_path / "out" if stored else None)
    cwnd = results.series(0, "cwnd", flow="tcp")
    assert cwnd.columns == ["time_s", "cwnd"]
    assert cwnd["time_s"].is_sorted()
    assert 0 <= cwnd["time_s"][0] < 0.2
    assert cwnd["time_s"][-1] <= 2.0
    srtt = results.series(results.runs[0], "srtt", flow="tcp")["srtt"].drop_nans()
    mean = srtt.mean()
    assert isinstance(mean, float)
    assert 40 < mean < 200  # ms; the base RTT is 40 ms
    assert results.series(0, "cwnd").columns == ["time_s", "cwnd", "flow"]
    assert results.series(0, "packets", queue="r1->r2").height > 0
    with pytest.raises(ResultsError, match="unknown column 'cwnf': did you mean 'cwnd'"):
        results.series(0, "cwnf", flow="tcp")
    with pytest.raises(ResultsError, match="unknown table 'flow/tpc'"):
        results.series(0, "cwnd", flow="tpc")
    with pytest.raises(ResultsError, match="no run 2 exists"):
        results.series(2, "cwnd")


def test_series_without_trace_are_an_error_with_a_hint(base: Scenario) -> None:
    with pytest.raises(ResultsError, match=r"trace\.series = true"):
        dumbbell.run(base).series(0, "cwnd")


def test_path_is_taken_for_a_scenario(base_file: Path) -> None:
    results = dumbbell.run(base_file, seed=9, repetitions=1, changes={"duration": "1 s"})
    assert (results.scenario.seed, results.scenario.duration) == (9, "1 s")


def test_repetitions_until_the_interval_is_narrow(changed: Callable[..., Scenario], tmp_path: Path) -> None:
    noisy = {"until": {"half_width": "0.4 %", "flow": "tcp", "at_most": 40}, "repetitions": 4}
    swept = {"sweep": {"flows.cbr.application.rate": ["1.5 Mbit/s", "0.2 Mbit/s"]}}
    results = dumbbell.run(changed({**noisy, **swept}), out=tmp_path / "out")
    quiet, busy = (len(runs) for runs in results.by_cell())
    assert quiet < busy <= 40  # the noisier cell needs more
    for runs in results.by_cell():
        values = [run.flows[0]["goodput_bps"] for run in runs]
        narrow = [_half_width(values[:n]) <= 0.004 for n in range(4, len(values) + 1, 5)]
        assert narrow[-1] or len(values) == 40
        assert not any(narrow[:-1])  # it stopped at the first that is
    # The runs are the first ones of a longer series, and a second call finds them all.
    counting = Counting()
    again = dumbbell.run(changed({**noisy, **swept}), out=tmp_path / "out", backend=counting, jobs=1)
    assert counting.runs == 0
    assert again.flows.equals(results.flows)
    assert Results.load(tmp_path / "out").flows.equals(results.flows)
    with pytest.raises(ScenarioError, match="did you mean 'goodput_bps'"):
        dumbbell.run(changed({"until": {"half_width": "3 %", "metric": "godput_bps"}}))


def _half_width(values: list[float]) -> float:
    found = summarize(values)
    return (found.high - found.low) / 2 / found.value


def test_only_some_tables_are_traced(changed: Callable[..., Scenario]) -> None:
    some = changed({"trace.series": ["flows", "drops"], "repetitions": 1})
    tables = dumbbell.run(some).tables()
    assert any(t.startswith("drops/") for t in tables)
    assert {t.split("/")[0] for t in tables} == {"flow", "rtt", "drops"}
    one = changed({"trace.series": ["queues"], "trace.only": ["r1->r2"], "repetitions": 1})
    few = dumbbell.run(one)
    assert few.tables() == ["queue/r1->r2"]
    every = dumbbell.run(changed({"trace.series": True, "repetitions": 1}))
    assert few.table(0, "queue/r1->r2").equals(every.table(0, "queue/r1->r2"))
