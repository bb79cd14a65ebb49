"""The plan of a run as text, and the order of runs in the simulator's threads."""

import hashlib
import json
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, wait

import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.backends.sim import Simulator
from dumbbell.exceptions import BackendError
from dumbbell.plan.text import plan_text, plan_values
from dumbbell.results.runs.record import jobs_of, run_key

DOCUMENT = {
    "name": 'a "seed":0 é',
    "duration": "10 ms",
    "repetitions": 3,
    "network": {
        "bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms", "loss": "1 %"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    },
    "flows": [{"name": "a", "variant": "cubic"}],
    "sweep": {"network.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"]},
}


def test_the_text_of_a_plan_is_its_json() -> None:
    jobs = jobs_of(Scenario.from_dict(DOCUMENT))
    assert len(jobs) == 6
    for job in jobs:
        text = json.dumps(job.plan(), sort_keys=True, separators=(",", ":"))
        assert plan_text(job.cell).with_seed(job.seed) == text


def test_the_key_of_a_run_covers_cell_repetition_and_plan() -> None:
    jobs = jobs_of(Scenario.from_dict(DOCUMENT))
    for job in jobs:
        text = json.dumps([job.cell.values, job.repetition, job.plan()], sort_keys=True, separators=(",", ":"))
        assert run_key(job) == hashlib.sha256(text.encode()).hexdigest()[:24]
    assert len({run_key(job) for job in jobs}) == len(jobs)


def test_a_large_plan_is_kept_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    small = jobs_of(Scenario.from_dict(DOCUMENT))
    keys, values = list(map(run_key, small)), [plan_values(job.cell) for job in small]
    texts = [plan_text(job.cell).with_seed(job.seed) for job in small]
    monkeypatch.setattr("dumbbell.plan.text.KEPT", 100)
    large = jobs_of(Scenario.from_dict(DOCUMENT))
    assert list(map(run_key, large)) == keys
    assert [plan_text(job.cell).with_seed(job.seed) for job in large] == texts
    assert plan_text(large[0].cell).values is None
    assert [plan_values(job.cell) for job in large] == values


@pytest.mark.parametrize("longest_s", [0.0, 1000.0])
@pytest.mark.parametrize("parallel", [1, 3])
def test_every_run_is_made_once_in_batches_of_any_size(
    parallel: int, longest_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dumbbell.backends.sim.LONGEST_S", longest_s)  # 0: every batch leaves runs to later ones
    scenario = Scenario.from_dict({**DOCUMENT, "repetitions": 150})
    jobs = jobs_of(scenario)
    finished = list(Simulator().run(jobs, parallel))
    assert sorted(map(id, jobs)) == sorted(id(f.job) for f in finished)
    for f in finished[:: len(finished) // 5]:
        [alone] = Simulator().run([f.job], 1)
        assert (alone.rows.flows, alone.rows.queues) == (f.rows.flows, f.rows.queues)


@pytest.mark.parametrize("return_when", [FIRST_COMPLETED, ALL_COMPLETED])
def test_runs_before_a_refused_one_are_yielded(return_when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = jobs_of(Scenario.from_dict({**DOCUMENT, "repetitions": 100}))
    one = Simulator._one
    refused = jobs[120]

    def fails(job: dumbbell.backends.Job) -> dumbbell.backends.Finished:
        if job is refused:
            raise BackendError("refused")
        return one(job)

    monkeypatch.setattr(Simulator, "_one", staticmethod(fails))
    monkeypatch.setattr("dumbbell.backends.sim.LONGEST_S", 1000.0)  # no batch leaves runs to later ones
    # ALL_COMPLETED: as if the threads were ahead of their reader, so that the error comes along with earlier batches.
    monkeypatch.setattr("dumbbell.backends.sim.wait", lambda running, **_: wait(running, return_when=return_when))
    made = []
    runs = Simulator().run(jobs, 1)
    with pytest.raises(BackendError, match="refused"):
        while True:
            made.append(next(runs).job)
    assert [id(job) for job in made[:120]] == [id(job) for job in jobs[:120]]
    assert refused not in made
