"""Workers of dask make the runs of a sweep: the results are those of this machine, byte for byte."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from cluster_runs import check_same_bytes, started
from dumbbell import BackendError, DumbbellError, Scenario
from dumbbell.cluster import dask_pool
from dumbbell.common.extras import EXTRAS
from dumbbell.results.running import worker_runs
from dumbbell.workers.places import read
from required import require_packages


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


def test_workers_of_dask_make_the_same_bytes(
    cluster_scenario: Scenario, cluster: tuple[str, list[int]], tmp_path: Path
) -> None:
    counts: list[int] = []
    check_same_bytes(cluster_scenario, tmp_path, cluster[0], progress=lambda done, _: counts.append(done))
    assert counts[0] == 0 and counts[-1] == 60 and len(counts) > 5


# The numbers of the submits after which something fails, and what; it gets the workers' IDs, client and future.
FAULTS: dict[str, tuple[set[int], Callable[[list[int], Any, Any], object]]] = {
    "a lost worker": ({5}, lambda pids, _client, _future: os.kill(pids[0], signal.SIGKILL)),
    "a canceled setup and task": ({1, 3}, lambda _pids, _client, future: future.cancel(force=True)),
    "a cut connection": ({3}, lambda _, client, _future: client.loop.add_callback(client.scheduler_comm.comm.abort)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_no_run(
    cluster_scenario: Scenario, cluster: tuple[str, list[int]], at_submit: Any, tmp_path: Path, fault: str
) -> None:
    numbers, fail = FAULTS[fault]
    at_submit(lambda number, client, future: fail(cluster[1], client, future) if number in numbers else None)
    check_same_bytes(cluster_scenario, tmp_path, cluster[0])


def test_a_task_that_is_always_canceled_is_an_error(
    cluster_scenario: Scenario, cluster: tuple[str, list[int]], at_submit: Any
) -> None:
    at_submit(lambda _number, _client, future: future.cancel())
    line = f"--cluster: the scheduler canceled a task {dask_pool.MOST_TIMES} times"
    with pytest.raises(BackendError, match=f"^{line}$"):
        dumbbell.run(cluster_scenario, cluster=cluster[0])


def test_the_end_of_the_scheduler_is_an_error_of_one_line(
    cluster_scenario: Scenario, at_submit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "CONNECT_S", 1)
    with started() as (address, _, process):
        at_submit(lambda *_: process.kill())
        with pytest.raises(BackendError, match=r"^--cluster: the connection to the scheduler was lost$"):
            dumbbell.run(cluster_scenario, cluster=address)


def test_an_interrupted_sweep_keeps_its_runs(
    cluster_scenario: Scenario, cluster: tuple[str, list[int]], tmp_path: Path
) -> None:
    def end(done: int, _every: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dumbbell.run(cluster_scenario, out=tmp_path / "a", cluster=cluster[0], progress=end)
    assert 20 < len(dumbbell.read_results(tmp_path / "a")) < 60


def test_a_worker_with_another_build_is_an_error(
    cluster_scenario: Scenario, cluster: tuple[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_runs, "build_hash", lambda: "0123456789abcdef")
    with pytest.raises(BackendError, match=r"a worker has another build of dumbbell .*here: 0123456789abcdef"):
        dumbbell.run(cluster_scenario, cluster=cluster[0])


def test_no_scheduler_is_an_error_of_one_line(cluster_scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    require_packages("distributed")
    monkeypatch.setattr(dask_pool, "CONNECT_S", 0.2)
    with pytest.raises(BackendError, match=r"^--cluster: tcp://127\.0\.0\.1:1: [^\n]+$"):
        dumbbell.run(cluster_scenario, cluster="dask://127.0.0.1:1")


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


def test_tasks_of_one_worker_share_their_setup() -> None:
    made: list[Any] = []
    dask_pool._WORK.__dict__.clear()
    call = ("worker_tasks:maker", "name", b"\x80\x05\x8c\x01s\x94.")
    made += [dask_pool.do(*call, task) for task in ("x", "y")]
    assert made == [(True, "s x"), (True, "s y")]
