"""Runs of a large sweep, made by workers: processes of this machine, or other machines.

A small run takes about as long in the simulator as its plan and its record take in Python, and a process makes only
one of these at a time. Therefore processes make the runs of a large sweep, in batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from pathlib import Path

from dumbbell.backends import Backend, Simulator
from dumbbell.exceptions import BackendError, DumbbellError
from dumbbell.results.running.worker_task import FinishedRuns, Setup, Task
from dumbbell.results.runs.run_list import Place
from dumbbell.results.store.build_hash import build_hash
from dumbbell.scenario import Scenario
from dumbbell.scenario.worker_copy import WorkerCopy
from dumbbell.workers import allowed
from dumbbell.workers.places import Cluster, Processes

__all__ = ["FEWEST_RUNS", "faster_processes", "finished_runs", "refuse"]

FEWEST_RUNS = 2000
"""Runs from which processes make them: the start of a process takes about as long as 500 small runs."""
FIRST_RUNS = 16
"""Runs of the first batches."""
MOST_RUNS = {True: 512, False: 2000}
"""Most runs of a batch on this machine and on others: those take 12 MB, which the way back needs memory for."""
TASK_S = {True: 0.25, False: 5.0}
"""About the length of a batch in seconds, likewise. A batch takes some milliseconds by itself."""
LONGEST_S = {True: 0.5, False: 20.0}
"""Seconds after which a batch begins no further run."""
MAKER = "dumbbell.results.running.worker_task:maker"


def one_machine_only(scenario: Scenario, backend: Backend) -> str | None:
    """Return the reason why workers can't make the runs; None if they can."""
    properties = scenario.cells.properties
    if type(backend) is not Simulator:
        return f"back end '{backend.name}' runs on this machine only: choose sim,"
    if properties.code:
        # A class of this program has no file; a worker must not execute code that the network brought.
        return f"own code ('{properties.code[0]}') runs in one process of this machine only: leave it out"
    return None


def faster_processes(scenario: Scenario, backend: Backend, runs: int) -> Processes | None:
    """Return processes of this machine if they make these runs sooner than threads."""
    if runs < FEWEST_RUNS or allowed() < 2 or one_machine_only(scenario, backend) is not None:
        return None
    if scenario.trace.tables or scenario.cells.properties.captures:  # threads write them only once
        return None
    return Processes(allowed())


def finished_runs(
    scenario: Scenario, missing: Sequence[Place], cluster: Cluster, folder: Path
) -> Generator[FinishedRuns]:
    """Make runs, and yield each batch as soon as it is finished, in any order.

    Workers on this machine put the files of runs into ``folder``.

    Raises
    ------
    BackendError
        If a run can't be made. Finished runs are yielded before.
    """
    here = cluster.is_local
    remaining, size = deque(missing), FIRST_RUNS

    def next_task() -> Task | None:
        fair = len(remaining) // (4 * max(workers.count, 1)) + 1  # all workers end at about the same time
        places = [remaining.popleft() for _ in range(min(size, fair, len(remaining)))]
        return (places, LONGEST_S[here]) if places else None

    portable = WorkerCopy.of(scenario) if here else WorkerCopy.with_contents(scenario)
    setup = Setup(portable, build_hash(), folder if here else None)
    with cluster.workers(MAKER, setup) as workers:
        for _, batch in workers.run(next_task):
            remaining.extendleft(reversed(batch.left))
            if batch.runs:
                fits = TASK_S[here] * len(batch.runs) / max(batch.took_s, 1e-6)
                size = max(1, min(int(fits), MOST_RUNS[here]))
            yield batch
            if batch.error is not None:
                raise BackendError(batch.error)


def refuse(scenario: Scenario, backend: Backend) -> None:
    """Refuse ``--cluster`` where workers can't make the runs."""
    if (why := one_machine_only(scenario, backend)) is not None:
        raise DumbbellError(f"--cluster: {why} or leave --cluster out")
