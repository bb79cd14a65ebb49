"""The command ``dumbbell results``: summary, queries, export, verification, merging."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_store_faults import scenario

import dumbbell
from dumbbell import Results
from dumbbell.exceptions import ResultsError
from dumbbell.results.frames.export import write_csv
from dumbbell.results.running.repair_and_merge import merge, repair

Cli = Callable[..., Any]


SMALL: dict[str, Any] = {"duration": "200 ms", "sweep": {"network.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"]}}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    dumbbell.run(scenario(**SMALL), out=tmp_path / "kept")
    return tmp_path / "kept"


def out(done: Any) -> str:
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_summary(cli: Cli, kept: Path) -> None:
    text = out(cli("results", str(kept)))
    assert "scenario  faults" in text and "runs      4 of 2 cells" in text and "missing" not in text
    assert "mean of 2 repetitions" in text
    assert json.loads(out(cli("results", str(kept), "--json"))) == Results.load(kept).document()


def test_query(cli: Cli, kept: Path) -> None:
    query = "SELECT name, count(*) AS n FROM flows GROUP BY name"
    assert json.loads(out(cli("results", "query", str(kept), query, "--json"))) == [{"name": "a", "n": 4}]
    wrong = cli("results", "query", str(kept), "SELECT nothing FROM flows")
    assert wrong.returncode == 2 and "SQL: Binder Error" in wrong.stderr and "Traceback" not in wrong.stderr
    # A query reads no file.
    file = cli("results", "query", str(kept), "SELECT * FROM read_text('/etc/hostname')")
    assert file.returncode == 2 and "disabled" in file.stderr


def test_export(cli: Cli, kept: Path, tmp_path: Path) -> None:
    flows = Results.load(kept).flows
    csv = out(cli("results", "export", str(kept)))
    assert pl.read_csv(csv.encode())["goodput_bps"].to_list() == flows["goodput_bps"].to_list()
    assert len(json.loads(out(cli("results", "export", str(kept), "--format", "json", "--table", "queues")))) > 4
    out(cli("results", "export", str(kept), "--format", "parquet", "--out", str(tmp_path / "f.parquet")))
    assert pl.read_parquet(tmp_path / "f.parquet").equals(flows)
    assert "give the file with --out" in cli("results", "export", str(kept), "--format", "parquet").stderr


def test_a_text_in_csv_is_no_formula() -> None:
    frame = pl.DataFrame({"name": ["=1+1", "@x", "-a", "plain"], "value": [-1.0, 2.0, 3.0, 4.0]})
    assert write_csv(frame).splitlines() == ["name,value", "'=1+1,-1.0", "'@x,2.0", "'-a,3.0", "plain,4.0"]


def test_verify_finds_damaged_runs_and_makes_them_again_on_request(cli: Cli, kept: Path) -> None:
    flows = Results.load(kept).flows
    assert "4 runs, all whole" in out(cli("results", "verify", str(kept)))
    [batch] = (kept / "runs").iterdir()
    rows = pl.read_parquet(batch)
    rows.with_columns(run=pl.col("run").str.replace('"drops": 0', '"drops": 1')).write_parquet(batch)
    summary = cli("results", str(kept))
    assert "4 stored runs left out as damaged" in summary.stderr and "4 missing" in summary.stdout
    before = {file: file.read_bytes() for file in kept.rglob("*") if file.is_file()}
    done = cli("results", "verify", str(kept))
    assert (done.returncode, done.stdout) == (1, f"{kept}: 4 runs missing or damaged: --repair makes them again\n")
    assert before == {file: file.read_bytes() for file in kept.rglob("*") if file.is_file()}
    assert cli("results", "verify", str(kept), "--jobs", "1").returncode == 2
    done = cli("results", "verify", str(kept), "--repair", "--jobs", "1")
    assert "4 runs missing or damaged: making them again" in done.stderr and "all whole" in out(done)
    assert Results.load(kept).flows.equals(flows)


@pytest.mark.usefixtures("allow_code")
def test_code_in_a_results_directory_never_runs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def __init__(self, setup): self.cwnd = 15000\n"
        "    def on_ack(self, ack): pass\n    def on_congestion(self, event): pass\n"
    )
    own = [{"name": "a", "variant": {"python": str(tmp_path / "mine.py:Mine")}}]
    dumbbell.run(scenario(**SMALL, flows=own), out=tmp_path / "kept")
    with pytest.raises(ResultsError, match="and code in a results directory never runs"):
        Results.load(tmp_path / "kept").harm()
    with pytest.raises(
        ResultsError, match=r"own code \('.*mine\.py:Mine'\), and code in a results directory never runs"
    ):
        repair(tmp_path / "kept")


def test_merge(tmp_path: Path) -> None:
    swept = scenario(**SMALL, trace={"series": True})
    whole = dumbbell.run(swept, out=tmp_path / "whole")
    for name, number in (("a", 0), ("b", 1)):
        part = dumbbell.run(swept, out=tmp_path / name, only=swept.cells[number].__eq__)
        assert len(part) == 2
    merged = merge(tmp_path / "all", [tmp_path / "a", tmp_path / "b"])
    assert merged.flows.equals(whole.flows)
    assert merged.table(3, "flow/a").equals(whole.table(3, "flow/a"))
