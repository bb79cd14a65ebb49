"""The command line: exit codes, streams, documents."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BASE

import dumbbell
from required import require
from waiting import cpu_s, wait_until

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def ok(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_version(cli: Cli) -> None:
    assert ok(cli("--version")) == f"dumbbell {dumbbell.__version__}\n"


def test_run_prints_tables_on_stdout_and_nothing_else(cli: Cli, base_file: Path) -> None:
    done = cli("run", base_file)
    assert "goodput" in ok(done)
    assert "r1->r2" in done.stdout
    assert done.stderr == ""


def test_json_is_one_document_with_any_options(cli: Cli, base_file: Path) -> None:
    done = cli("run", base_file, "--json", "--out", "out", "--jobs", "2", "--trace")
    document = json.loads(ok(done))
    assert list(document) == ["runs"]
    assert [r["repetition"] for r in document["runs"]] == [0, 1]
    assert "kept in out" in done.stderr
    assert done.stdout.count("\n") == 1
    again = cli("run", base_file, "--json", "--out", "out", "--trace")
    assert again.stdout == done.stdout


def test_series_without_a_place_are_not_dropped_silently(cli: Cli, base_file: Path) -> None:
    done = cli("run", base_file, "--set", "trace.series=true", "--json")
    assert json.loads(ok(done))["runs"]
    assert "--out" in done.stderr


def test_options_change_the_scenario(cli: Cli, base_file: Path) -> None:
    args = ["--repetitions", "1", "--seed", "5", "--set", "flows.tcp.variant=vegas", "--json"]
    changed = [
        "--set",
        "network.bottleneck.rate=3 Mbit/s",
        "--set",
        "flows.tcp.stack={ preset = 'ns2', window = '9 packets' }",
    ]
    (run,) = json.loads(ok(cli("run", base_file, *args, *changed)))["runs"]
    assert run["flows"][0]["variant"] == "vegas"
    assert run["seed"] == dumbbell.Scenario.from_toml(BASE, {"seed": 5}).repetition_seed(0)


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["run"], "FILE"),
        (["run", "nowhere.toml"], "nowhere.toml: can't be read"),
        (["run", "base.toml", "--set", "flows.tcp.variant=brr"], "base.toml: flows.tcp.variant: unknown variant 'brr'"),
        (["run", "base.toml", "--set", "flows.tcp.varaint=reno"], "unknown key 'varaint': did you mean 'variant'?"),
        (["run", "base.toml", "--set", "flows.tpc.variant=reno"], "unknown name 'tpc': did you mean 'tcp'?"),
        (["run", "base.toml", "--set", "variant"], "PATH=VALUE"),
        (["run", "base.toml", "--set", "seed=1", "--set", "seed=2"], "twice"),
        (["run", "base.toml", "--jobs", "0"], "--jobs"),
        (["run", "base.toml", "--repetitions", "0"], "repetitions: 0 given"),
        (["run", "base.toml", "--trace"], "--out"),
        (["run", "base.toml", "--nonsense"], "nonsense"),
        (["variants", "vgas"], "unknown variant 'vgas': did you mean 'vegas'?"),
        (["disciplines", "rde"], "unknown queue discipline"),
        (["stacks", "ns3"], "did you mean 'ns2'?"),
        (["nonsense"], "nonsense"),
        (["report", "."], "neither results"),
        (["study", "show", "ns2"], "unknown study 'ns2'"),
        (["study", "run"], "NAME"),
        (["study", "run", "nothing"], "unknown study 'nothing'"),
        (["study", "run", "ns2-cbr", "--quick", "--out", "base.toml"], "base.toml"),
    ],
)
def test_wrong_use_ends_with_2_and_a_message(cli: Cli, base_file: Path, args: list[str], part: str) -> None:
    assert base_file.exists()
    done = cli(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert part in " ".join(done.stderr.split())


def test_registries(cli: Cli) -> None:
    assert "vegas" in ok(cli("variants"))
    assert "alpha" in ok(cli("variants", "vegas"))
    assert "droptail" in ok(cli("disciplines"))
    assert "max_p" in ok(cli("disciplines", "red"))
    assert "coupling_factor" in ok(cli("disciplines", "dualpi2"))
    assert "ns2" in ok(cli("stacks"))
    assert "20 packets" in ok(cli("stacks", "ns2"))
    assert json.loads(ok(cli("variants", "--json")))[0]["name"] == "tahoe"


def test_schema(cli: Cli) -> None:
    assert json.loads(ok(cli("schema")))["title"] == "Scenario"
    assert json.loads(ok(cli("schema", "--plan")))["title"] == "Plan of a run"
    assert json.loads(ok(cli("schema", "--qlog")))["title"] == "Record of a qlog file"


def test_closed_pipe_is_no_error_message(base_file: Path) -> None:

    command = f"{sys.executable} -m dumbbell schema | head -c 10"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=base_file.parent)
    assert done.stderr == ""


def test_killed_process_loses_nothing_finished(cli: Cli, base_file: Path, tmp_path: Path) -> None:
    args = ["run", str(base_file), "--set", "duration=20 s", "--repetitions", "40", "--json"]
    command = [sys.executable, "-m", "dumbbell", *args, "--out", str(tmp_path / "out"), "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "out" / "runs" / "journal.jsonl"
    wait_until(lambda: journal.exists() and len(journal.read_text().splitlines()) >= 1 + 5, process)
    process.kill()
    process.wait()
    assert len(journal.read_text().splitlines()) >= 1 + 5
    assert ok(cli(*args, "--out", tmp_path / "out")) == ok(cli(*args, "--out", tmp_path / "whole"))
    for table in ("flows.parquet", "queues.parquet"):
        assert (tmp_path / "out" / table).read_bytes() == (tmp_path / "whole" / table).read_bytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_run_ends_at_once(base_file: Path, tmp_path: Path, number: int, code: int, jobs: str) -> None:
    linux = Path("/proc/self/stat").exists()
    require("linux", None if linux else "the CPU time of the process is read from /proc")
    long = ["--set", "duration=100000 s", "--repetitions", "4", "--jobs", jobs]
    command = [sys.executable, "-m", "dumbbell", "run", str(base_file), *long, "--out", "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    wait_until((tmp_path / "out" / "runs").exists, process)
    start = cpu_s(process.pid)
    wait_until(lambda: cpu_s(process.pid) > start + 0.5, process)  # the runs, each of minutes, have begun
    begun = cpu_s(process.pid)
    process.send_signal(number)
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == code, said
    assert used.ru_utime + used.ru_stime < begun + 5
    assert not (tmp_path / "out" / ".partial").exists()
