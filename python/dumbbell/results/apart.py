"""Runs of a large sweep, made by worker processes.

A small run takes about as long in the simulator as its plan and its record take in Python, and a process makes only
one of these at a time. Therefore processes make the runs of a large sweep, in batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from dumbbell.backends import Backend, Simulator
from dumbbell.exceptions import BackendError
from dumbbell.results.batch import Batch, Task
from dumbbell.results.runs import Place
from dumbbell.scenario import Scenario
from dumbbell.scenario.portable import Portable

__all__ = ["APART", "batches", "can_be_apart"]

APART = 2000
"""Runs from which processes make them: the start of a process takes about as long as 500 small runs."""
BATCH_S = 0.1
"""About the length of a batch in seconds: a batch takes some milliseconds by itself."""
LONGEST_S = 0.5
"""Seconds after which a batch begins no further run."""
FIRST_RUNS = 16
"""Runs of the first batches."""
MOST_RUNS = 256
"""Most runs of a batch."""
MAKER = "dumbbell.results.batch:maker"


def can_be_apart(scenario: Scenario, backend: Backend) -> bool:
    """Return True if worker processes can make the runs: of the simulator, without own code, series or captures."""
    seen = scenario.cells.seen
    return type(backend) is Simulator and not (seen.code or seen.captures or seen.qlogs or scenario.trace.tables)


def batches(scenario: Scenario, missing: Sequence[Place], count: int) -> Iterator[Batch]:
    """Make runs with ``count`` processes, and yield each batch as soon as it is finished, in any order.

    Raises
    ------
    BackendError
        If a run can't be made. Finished runs are yielded before.
    """
    from dumbbell.workers import Pool  # noqa: PLC0415 - only for large sweeps

    remaining, size = deque(missing), FIRST_RUNS

    def next_task() -> Task | None:
        fair = len(remaining) // (4 * count) + 1  # all processes end at about the same time
        places = [remaining.popleft() for _ in range(min(size, fair, len(remaining)))]
        return (places, LONGEST_S) if places else None

    with Pool[Task](MAKER, Portable.of(scenario), count) as pool:
        for _, batch in pool.run(next_task):
            remaining.extendleft(reversed(batch.left))
            if batch.runs:
                size = max(1, min(int(BATCH_S * len(batch.runs) / max(batch.took_s, 1e-6)), MOST_RUNS))
            yield batch
            if batch.error is not None:
                raise BackendError(batch.error)
