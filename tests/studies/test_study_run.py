"""Studies: their list, and a quick one from beginning to end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from dumbbell import DumbbellError, Scenario
from dumbbell.studies import Study, Verdict, run_study, studies, study
from dumbbell.studies.ending import MOST
from dumbbell.studies.lessons import declared
from kept_runs import count_made, kept
from quick import check_quick_in
from required import require_packages

require_packages("matplotlib", "jinja2")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
Quick = tuple[Path, "subprocess.CompletedProcess[str]"]
"""Where the quick study was run, and what it has printed."""
FIGURES = [3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]


@pytest.mark.parametrize("found", studies().values(), ids=lambda s: s.name)
def test_every_study_is_whole(found: Study) -> None:
    ids = [c.id for c in found.paper.claims]
    assert len(set(ids)) == len(ids)
    for experiment in found.experiments:
        whole, quick = found.scenario(experiment), found.scenario(experiment, quick=True)
        assert whole == Scenario.load(found.scenario_file(experiment))
        assert _seconds(quick) <= _seconds(whole)
        if not experiment.name.startswith("fit"):  # those of a fit don't decide a verdict
            assert quick.repetitions >= min(3, whole.repetitions)
            # Contrary verdicts were measured for half of the repetitions (docs/explanations/significance.md).
            assert not found.paper.listed or 2 * quick.repetitions >= whole.repetitions
        # Cells of a quick study are cells of the whole one.
        assert {repr(c.values) for c in quick.cells} <= {repr(c.values) for c in whole.cells}


def _seconds(scenario: Scenario) -> float:
    """Return the simulated time of all runs."""
    return len(scenario.cells) * scenario.repetitions * scenario.duration.seconds


def test_unknown_study() -> None:
    with pytest.raises(DumbbellError, match="did you mean 'ns2-cbr'"):
        study("ns2-crb")


def test_list_and_show(cli: Cli) -> None:
    listed = cli("study", "list")
    assert "ns2-cbr" in listed.stdout
    assert [s["name"] for s in json.loads(cli("study", "list", "--json").stdout)] == list(studies())
    shown = cli("study", "show", "ns2-cbr")
    assert shown.returncode == 0, shown.stderr
    found = study("ns2-cbr")
    for experiment in found.experiments:
        assert str(found.scenario_file(experiment)) in shown.stdout
    for claim in found.paper.claims:
        assert claim.id in shown.stdout
    assert "Agarwal" in shown.stdout
    assert json.loads(cli("study", "show", "ns2-cbr", "--json").stdout)["name"] == "ns2-cbr"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Quick:
    """Run the quick study once, as a user does."""
    place = tmp_path_factory.mktemp("study")
    command = [sys.executable, "-m", "dumbbell", "study", "run", "ns2-cbr", "--quick", "--no-kernel", "--out", "out"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return place, done


def test_terminal(quick: Quick) -> None:
    _, done = quick
    lines = done.stdout.splitlines()
    assert len(lines) <= MOST
    assert lines[-1].split() == ["report", "out/report.html"]
    assert done.stderr == ""


def test_all_of_it_on_the_terminal(quick: Quick) -> None:
    place, first = quick
    command = [sys.executable, "-m", "dumbbell", "study", "run", "ns2-cbr", "--quick", "--no-kernel", "--out", "out"]
    done = subprocess.run([*command, "--all"], cwd=place, capture_output=True, text=True, timeout=300, check=True)
    for claim in study("ns2-cbr").paper.judged:
        assert claim.text.split(";")[0].split(".")[0][:60] in " ".join(done.stdout.split())
    lines = done.stdout.splitlines()
    assert sum(line.startswith("figure ") for line in lines) >= len(FIGURES) + 4
    (more,) = (line for line in first.stdout.splitlines() if "--all" in line)
    # The ends are the same, but for the time and the line that names the option.
    assert lines[-5:] == [line for line in first.stdout.splitlines() if line != more][-5:]


def test_files(quick: Quick) -> None:
    out = quick[0] / "out"
    for number in FIGURES:
        for suffix in ("png", "svg"):
            assert len(list(out.glob(f"figures/fig{number:02}-*.{suffix}"))) == 1
    assert {p.stem for p in out.glob("figures/*.png")} <= {p.stem for p in out.glob("tables/*.csv")}
    content = json.loads((out / "study.json").read_text())
    check_quick_in(study("ns2-cbr"), out)
    for claim in content["claims"]:
        assert (claim["needs"] is not None) == (claim["verdict"] == Verdict.UNDECIDED)
    assert all("nan" not in figure["reading"] for figure in content["figures"])


def test_page_needs_nothing_else(quick: Quick) -> None:
    out = quick[0] / "out"
    page = (out / "report.html").read_text()
    content = json.loads((out / "study.json").read_text())
    assert page.count("<svg role=") == len(content["figures"])
    for claim in study("ns2-cbr").paper.judged:
        assert f'<tr id="{claim.id}">' in page
    ids = re.findall(r'\bid="([^"]+)"', re.sub(r"(<script\b[^>]*>).*?</script>", r"\1", page, flags=re.DOTALL))
    assert len(set(ids)) == len(ids)
    markup = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    links = [link for link in re.findall(r'(?:href|src)="([^"]*)"', markup) if not link.startswith("data:")]
    assert links
    assert {link.removeprefix("#") for link in links if not link.startswith("tables/")} <= set(ids)
    assert all((out / link).exists() for link in links if link.startswith("tables/"))
    assert not re.search(r"\{[a-z]", re.sub(r"<style.*?</style>|<pre>.*?</pre>", "", markup, flags=re.DOTALL))
    assert " nan" not in re.sub(r"<svg.*?</svg>", "", markup, flags=re.DOTALL)


def test_again_makes_no_run_twice(quick: Quick, monkeypatch: pytest.MonkeyPatch) -> None:
    out = quick[0] / "out"
    before = kept(out)
    page = (out / "tables/fig03-throughput.csv").read_bytes()
    lost = sorted(out.glob("runs/*/runs/*.parquet"))[0]
    missing = pl.read_parquet(lost, columns=["key"]).height
    content = lost.read_bytes()
    lost.unlink()
    notes: list[str] = []
    made = count_made(monkeypatch)
    done = run_study(study("ns2-cbr"), out, quick=True, jobs=1, kernel=False, note=notes.append)
    assert len(made) == missing and done.runs == kept(out) == before
    assert lost.read_bytes() == content
    assert (out / "tables/fig03-throughput.csv").read_bytes() == page
    assert notes == []


def test_runs_of_another_build_are_made_again(tmp_path: Path) -> None:
    from dumbbell.studies.study_runs import forget_if_stale

    found = study("ns2-cbr")
    experiment = found.experiments[0]
    scenario = found.scenario(experiment, quick=True)
    folder = tmp_path / "runs" / "exp1"
    notes: list[str] = []
    forget_if_stale(folder, scenario, experiment, notes.append)
    folder.mkdir()
    (folder / "kept").touch()
    forget_if_stale(folder, scenario, experiment, notes.append)
    assert (folder / "kept").exists()
    assert notes == []
    forget_if_stale(folder, scenario.with_changes({"seed": 2}), experiment, notes.append)
    assert not folder.exists()
    assert "again" in notes[0]


def test_json_is_one_document(cli: Cli, quick: Quick, tmp_path: Path) -> None:
    assert tmp_path.exists()
    done = cli("study", "run", "ns2-cbr", "--quick", "--no-kernel", "--json", "--out", quick[0] / "out")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["quick"] is True
    paper = study("ns2-cbr").paper
    assert [c["id"] for c in content["claims"]] == [c.id for c in paper.judged]
    assert len(content["claims"]) + len(content["not_testable"]) == len(paper.claims)
    assert [x["question"] for x in content["lessons"]] == [x.question for x in declared(study("ns2-cbr"))]
    assert done.stdout.count("\n") == 1
