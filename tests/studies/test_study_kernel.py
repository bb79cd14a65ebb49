"""Studies on the real kernel: cells that it can't run, the column of decisive cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from dumbbell import BackendError, DumbbellError, Scenario, run
from dumbbell.backends import Finished, Job, Simulator
from dumbbell.kernel.uml.backend import Uml
from dumbbell.studies import Study, Verdict, run_study, studies, study
from dumbbell.studies.json_document import document
from dumbbell.studies.kernel_cells import KernelCells
from dumbbell.studies.kernel_column import NAME, Column, Row, column
from dumbbell.studies.partial import NotRunError, StudyResults, late, made
from dumbbell.studies.real_time import OVERHEAD_S, real_time, real_time_text
from dumbbell.studies.refused import REFUSED, refused_cells, words_of
from required import require_packages
from small_studies import experiment, only, without_analysis

__all__ = ["without_analysis"]  # a fixture

require_packages("matplotlib", "jinja2")

NAMES = ["first", "second"]
REPORTS = [found for found in studies().values() if found.paper.listed]


class Translated:
    """The simulator in the place of the kernel: refuses what the kernel's plan refuses."""

    name = "uml"

    def __init__(self) -> None:
        self._sim, self._uml = Simulator(), Uml()

    def check(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._uml.steps(job)

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        return self._sim.run(jobs, parallel)


# ---------------------------------------------------------------- cells that the kernel can't run


def refused(found: Study, *, quick: bool) -> dict[str, set[str]]:
    """Return by experiment the reasons against cells of a study on the kernel."""
    scenarios = {e.name: found.scenario(e, quick=quick, kernel=True) for e in found.experiments}
    cells = refused_cells(Translated(), scenarios)
    return {name: {reason.partition(" given")[0] for reason in each.values()} for name, each in cells.items()}


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("found", REPORTS, ids=lambda s: s.name)
def test_the_kernel_runs_every_cell_but_those_that_linux_lacks(found: Study, quick: bool) -> None:
    tahoe, red = {"flows.tcp.variant: 'tahoe'"}, {"links.r1->r2.queue.gentle: true"}
    expected = {"exp1": tahoe, "exp1-constant": tahoe, "exp1-large-window": tahoe, "exp1-start": tahoe,
                "exp1-window": tahoe, "fit": tahoe, "exp3": red, "exp3-fair": red, "further-variants": tahoe,
                "further-mixes": {"flows.first.variant: 'tahoe'", "flows.second.variant: 'tahoe'"},
                "further-red": red, "further-topology": red}  # fmt: skip
    player = {"player": {
        "flows.video.application: the kernel has no model of a video: back end 'sim' runs it",
        "links.r1->r2.wifi: the kernel's own links don't have Wi-Fi: "
        "the simulator and --backend kernel or uml -o emulation=link do",
    }}  # fmt: skip
    rules = {"flows.video.stack.slow_start: the kernel has no setting for it",
             "flows.video.variant.decrease_random: the kernel's module doesn't have it"}  # fmt: skip
    cost = {"flows.file.tls: the kernel's flows have no TLS: back end 'sim' runs it",
            "flows.file.transport: the kernel has no QUIC: back end 'sim' runs it"}  # fmt: skip
    older = {"flows.bbr.variant.extra_acked_gain: the kernel's module doesn't have it"}
    hosts = {f"flows.other.stack.{key}: the kernel has no setting for it"
             for key in ("ack_every", "pacing", "send_quantum")}  # fmt: skip
    newer = {f"flows.newer.variant: '{variant}'" for variant in ("sprout", "verus")}
    geni = {"bbr": older if quick else older | hosts, "newer": newer}
    of = {"ns2-cbr": expected, "geni-fairness": geni, "video-real-traffic": player | {"veno": rules, "cost": cost}}
    assert refused(found, quick=quick) == of.get(found.name, {})


def test_real_time_is_the_sum_of_all_runs() -> None:
    # A run of experiment 3 of ns-2 takes 25 s; a quick study has five of each cell.
    found = study("ns2-cbr")
    scenario = found.scenario(experiment(found, "exp3"), quick=True, kernel=True)
    small = only(found, {"exp3": experiment(found, "exp3").quick})
    each = 25 + OVERHEAD_S
    assert real_time(small, quick=True) == each * 5 * len(scenario.cells)
    assert real_time_text(small, quick=True) == (
        f"about {each * 5 * len(scenario.cells) / 60:.0f} minutes (estimated from simulated runs, and 4 s each for "
        "their hosts)"
    )
    # bufferbloat has hundreds of runs of 150 s and more.
    assert re.match(r"about \d+ hours \(", real_time_text(study("bufferbloat"), quick=True))
    # Real programs end when they end, which no simulated run shows.
    assert re.match(
        r"at most \d+ hours \(the runs' durations", real_time_text(study("video-real-traffic"), quick=False)
    )


def test_real_time_counts_a_transfer_until_it_ends() -> None:
    # The duration of each run is an hour, in which none of the transfers of 20 MB is left: 100 Mbit/s take 1.6 s, and
    # the slowest cell, with 1 % of losses over 200 ms, a few minutes.
    found = study("netem-iperf")
    scenario = found.scenario(experiment(found, "grid"), quick=True, kernel=True)
    assert scenario.duration.seconds == 3600
    small = only(found, {"grid": experiment(found, "grid").quick})
    runs = scenario.repetitions * len(scenario.cells)
    assert (1.6 + OVERHEAD_S) * runs < real_time(small, quick=True) < 300 * runs


def test_a_study_without_any_cell_is_refused_with_the_reason() -> None:
    scenario = study("ns2-cbr").scenario(study("ns2-cbr").experiments[0], quick=True)
    with pytest.raises(BackendError, match="'tahoe' given: the kernel doesn't have it"):
        refused_cells(Translated(), {"exp1": scenario})


WITHOUT_RATES = ("exp3", "exp3-fair", "further-mixes", "further-red", "further-topology")
"""Experiments of ns-2 at one rate of the CBR stream."""


def test_findings_name_the_settings_that_were_not_run(tmp_path: Path) -> None:
    found = study("ns2-cbr")
    short = {"repetitions": 5, 'sweep."flows.cbr.application.rate"': ["1 Mbit/s", "3 Mbit/s", "5 Mbit/s", "9 Mbit/s"]}
    small = only(found, {e.name: {"repetitions": 5} if e.name in WITHOUT_RATES else short for e in found.experiments})
    done = run_study(small, tmp_path, quick=True, backend=Translated())
    results = {f.claim: f for f in done.analysis.findings}
    throughput = results["exp1-vegas-throughput"]
    assert throughput.verdict is Verdict.NOT_MEASURED  # it compares with Tahoe
    falls = results["exp1-throughput-falls"].why
    assert falls.endswith(
        "Not run here: 1 of 4 settings (flows.tcp.variant: 'tahoe' given: the kernel doesn't have it)"
    )
    assert "red doesn't have it" in results["exp3-red-throughput"].why
    assert results["exp3-red-throughput"].verdict is Verdict.NOT_MEASURED
    listed = document(done)["refused"]
    # Four rates, Tahoe; two variants over two REDs.
    assert (len(listed["exp1"]), len(listed["exp3"])) == (4, 4)
    page = done.report.read_text(encoding="utf-8")
    assert REFUSED in {t.name for t in done.analysis.tables}
    assert "Cells that were not run on this back end" in page
    assert "nan" not in "".join(f.why for f in done.analysis.findings)
    assert not any("nan" in p.reading for p in done.analysis.pictures)
    names = {p.name for p in done.analysis.pictures}
    assert "fig13-throughput-reno" in names  # over DropTail alone
    assert "extra6-reno-sack-red" not in names


# ---------------------------------------------------------------- the column


@pytest.mark.parametrize("found", REPORTS, ids=lambda s: s.name)
def test_decisive_cells_exist_in_quick_and_whole_runs(found: Study) -> None:
    declared = found.kernel
    assert declared is not None
    words = import_module(f"dumbbell.studies.{found.folder.name}.quantities").WORDS
    for number in declared.decisive:
        assert words.metric(number.metric)
    for quick in (True, False):
        for name, wanted in declared.cells.items():
            scenario = found.scenario(experiment(found, name), quick=quick, kernel=True)
            # Each selection holds at least one cell.
            for one in wanted:
                alone = declared.model_copy(update={"cells": {name: [one]}})
                assert any(alone.holds(name, cell) for cell in scenario.cells), one
            assert declared.quick <= scenario.repetitions or quick is False


def test_cells_are_chosen_by_value_or_list_of_values() -> None:
    scenario = Scenario.load(study("geni-fairness").folder / "pairs.toml")
    cells = KernelCells(
        repetitions=1,
        quick=1,
        cells={"pairs": [{"flows.first.variant": "vegas", "flows.second.variant": ["vegas", "bbr"]}]},
        decisive=[{"what": "x", "metric": "pairs goodput", "at": {}}],
    )
    chosen = {tuple(c.values[f"flows.{n}.variant"] for n in NAMES) for c in scenario.cells if cells.holds("pairs", c)}
    assert chosen == {("vegas", "vegas"), ("vegas", "bbr")}
    assert not any(cells.holds("solo", c) for c in scenario.cells)


def row(what: str, here: list[float], there: list[float], report: float | None = None) -> Row:
    return Row(what, "goodput", "Mbit/s", report, np.array(here), np.array(there))


def test_the_column_shows_report_simulator_and_linux() -> None:
    rows = [row("a", [10.0, 12.0], [11.0, 13.0], 48.7), row("b", [80.0], [60.0])]
    shown = Column(rows, kernel="6.12.1")
    table = shown.table()
    assert table.name == NAME
    assert table.frame.rows() == [
        ("a", "goodput, Mbit/s", "48.7", "11 (10 to 12)", "12 (11 to 13)"),
        ("b", "goodput, Mbit/s", "-", "80", "60"),
    ]
    picture = shown.picture()
    # Off by 1/12 = 8.3 % and 20/80 = 25 %; in the median by 16.7 %.
    assert picture.reading.startswith("Linux differs from the simulator by 16.7 % in the median of the numbers, ")
    assert picture.reading.endswith("most in “b”: 60 against 80 Mbit/s.")
    (panel,) = picture.panels
    assert [c.label for c in panel.curves] == ["simulator", "Linux 6.12.1", "report"]
    assert len({str(c.look) for c in panel.curves}) == 3
    assert list(panel.categories) == ["a", "b"]


def test_the_column_compares_the_same_seeds() -> None:
    found = study("geni-fairness")
    small = found.scenario(experiment(found, "pairs"), quick=True).with_changes({"duration": "7 s"})

    def both_vegas(repetitions: int) -> StudyResults:
        scenario = small.with_changes({"repetitions": repetitions})
        made_here = run(scenario, only=lambda cell: {cell.values[f"flows.{n}.variant"] for n in NAMES} == {"vegas"})
        return StudyResults({"pairs": made_here}, {})

    beside = column(found, both_vegas(3), both_vegas(2), {}, {})
    assert [r.what for r in beside.rows] == ["1st of Vegas/Vegas", "2nd of Vegas/Vegas"]
    for each in beside.rows:
        assert each.here.tolist() == each.there.tolist()
        assert each.here.size == 2


@pytest.mark.usefixtures("without_analysis")
def test_a_study_on_the_kernel_has_the_simulators_decisive_cells(tmp_path: Path) -> None:
    short = only(study("geni-fairness"), {"pairs": {"duration": "7 s", "repetitions": 2}})
    done = run_study(short, tmp_path, quick=True, backend=Translated())
    beside = done.column
    assert beside is not None
    assert beside.added == document(done)["kernel"]["added"] == "sim"
    # The stand-in for the kernel is the simulator: the same seeds give the same numbers.
    for each in beside.rows:
        assert each.here.tolist() == each.there.tolist()
        assert each.here.size == 2
    assert beside.title == "The same cells in the simulator"
    runs = len(beside.results["pairs"])
    assert 0 < runs < len(done.results["pairs"])
    assert f"measured in the simulator too, in {runs} runs" in done.analysis.summary[-1]
    assert done.analysis.pictures[-1].name == NAME
    assert (tmp_path / "runs" / "pairs-quick").is_dir()
    assert "decisive cells of pairs in the simulator" in done.report.read_text(encoding="utf-8")


def test_both_back_ends_have_runs_of_the_same_length() -> None:
    for found in REPORTS:
        assert found.kernel is not None
        for each in (e for e in found.experiments if e.name in found.kernel.cells):
            # Beside a study on the kernel, and beside one in the simulator.
            for slower in (True, False):
                here = found.scenario(each, quick=True, kernel=False, slower=slower)
                there = found.scenario(each, quick=True, kernel=True, slower=slower)
                assert here.duration == there.duration
                assert here.repetitions == there.repetitions


def test_only_a_run_of_the_simulator_leaves_the_kernel_out(tmp_path: Path) -> None:
    with pytest.raises(DumbbellError, match="left out of a run of the simulator, not of one on back end 'uml'"):
        run_study(study("geni-fairness"), tmp_path, quick=True, backend=Translated(), kernel=False)


@pytest.mark.usefixtures("without_analysis")
def test_a_study_without_a_kernel_says_how_to_get_the_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.studies.runner.why_no_kernel", lambda: "it isn't built")
    short = only(study("geni-fairness"), {"pairs": {"duration": "6 s", "repetitions": 1}})
    done = run_study(short, tmp_path, quick=True)
    assert done.analysis.summary == ["The column of the real kernel is missing: it isn't built."]
    assert document(done)["kernel"]["absent"] == "it isn't built"
    assert run_study(short, tmp_path, quick=True, kernel=False).column is None


# ---------------------------------------------------------------- results that lack cells


def test_data_of_an_experiment_that_was_not_run_raise_when_used() -> None:
    data = late(lambda r: r, StudyResults({}, {}), "exp1")
    with pytest.raises(NotRunError, match="exp1 was not run"):
        _ = data.runs

    def fails() -> int:
        raise NotRunError("no")

    assert made([lambda: 1, fails, lambda: 2]) == [1, 2]


def test_only_chosen_cells_are_run() -> None:
    found = study("ns2-cbr")
    scenario = found.scenario(experiment(found, "exp1-start"), quick=True)
    results = run(scenario, repetitions=1, only=lambda cell: cell.values["flows.tcp.variant"] == "vegas")
    assert {r.cell["flows.tcp.variant"] for r in results.runs} == {"vegas"}
    assert words_of(scenario.cells[0]).startswith("flows.tcp.variant = tahoe, ")


def test_only_reports_have_a_column() -> None:
    assert [s for s in studies().values() if s.kernel is not None] == REPORTS
