"""Runs on the host's own kernel at the same time: as many as their weights allow, in their order."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dumbbell.backends import Finished, Job, RowLists
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.host_kernel import HostKernel
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.results.runs.record import jobs_of
from hosts import scenario
from waiting import DEADLINE_S


class Counting(LinkEmulation):
    """Makes no run, but counts those at the same time; each waits for the number that is expected."""

    def __init__(self, expected: int) -> None:
        super().__init__()
        self.now = self.most = 0
        self.begun: list[int] = []
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(expected)

    def check(self, jobs: object) -> None:
        """Refuse nothing."""

    def _tried(self, job: Job) -> Finished:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.begun.append(job.repetition)
        self._barrier.wait(timeout=DEADLINE_S)
        with self._lock:
            self.now -= 1
        if job.repetition == 1:
            raise BackendError("it failed")
        return Finished(job, RowLists([], [], []))


def jobs() -> list[Job]:
    return jobs_of(scenario(repetitions=6))


def results(backend: HostKernel) -> Iterator[int]:
    for finished in backend.run(jobs(), 8):
        yield finished.job.repetition


@pytest.mark.parametrize(("weight", "expected"), [(1.0, 1), (0.5, 2), (0.34, 2), (1 / 3, 3)])
def test_as_many_runs_as_there_is_room_for(weight: float, expected: int) -> None:
    backend = Counting(expected)
    backend.weigh = lambda _job: weight
    found: list[int] = []
    with pytest.raises(BackendError, match=r"1 of 6 runs failed: repetition 1.*it failed"):
        for repetition in results(backend):
            found.append(repetition)
    assert sorted(found) == [0, 2, 3, 4, 5]
    assert backend.most == expected
    assert sorted(backend.begun[:expected]) == list(range(expected))


def test_without_weights_each_run_is_alone() -> None:
    backend = Counting(1)
    with pytest.raises(BackendError, match="it failed"):
        list(results(backend))
    assert backend.most == 1
    assert backend.begun == list(range(6))
