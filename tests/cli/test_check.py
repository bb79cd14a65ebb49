"""`dumbbell check`: what a scenario will run and its warnings, without running it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_start import FIRST

import dumbbell
from dumbbell import Scenario
from dumbbell.backends import names
from dumbbell.results.statistics.lint import lint, lint_scenario

Cli = Callable[..., Any]

OWN = """
open("ran", "w").close()
class Mine:
    def __init__(self, setup): self.cwnd = setup.initial_window
    def on_ack(self, ack): open("called", "w").close()
    def on_congestion(self, event): pass
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.toml").write_text(FIRST, encoding="utf-8")
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


def text(cli: Cli, *args: str) -> str:
    done = cli("check", "first.toml", *args)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return str(done.stdout)


@pytest.mark.usefixtures("place")
def test_the_first_scenario_says_what_will_run_and_its_warnings(cli: Cli) -> None:
    shown = text(cli)
    for line in (
        "scenario   first (first.toml)",
        "network    dumbbell",
        "bottleneck r1->r2: 10 Mbit/s, 18 ms, droptail (limit 1 bdp)",
        "cubic   on linux   bulk   from 0 s",
        "1 cell x 1 repetition of 20 s",
        "1 run of 1 cell, about 1 s on ",
        "back ends  sim\n",
        "ssh: no: no hosts given: --hosts FILE names the machines and their roles",
        "warning: a single repetition doesn't show random variation: set repetitions = 10 or more",
    ):
        assert line in shown, line
    assert len(shown.splitlines()) < 24


@pytest.mark.usefixtures("place")
def test_changes_and_the_sweep(cli: Cli) -> None:
    variants = 'sweep."flows.a.variant"=["reno", "cubic"]'
    shown = text(cli, "--set", variants, "--set", "repetitions=10", "--set", "flows.b.start=0s", "--backend", "sim")
    assert "sweep      flows.a.variant: reno, cubic\n" in shown
    assert "2 cells x 10 repetitions of 20 s" in shown and "20 runs of 2 cells" in shown
    assert "note: flows 'a' and 'b' start together" in shown
    assert "back ends  sim\n" in shown and "kernel" not in shown
    assert "a single repetition" not in shown
    many = text(cli, "--set", "repetitions=900000", "--backend", "sim")
    assert "note: so large a sweep needs a confirmation" in many


@pytest.mark.usefixtures("place")
def test_json_has_the_same(cli: Cli) -> None:
    found = json.loads(text(cli, "--json"))
    assert (found["scenario"], found["cells"], found["repetitions"], found["runs"]) == ("first", 1, 1, 1)
    assert [flow["variants"] for flow in found["flows"]] == [["cubic"], ["vegas"]]
    assert found["backends"]["sim"] == {"runs": True, "text": ""}
    assert set(found["backends"]) == set(names())
    assert {"one-repetition"} <= {warned["name"] for warned in found["warnings"]}


def test_the_warnings_are_those_of_the_run_that_need_no_run(place: Path) -> None:
    scenario = Scenario.load(place / "first.toml", {"sweep": {"flows.a.variant": ["reno", "cubic", "prague"]}})
    before = {str(warned) for warned in lint_scenario(scenario)}
    assert before and before <= {str(warned) for warned in lint(dumbbell.run(scenario))}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["first.toml", "--set", "flows.a.variant=cubik"], "first.toml: flows.a.variant: unknown variant 'cubik'"),
        (["first.toml", "--backend", "kernl"], "unknown back end 'kernl': did you mean 'kernel'?"),
        (["first.toml", "--backend", "ssh"], "back end 'ssh': no hosts given"),
        (["first.toml", "--hold"], "--hold: only with --backend kernel: 'sim' has no network to keep"),
        (["no.toml"], "no.toml: "),
        (["mine.py:Mine", "limit=3"], "mine.py:Mine: not a scenario: `dumbbell discipline check mine.py:Mine`"),
        (["libmine.so"], "libmine.so: not a scenario: `dumbbell discipline check libmine.so`"),
        (["first.toml", "--cases", "3"], "--cases: use `dumbbell discipline check SOURCE`"),
    ],
)
def test_what_is_wrong_is_one_line(cli: Cli, arguments: list[str], message: str) -> None:
    done = cli("check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0].startswith(f"error: {message}"), done.stderr


def test_every_cell_is_checked(place: Path, cli: Cli) -> None:
    (place / "first.toml").write_text(FIRST + '\n[sweep]\n"flows.a.start" = ["1 s", "30 s"]\n')
    done = cli("check", "first.toml")
    assert done.returncode == 2
    assert "flows.a.start" in done.stderr and "30 s" in done.stderr


def test_own_code_is_named_and_not_run_as_a_simulation(place: Path, cli: Cli) -> None:
    own = 'flows.a.variant={ python = "mine.py:Mine" }'
    done = cli("check", "first.toml", "--set", own, "--no-code")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --no-code: the scenario runs mine.py:Mine (Python)\n"
    assert not (place / "ran").exists()
    done = cli("check", "first.toml", "--set", own)
    assert done.returncode == 0
    assert done.stderr == "the scenario runs mine.py:Mine (Python)\n"
    assert (place / "ran").exists() and not (place / "called").exists()
