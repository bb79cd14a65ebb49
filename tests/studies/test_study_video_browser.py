"""The video study on back end `kernel`: its experiment with a real browser, and the analysis of such runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from dumbbell import DumbbellError, run
from dumbbell.backends import Backend
from dumbbell.plan.build import build
from dumbbell.studies import Verdict, study
from dumbbell.studies.commands.study import run as command
from dumbbell.studies.video_real_traffic.player import played_keys
from required import require_packages

require_packages("matplotlib", "jinja2")

MODEL = {"kind": "video", "length": "8 s", "ladder": ["681078 bit/s"], "abr": "fixed"}
"""The simulator's player in the browser's place."""


def test_on_the_kernel_the_browser_replaces_the_other_experiments() -> None:
    found = study("video-real-traffic")
    assert found.on("sim") is found
    assert found.on("uml") is found
    (experiment,) = found.on("kernel").experiments
    scenario = found.scenario(experiment, kernel=True)
    keys = {played_keys(c.values)[0] for c in scenario.cells}
    assert len(keys) == 30  # six accesses, four variants over TCP, and QUIC
    plan = build(next(iter(scenario.cells)).scenario)
    assert "{browser_client}" in plan["flows"][0]["application"]["client"]["command"]


def test_the_command_runs_it_in_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []

    def note(_study: object, _place: object, *, backend: Backend, **_options: object) -> None:
        used.append(backend.name)
        raise DumbbellError("the runs are not made")

    monkeypatch.setattr("dumbbell.studies.run_study", note)
    done = CliRunner().invoke(command, ["video-real-traffic", "--backend", "kernel", "--quick"])
    assert used == ["kernel"], done.output


@pytest.mark.filterwarnings("ignore")
def test_its_runs_have_tables_and_figures_but_no_verdicts(tmp_path: Path) -> None:
    found = study("video-real-traffic").on("kernel")
    scenario = found.scenario(found.experiments[0], quick=True)
    changes = {"flows.video.application": MODEL, "duration": "30 s", "sweep": scenario.to_dict()["sweep"]}
    results = run(scenario.with_changes(changes), out=tmp_path)
    analysis = found.analyze({"browser": results})
    assert {f.verdict for f in analysis.findings} == {Verdict.NOT_MEASURED}
    names = {picture.name for picture in analysis.pictures}
    assert {"player-load", "player-startup", "player-stalls", "player-wi-fi", "player-throughput-wi-fi"} <= names
    assert {"player-io-hall", "player-io-weak-signal"} <= names
    table = next(t for t in analysis.tables if t.name == "player").frame
    assert table.height == 30
    captured = next(t for t in analysis.tables if t.name == "player-captures").frame
    assert captured.height == 30
    numbers = captured.drop("access", "variant")
    assert not numbers.select(pl.any_horizontal(pl.all().str.contains(r"\("))).to_series().any()  # none of the report
    shaped = table.filter((table["access"] == "shaped") & (table["variant"] == "CUBIC"))
    # 8 s at 681 kbit/s over 1024 kbit/s take at least 5.3 s.
    assert float(shaped["load time (s): here"][0].split()[0]) > 5.3
