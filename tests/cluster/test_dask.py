"""Workers of dask make the runs of a sweep: the results are those of this machine, byte for byte."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import BackendError, DumbbellError, Scenario
from dumbbell.cluster import dask_pool
from dumbbell.common.extras import EXTRAS
from dumbbell.results.running import worker_runs
from dumbbell.workers.places import read
from required import require_packages
from waiting import DEADLINE_S

DOCUMENT = {
    "name": "dask",
    "duration": "50 ms",
    "repetitions": 3,
    "start_jitter": "5 ms",
    "network": {
        "bottleneck": {"rate": {"trace": "rates.trace"}, "delay": "1 ms"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    },
    "flows": [{"name": "a", "variant": "cubic"}],
    "sweep": {"network.bottleneck.delay": [f"{n} ms" for n in range(1, 21)]},
}
PROGRAM = Path(__file__).parents[1] / "support" / "dask_cluster.py"


@contextmanager
def started() -> Iterator[tuple[str, list[int], subprocess.Popen[str]]]:
    """Start a scheduler with two workers: its address for ``--cluster``, the workers' process IDs, its process."""
    require_packages("distributed", "dask_jobqueue")
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdin is not None
    address, *pids = process.stdout.readline().split()
    yield address, [int(pid) for pid in pids], process
    process.stdin.close()
    process.wait(timeout=DEADLINE_S)
    process.stdout.close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[str, list[int]]]:
    with started() as (address, pids, _):
        yield address, pids


@pytest.fixture
def at_submit(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int, Any, Any], None]], None]:
    """Return a function that sets what follows each submit: it gets its number from 1, the client and the future."""

    def set_to(then: Callable[[int, Any, Any], None]) -> None:
        enter = dask_pool.DaskPool.__enter__

        def entered(pool: dask_pool.DaskPool[Any]) -> dask_pool.DaskPool[Any]:
            enter(pool)
            client, number = pool._client, count(1)
            submit = client.submit

            def spoiled(*call: Any, **how: Any) -> Any:
                future = submit(*call, **how)
                then(next(number), client, future)
                return future

            client.submit = spoiled
            return pool

        monkeypatch.setattr(dask_pool.DaskPool, "__enter__", entered)

    return set_to


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """Make a scenario that names a file, which the workers don't have."""
    monkeypatch.setattr(worker_runs, "MOST_RUNS", {True: 7, False: 7})
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "rates.trace").write_text("".join(f"{n}\n" for n in range(1, 50)))
    monkeypatch.chdir(tmp_path / "here")
    return Scenario.from_dict(DOCUMENT)


def check_same_bytes(scenario: Scenario, place: Path, cluster: str, **more: Any) -> None:
    """Make the runs on a cluster and on this machine, and compare the files."""
    dumbbell.run(scenario, out=place / "a", cluster=cluster, **more)
    dumbbell.run(scenario, out=place / "b", jobs=1)
    theirs, ours = (
        {str(file.relative_to(place / name)): file.read_bytes() for file in (place / name).rglob("*.parquet")}
        for name in ("a", "b")
    )
    assert theirs == ours


def test_workers_of_dask_make_the_same_bytes(
    scenario: Scenario, cluster: tuple[str, list[int]], tmp_path: Path
) -> None:
    counts: list[int] = []
    check_same_bytes(scenario, tmp_path, cluster[0], progress=lambda done, _: counts.append(done))
    assert counts[0] == 0 and counts[-1] == 60 and len(counts) > 5


# The numbers of the submits after which something fails, and what; it gets the workers' IDs, client and future.
FAULTS: dict[str, tuple[set[int], Callable[[list[int], Any, Any], object]]] = {
    "a lost worker": ({5}, lambda pids, _client, _future: os.kill(pids[0], signal.SIGKILL)),
    "a canceled setup and task": ({1, 3}, lambda _pids, _client, future: future.cancel(force=True)),
    "a cut connection": ({3}, lambda _, client, _future: client.loop.add_callback(client.scheduler_comm.comm.abort)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_no_run(
    scenario: Scenario, cluster: tuple[str, list[int]], at_submit: Any, tmp_path: Path, fault: str
) -> None:
    numbers, fail = FAULTS[fault]
    at_submit(lambda number, client, future: fail(cluster[1], client, future) if number in numbers else None)
    check_same_bytes(scenario, tmp_path, cluster[0])


def test_a_task_that_is_always_canceled_is_an_error(
    scenario: Scenario, cluster: tuple[str, list[int]], at_submit: Any
) -> None:
    at_submit(lambda _number, _client, future: future.cancel())
    line = f"--cluster: the scheduler canceled a task {dask_pool.MOST_TIMES} times"
    with pytest.raises(BackendError, match=f"^{line}$"):
        dumbbell.run(scenario, cluster=cluster[0])


def test_the_end_of_the_scheduler_is_an_error_of_one_line(
    scenario: Scenario, at_submit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "CONNECT_S", 1)
    with started() as (address, _, process):
        at_submit(lambda *_: process.kill())
        with pytest.raises(BackendError, match=r"^--cluster: the connection to the scheduler was lost$"):
            dumbbell.run(scenario, cluster=address)


def test_an_interrupted_sweep_keeps_its_runs(
    scenario: Scenario, cluster: tuple[str, list[int]], tmp_path: Path
) -> None:
    def end(done: int, _every: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dumbbell.run(scenario, out=tmp_path / "a", cluster=cluster[0], progress=end)
    assert 20 < len(dumbbell.read_results(tmp_path / "a")) < 60


def test_a_worker_with_another_build_is_an_error(
    scenario: Scenario, cluster: tuple[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_runs, "build_hash", lambda: "0123456789abcdef")
    with pytest.raises(BackendError, match=r"a worker has another build of dumbbell .*here: 0123456789abcdef"):
        dumbbell.run(scenario, cluster=cluster[0])


def test_no_scheduler_is_an_error_of_one_line(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    require_packages("distributed")
    monkeypatch.setattr(dask_pool, "CONNECT_S", 0.2)
    with pytest.raises(BackendError, match=r"^--cluster: tcp://127\.0\.0\.1:1: [^\n]+$"):
        dumbbell.run(scenario, cluster="dask://127.0.0.1:1")


SUBMIT = 'cat "$1" >> "$0.scripts"\njob=$(cat "$1")\nsetsid bash -c "$job" > /dev/null 2>&1 &\n'
COMMANDS = {
    "slurm": {
        "sbatch": SUBMIT + 'echo "Submitted batch job $!"',
        "scancel": 'kill -KILL -- "-$1" 2> /dev/null || { echo "Invalid job id $1" >&2; exit 1; }',
    },
    "pbs": {
        "qsub": SUBMIT + 'echo "$!.head.example.org"',
        "qdel": 'kill -KILL -- "-${1%%.*}" 2> /dev/null || { echo "qdel: Unknown Job Id $1" >&2; exit 153; }',
    },
}
"""Commands of batch systems, whose jobs are sessions of this machine."""


@pytest.fixture
def system(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put the commands of a batch system into the path: its name."""
    require_packages("distributed", "dask_jobqueue")
    import dask

    # Its import adds defaults to the configuration, which `dask.config.set` would forget, and handles SIGINT.
    at_interrupt = signal.getsignal(signal.SIGINT)
    import_module("dask_jobqueue")
    signal.signal(signal.SIGINT, at_interrupt)
    name_of_system: str = request.param
    commands = COMMANDS[name_of_system]
    (tmp_path / "bin").mkdir()
    for name, text in commands.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    size = {"cores": 2, "processes": 2, "memory": "2GB", "local-directory": str(tmp_path / "scratch")}
    with dask.config.set({f"jobqueue.{name_of_system}.{key}": value for key, value in size.items()}):
        yield name_of_system


@pytest.mark.parametrize("system", ["slurm", "pbs"], indirect=True)
def test_a_job_whose_workers_are_gone_is_submitted_again(
    system: str, scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch system ends a job at its time limit. A job has two workers here."""
    ended: list[str] = []
    connected = dask_pool.DaskPool._connected

    def end_the_first(pool: dask_pool.DaskPool[Any]) -> bool:
        if not ended and pool.count == 2:
            (job,) = pool._jobs.workers.values()
            os.killpg(int(job.job_id), signal.SIGKILL)
            ended.append(job.job_id)
        return connected(pool)

    monkeypatch.setattr(dask_pool, "GONE_S", 0.0)
    monkeypatch.setattr(dask_pool, "COUNTED_S", 0.0)
    monkeypatch.setattr(dask_pool.DaskPool, "_connected", end_the_first)
    check_same_bytes(scenario, tmp_path, f"{system}:1")
    assert len(ended) == 1
    if system == "pbs":  # two jobs of one node with two processors, as qsub reads their scripts [qsub(1)]
        lines = (tmp_path / "bin" / "qsub.scripts").read_text().splitlines()
        resources = [line for line in lines if line.startswith("#PBS -l")]
        assert resources == ["#PBS -l select=1:ncpus=2:mem=1908MB", "#PBS -l walltime=00:30:00"] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_reply_that_takes_long_delays_no_other() -> None:
    """A scheduler looks for the reply of a lost worker for 30 s."""
    late = threading.Event()

    class Future:
        status = "finished"

        def __init__(self, key: str) -> None:
            self.key = key

        def result(self) -> tuple[bool, str]:
            if self.key == "late":
                assert late.wait(60)
            return True, self.key

    replies = dask_pool._Replies()
    for key in ("late", *map(str, range(20))):
        replies.ended.put(Future(key))
    assert sorted(replies.get(60)[0] for _ in range(20)) == sorted(map(str, range(20)))
    late.set()
    assert replies.get(60) == ("late", "late")
    replies.close()


@pytest.mark.parametrize(("text", "module"), [("dask://x:8786", "distributed"), ("slurm:2", "dask_jobqueue")])
def test_a_missing_extra_is_an_error_of_one_line(text: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require_packages("distributed", "dask_jobqueue")
    monkeypatch.setattr("dumbbell.common.extras.find_spec", lambda name: None if name == module else object())
    line = f"{module} is needed, but not installed: pip install 'dumbbell[{EXTRAS[module]}]'"
    with pytest.raises(DumbbellError, match=f"^{re.escape(line)}$"):
        read(text)


@pytest.mark.parametrize("kind", ["slurm", "pbs"])
def test_jobs_without_a_size_are_an_error_of_one_line(scenario: Scenario, kind: str) -> None:
    require_packages("distributed", "dask_jobqueue")
    line = f"--cluster: {kind}: the size of a job is unknown: set jobqueue.{kind}.cores in ~/.config/dask/jobqueue.yaml"
    with pytest.raises(BackendError, match=f"^{re.escape(line)}$"):
        dumbbell.run(scenario, cluster=f"{kind}:2")


def test_tasks_of_one_worker_share_their_setup() -> None:
    made: list[Any] = []
    dask_pool._WORK.__dict__.clear()
    call = ("worker_tasks:maker", "name", b"\x80\x05\x8c\x01s\x94.")
    made += [dask_pool.do(*call, task) for task in ("x", "y")]
    assert made == [(True, "s x"), (True, "s y")]
