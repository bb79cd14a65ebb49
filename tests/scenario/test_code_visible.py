"""Code of a scenario is named before it runs, can be refused, and doesn't disturb the output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import BASE, FULL
from one_link import one_link
from own_code import LOUD, NEWRENO, VARIANT

import dumbbell
from dumbbell import Scenario, ScenarioError
from dumbbell.cli import announce, app
from dumbbell.results.running.estimate import Estimate, estimate, trial
from dumbbell.scenario.reading_modes import announce_before_cells
from dumbbell.studies import study

Cli = Callable[..., Any]
SHORT = BASE.replace('"2 s"', '"100 ms"').replace('start_jitter = "100 ms"', "")
COMMAND = SHORT + '[[flows]]\nname = "own"\ntransport = "udp"\napplication = { kind = "command", client = ["id"] }\n'


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return VARIANT.written_to(tmp_path, LOUD + NEWRENO).parent


def test_no_code_refuses_commands(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(COMMAND)
    done = cli("run", str(tmp_path / "s.toml"), "--no-code", "--backend", "kernel")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --no-code: flows.own.application.client starts a program: id\n"


def test_validate_names_code_too(cli: Cli, own: Path) -> None:
    done = cli("validate", str(own / "own.toml"), "--list", "--no-code")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --no-code: the scenario runs mine.py:Mine (Python)\n"
    assert not (own / "ran").exists()
    done = cli("validate", str(own / "own.toml"), "--list")
    assert done.returncode == 0, done.stderr
    assert "the scenario runs mine.py:Mine (Python)\n" in done.stderr and (own / "ran").exists()


REFUSED = "the scenario runs mine.py:Mine (Python), which isn't loaded here: "
LOADING = {
    "run": ["run", "own.toml"],
    "check": ["check", "own.toml"],
    "validate": ["validate", "own.toml", "--list"],
    "kernel plan": ["kernel", "plan", "own.toml"],
}
"""The commands that load the code of a scenario."""


@pytest.mark.parametrize("arguments", LOADING.values(), ids=LOADING)
def test_commands_that_load_code_name_it_before(arguments: list[str], own: Path, cli: Cli) -> None:
    refused = cli(*arguments, "--no-code")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "error: --no-code: the scenario runs mine.py:Mine (Python)\n"
    assert not (own / "ran").exists()
    done = cli(*arguments)
    before, name, _ = done.stderr.partition("the scenario runs mine.py:Mine (Python)\n")
    assert name and "loaded" not in before
    assert (own / "ran").exists()


def test_no_other_command_loads_code(own: Path, cli: Cli) -> None:
    """Each command with arguments that are files or directories: the scenario, or its folder."""
    refused, tried = [], 0
    for path, command in _commands(app):
        count = sum(isinstance(p, click.Argument) and isinstance(p.type, click.Path) for p in command.params)
        if not count or " ".join(path) in LOADING:
            continue
        for given in ("own.toml", "."):
            done = cli(*path, *[given] * count)
            tried += 1
            assert not (own / "ran").exists(), path
            if REFUSED in done.stderr:
                assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
                refused.append(" ".join(path))
    assert refused == ["studio"]
    assert tried >= 20


def _commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from _commands(command, (*path, name))
    else:
        yield path, group


def test_the_library_loads_code_only_where_a_program_allows_it(own: Path) -> None:
    file = own / "own.toml"
    document = {
        **Scenario.from_toml(SHORT).to_dict(),
        "flows": [{"name": "a", "variant": {"python": f"{own}/mine.py:Mine"}}],
    }
    readers: list[Callable[[], object]] = [
        lambda: dumbbell.load(file),
        lambda: dumbbell.run(file),
        lambda: dumbbell.run(document),
        lambda: Scenario.from_dict(document),
        lambda: Scenario(**document),
        lambda: Scenario.from_toml(SHORT, {"flows.*.variant": {"python": f"{own}/mine.py:Mine"}}),
    ]
    for read in readers:
        with pytest.raises(
            ScenarioError, match=r"mine\.py:Mine \(Python\), which isn't loaded here: `dumbbell run`"
        ) as error:
            read()
        assert "\n" not in str(error.value)
        assert not (own / "ran").exists()
    with dumbbell.allow_code():
        scenario = dumbbell.load(file)
        assert (own / "ran").exists()
    # What was allowed stays so: cells are made when they are needed, and changed scenarios are read again.
    assert scenario.with_changes({"duration": "50 ms"}).cells[0].scenario.flows
    with pytest.raises(ScenarioError, match="isn't loaded here"):
        dumbbell.load(file)


def test_stored_cases_never_run_code(cli: Cli, own: Path) -> None:
    scenario = {
        **one_link({"name": "a", "variant": "reno"}).to_dict(),
        "flows": [{"name": "a", "variant": {"python": str(own / "mine.py:Mine")}}],
    }
    (own / "cases.jsonl").write_text(json.dumps({"case": "a", "kernel": "1", "plan": "", "scenario": scenario}) + "\n")
    done = cli("validate", "stored", str(own))
    assert (done.returncode, done.stdout) == (2, "")
    assert "mine.py:Mine (Python), and code of stored cases never runs" in done.stderr
    assert not (own / "ran").exists()


def test_a_scenario_without_code_starts_no_program(tmp_path: Path) -> None:
    """Reading and simulating it: no process is started, and no connection made."""
    (tmp_path / "full.toml").write_text(FULL)
    script = """
import sys

def hook(event, arguments):
    if event.startswith(("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect")):
        sys.stderr.write(f"{event} {arguments}")

import dumbbell, dumbbell.results, polars
sys.addaudithook(hook)
dumbbell.run("full.toml", repetitions=1, jobs=1)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_scenarios_without_code_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SHORT)
    assert cli("run", str(tmp_path / "s.toml"), "--no-code").returncode == 0


def test_code_that_ends_the_program_is_an_error(cli: Cli, own: Path) -> None:
    (own / "mine.py").write_text("import sys\nsys.exit(0)\n")
    done = cli("run", str(own / "own.toml"))
    assert done.returncode == 2
    assert "mine.py, line 2: SystemExit: 0" in done.stderr and "Traceback" not in done.stderr


# ---------------------------------------------------------------- size

SWEPT = {"sweep": {"network.bottleneck.rate": [f"{n} Mbit/s" for n in range(1, 601)]}}


def test_a_large_sweep_is_announced_before_its_cells_are_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[int] = []

    def announced(scenario: Scenario) -> None:
        announce.announce(scenario, backend="sim", jobs=2, keeps=True, yes=False)
        made.append(len(scenario.cells._made))

    with announce_before_cells(announced):
        Scenario.from_toml(SHORT, SWEPT)
    # 600 x 2 runs. RUN_S: 1200 x 1.5 ms = 1.8 s. On disk 1200 x (2 flows x 1000 + 6 queues x 200) = 3.84 MB.
    trials = r"about \d+ s on 2 processors \(estimated from trial runs of 16 cells\)"
    assert re.fullmatch(rf"1,200 runs of 600 cells, {trials}, about 4 MB on disk\n", capsys.readouterr().err)
    assert made[0] < 30
    monkeypatch.setattr(announce, "MOST_RUNS", 1000)
    monkeypatch.setattr("sys.argv", ["dumbbell", "run", "short.toml"])
    with (
        announce_before_cells(announced),
        pytest.raises(click.UsageError, match=r"needs a confirmation: dumbbell run short\.toml --yes"),
    ):
        Scenario.from_toml(SHORT, SWEPT)


def test_a_small_scenario_is_not_announced(capsys: pytest.CaptureFixture[str]) -> None:
    announce.announce(Scenario.from_toml(SHORT), backend="sim", jobs=2, keeps=True, yes=False)
    assert capsys.readouterr().err == ""


def test_a_trial_counts_the_packets_that_flows_send() -> None:
    grid = study("netem-iperf").scenario_file(study("netem-iperf").experiments[0])
    scenario = Scenario.load(grid).cells[0].scenario
    # The link could carry 30 million packets in the scenario's hour. 20 MB in segments of 1448 bytes are 13,813, a few
    # of which are lost and sent again.
    assert scenario.duration.seconds == 3600
    assert 13_813 <= trial(scenario).packets < 1.1 * 13_813


def test_the_rest_of_a_trial_is_like_its_last_part() -> None:
    # 1000 bytes at 1 Mbit/s are 125 packets a second. The other flow gets about the other half of the link, in packets
    # of 1040 bytes: 120 a second, of which some are sent again.
    found = trial(Scenario.from_toml(BASE, {"duration": "30000 s"}))
    assert found.packets == pytest.approx(30_000 * (125 + 125), rel=0.1)


def test_a_long_transfer_is_tried_in_part_and_counts_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.results.running.estimate.TRIED_S", 0.0)  # a part of 2,000 packets is enough
    only = {"flows": [{"name": "a", "variant": "reno", "application": {"kind": "transfer", "size": "10 MB"}}]}
    found = trial(Scenario.from_toml(BASE, {**only, "duration": "24 h", "network.bottleneck.delay": "1 ms"}))
    assert 10e6 / 1448 <= found.packets < 2 * 10e6 / 1448


def test_an_estimate_does_not_run_own_code(own: Path) -> None:
    with dumbbell.allow_code():
        found = estimate(Scenario.load(own / "own.toml", {"duration": "1200 s"}), jobs=1)
    # The bottleneck carries 5e6 x 1200 / 12000 = 500,000 packets of 1 us at most, and a run takes 1.5 ms; two runs.
    assert found.tried == 0
    assert found.seconds == pytest.approx(2 * (0.5 + 0.0015))
    text = announce.sentence(found, 1, timed=True, keeps=False, more=False)
    assert text == "2 runs of 1 cell, at most 1 s on 1 processor (estimated from the links' rates)"


@pytest.mark.parametrize(
    ("seconds", "size", "text"),
    [
        (0.1, 10, "about 1 s on 2 processors (estimated from trial runs of 1 cell), about 1 MB"),
        (119, 2e6, "about 119 s on 2 processors (estimated from trial runs of 1 cell), about 2 MB"),
        (150, 5e9, "about 2.5 min on 2 processors (estimated from trial runs of 1 cell), about 5 GB"),
        (10_000, 1, "about 2.8 h on 2 processors (estimated from trial runs of 1 cell), about 1 MB"),
        (864_000, 3e12, "about 10 days on 2 processors (estimated from trial runs of 1 cell), about 3 TB"),
    ],
)
def test_times_and_sizes_are_readable(seconds: float, size: float, text: str) -> None:
    found = Estimate(cells=1, runs=5000, seconds=seconds, size=size, tried=1)
    whole = f"at least 5,000 runs of 1 cell, {text} on disk"
    assert announce.sentence(found, 2, timed=True, keeps=True, more=True) == whole


def test_a_confirmation_is_needed_without_a_terminal(tmp_path: Path) -> None:
    sweep = '[sweep]\n"network.bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s"]\n'
    (tmp_path / "s.toml").write_text(SHORT.replace("repetitions = 2", "repetitions = 60000") + sweep)
    command = [sys.executable, "-m", "dumbbell", "run", "s.toml", "--out", "kept"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "120,000 runs of 2 cells" in done.stderr
    assert "needs a confirmation: dumbbell run s.toml --out kept --yes" in done.stderr
    assert not (tmp_path / "kept").exists()
