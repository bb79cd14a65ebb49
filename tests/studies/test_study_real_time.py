"""Quick studies in real time on the host's own kernel: the decisive cells, as many repetitions as fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dumbbell import run
from dumbbell.backends import Finished, Job, Simulator
from dumbbell.kernel.host.backend import Kernel
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results import Run
from dumbbell.results.runs.run_list import Runs
from dumbbell.studies import Study, Verdict, run_study, study
from dumbbell.studies.doubtful import invalid_runs
from dumbbell.studies.fitting import LEFT_OUT, ROOM_S, Cost, Part, fitting, is_fitted, makespan
from dumbbell.studies.json_document import document
from required import require_packages

require_packages("matplotlib", "jinja2")

IN_REAL_TIME = ["bufferbloat", "geni-fairness", "netem-iperf", "ns2-cbr"]


class RealTime(Kernel):
    """The simulator in the place of the host's kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[float] = []

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse nothing."""

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        assert self.weigh is not None
        self.weights += [self.weigh(job) for job in jobs]
        return Simulator().run(jobs, parallel)


def fitted(found: Study, **options: float) -> Part:
    scenarios = {e.name: found.scenario(e, quick=True, kernel=True) for e in found.experiments}
    return fitting(found, scenarios, {}, **options)


def test_runs_begin_in_their_order_as_soon_as_there_is_room() -> None:
    half, whole = Cost(10, 0.5), Cost(4, 1.0)
    assert makespan([]) == 0
    assert makespan([half, half]) == 10
    # 0 to 10: two of 0.5. 10 to 14: the whole room. 14 to 24: the last one.
    assert makespan([half, half, whole, half]) == 24
    # The run of 3 s makes room for the fourth one, which ends at 13 s.
    assert makespan([Cost(3, 0.4), Cost(10, 0.4), Cost(3, 0.2), Cost(10, 0.4)]) == 13


@pytest.mark.parametrize("name", IN_REAL_TIME)
def test_a_quick_study_in_real_time_has_the_decisive_cells(name: str) -> None:
    found = study(name)
    declared = found.kernel
    assert declared is not None
    part = fitted(found)
    assert 0 < part.seconds <= ROOM_S
    cells = {e: s.cells for e, s in part.scenarios.items()}
    decisive = {e: [c.number for c in each if declared.holds(e, c)] for e, each in cells.items()}
    assert {e: list(costs) for e, costs in part.costs.items()} == decisive
    assert part.runs == part.repetitions * sum(map(len, decisive.values()))
    for e, each in cells.items():
        assert len(part.left_out.get(e, {})) == len(each) - len(decisive[e])
    assert {s.repetitions for s in part.scenarios.values()} == {part.repetitions}
    assert 1 <= part.repetitions <= declared.repetitions
    # Other processors make other weights; one repetition fits on any of them.
    assert sum(cost.seconds for costs in part.costs.values() for cost in costs.values()) < 2 * ROOM_S


def test_less_room_is_for_fewer_repetitions_but_at_least_one() -> None:
    found = study("geni-fairness")
    # Four cells of 20 s and 4 s more, each alone: their links need most of two processors.
    one = 4 * 24
    assert fitted(found, room=2.5 * one).repetitions == 2
    assert fitted(found, room=1).repetitions == 1


def test_a_run_is_as_long_as_its_transfers() -> None:
    part = fitted(study("netem-iperf"))
    costs = part.costs["grid"].values()
    # The scenario's duration is an hour; 20 MB at 100 Mbit/s take 1.6 s at least.
    assert all(1.6 < cost.seconds < 600 for cost in costs)
    # The slower a transfer, the more of them are made at the same time.
    ordered = sorted(costs, key=lambda cost: cost.seconds)
    assert ordered[0].weight > ordered[-1].weight


def test_whole_studies_and_other_back_ends_have_every_cell() -> None:
    found = study("ns2-cbr")
    assert is_fitted(Kernel(), found, quick=True)
    assert is_fitted(Kernel("link"), found, quick=True)
    assert not is_fitted(Kernel(), found, quick=False)
    assert not is_fitted(Kernel("uml"), found, quick=True)
    assert not is_fitted(Uml(), found, quick=True)
    assert not is_fitted(None, found, quick=True)
    assert not is_fitted(Kernel(), study("video-real-traffic"), quick=True)  # real programs
    assert not is_fitted(Kernel(), study("quickstart"), quick=True)  # no decisive cells


@pytest.mark.parametrize("name", ["bufferbloat", "netem-iperf"])
def test_claims_are_judged_as_far_as_the_decisive_cells_reach(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dumbbell.studies.fitting.ROOM_S", 1.0)
    backend, notes = RealTime(), list[str]()
    found = study(name)
    done = run_study(found, tmp_path, quick=True, backend=backend, note=notes.append)
    assert notes[0].startswith("A quick run in real time has the decisive cells only: ")
    assert backend.weigh is None
    assert all(0 < weight <= 1 for weight in backend.weights)
    declared = found.kernel
    assert declared is not None
    beside = done.column
    assert beside is not None
    assert len(beside.rows) == len(declared.decisive)
    for row in beside.rows:  # the stand-in for the kernel is the simulator
        assert row.here.size == row.there.size
    results = {f.claim: f for f in done.analysis.findings}
    assert list(results) == [c.id for c in found.paper.judged]
    judged = [f for f in results.values() if f.verdict is not Verdict.NOT_MEASURED]
    assert 0 < len(judged) < len(results)
    assert all(f.measured for f in judged)
    assert not any("nan" in f.why for f in results.values())
    listed = document(done)["refused"]
    assert LEFT_OUT in {reason for cells in listed.values() for reason in cells.values()}
    assert [p.name for p in done.analysis.pictures] == ["linux"]
    assert "Cells that were not run on this back end" in done.report.read_text(encoding="utf-8")


def test_invalid_runs_are_counted_with_the_most_frequent_reason() -> None:
    found = study("ns2-cbr")
    start = next(e for e in found.experiments if e.name == "exp1-start")
    results = run(found.scenario(start, quick=True), repetitions=1)
    assert invalid_runs({"start": results}) == ""
    runs: list[Run] = list(results.runs)
    runs[0].facts["invalid"] = ["a packet was 0.25 ms late"]
    runs[1].facts["invalid"] = ["a packet was 1.5 ms late", "the clock was set"]
    results.runs = Runs.of(runs)
    text = invalid_runs({"start": results})
    assert f"marked as invalid 2 of {len(runs)} runs of start; verdicts and figures contain them" in text
    assert text.endswith("the most frequent of 2 reasons, given 2 times: a packet was 0.25 ms late.")
