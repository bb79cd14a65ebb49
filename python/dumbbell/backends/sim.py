"""The simulator: runs in threads, each without the GIL, so that they use all cores."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.backends.base import Finished, Job, Table
from dumbbell.exceptions import BackendError, EndlessCallError
from dumbbell.plan.text import KEPT, plan_text
from dumbbell.scenario.flow.abr import OwnRule
from dumbbell.scenario.flow.video import Video
from dumbbell.scenario.own.variants import OwnVariant
from dumbbell.scenario.sweep.cell_checks import own_disciplines

if TYPE_CHECKING:
    from dumbbell.common.long_series import LongSeries
    from dumbbell.scenario import Scenario

__all__ = ["Simulator"]

AHEAD = 4
"""Batches queued for each thread in advance: enough that no thread waits for Python, few enough to save memory."""
BATCH_S = 0.02
"""About the length of a batch in seconds: much longer than handing it to a thread takes, too short to be noticed."""
BATCH_RUNS = 64
"""Most runs of a batch."""
LONGEST_S = 0.2
"""Seconds after which a batch makes no further run: the runs of its cells may take longer than those before."""
NOTICED_S = 0.1
"""Seconds after which a wait for runs notices Ctrl-C."""
MOST_WAITS = 100
"""Waits of this length after which a call of a library that has not returned is an error. They are counted, not
timed: a process that was stopped for a while, or gets no processor, counts none."""


@dataclass
class _Batch:
    """Runs that one thread makes one after the other: those finished, those left, and the error that ended it."""

    finished: list[Finished] = field(default_factory=list)
    left: Sequence[Job] = ()
    error: Exception | None = None
    took_s: float = 0.0


class _Calls:
    """The calls of libraries that are in progress, each with the number of waits that it has lasted."""

    def __init__(self) -> None:
        self._waits: dict[tuple[int, int], int] = {}

    def wait_has_passed(self) -> None:
        """Count a wait; EndlessCallError if a call has lasted for too many."""
        found = {(thread, call): name for thread, call, name in _core.library_calls()}
        self._waits = {call: self._waits.get(call, -1) + 1 for call in found}
        for call, waits in self._waits.items():
            if waits >= MOST_WAITS:
                raise EndlessCallError(
                    f"the library of '{found[call]}': a call has not returned for {waits * NOTICED_S:.1f} s"
                )


class Simulator:
    """The packet-level simulator of the Rust core."""

    name = "sim"

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse nothing: every scenario can be simulated."""

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Run all jobs; see `Backend.run`."""
        sweeps = {id(job.cell.cells): job.cell.cells for job in jobs}
        if any(cells.properties.python for cells in sweeps.values()):
            # Python code can't run in parallel, and only in the main thread Ctrl-C interrupts it.
            yield from (self._one(job) for job in jobs)
            return
        pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="dumbbell")
        try:
            yield from self._all(pool, jobs, parallel)
        finally:
            # A run that has begun can't be stopped. After Ctrl-C its result isn't needed: don't wait for it.
            pool.shutdown(wait=False, cancel_futures=True)

    def _all(self, pool: ThreadPoolExecutor, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        remaining = deque(jobs)
        size = 1
        running: list[Future[_Batch]] = []
        calls = _Calls()
        while running or remaining:
            while remaining and len(running) < parallel * AHEAD:
                batch = [remaining.popleft() for _ in range(min(size, len(remaining)))]
                running.append(pool.submit(self._batch, batch))
            done: set[Future[_Batch]] = set()
            while not done:  # polars makes Ctrl-C restart system calls: a wait without end would not notice it
                done, _ = wait(running, timeout=NOTICED_S, return_when=FIRST_COMPLETED)
                if not done:
                    calls.wait_has_passed()
            batches = [future.result() for future in running if future in done]
            running = [future for future in running if future not in done]
            for made in batches:
                yield from made.finished
            for made in batches:  # after all finished runs: an error loses none of them
                if made.error is not None:
                    raise made.error
                remaining.extendleft(reversed(made.left))
                fair = len(remaining) // (parallel * AHEAD) + 1  # all threads end at about the same time
                size = max(1, min(int(BATCH_S * len(made.finished) / max(made.took_s, 1e-6)), BATCH_RUNS, fair))

    def _batch(self, jobs: Sequence[Job]) -> _Batch:
        """Make runs one after the other, until one fails or they take much longer than those before."""
        batch = _Batch()
        began = time.perf_counter()
        try:
            for k, job in enumerate(jobs):
                if batch.finished and time.perf_counter() - began > LONGEST_S:
                    batch.left = jobs[k:]
                    break
                batch.finished.append(self._one(job))
        except Exception as e:
            batch.error = e
        batch.took_s = time.perf_counter() - began
        return batch

    def one(self, job: Job) -> Finished:
        """Make one run in this thread."""
        return self._one(job)

    @staticmethod
    def _one(job: Job) -> Finished:
        try:
            variants = {name: own.handle for name, own in _own_variants(job).items()}
            disciplines = {name: own.handle for name, own in own_disciplines(job.cell.scenario).items()}
            plan = plan_text(job.cell)
            long = _long_series(job.cell.scenario)
            output = _core.run(plan.with_seed(job.seed), variants, _own_rules(job), disciplines, long)
            if plan.characters > KEPT:
                _return_memory()
        except _core.RunError as e:
            cell = ", ".join(f"{k} = {v!r}" for k, v in job.cell.values.items())
            where = f" (cell {cell})" if cell else ""
            raise BackendError(f"the simulator refuses repetition {job.repetition}{where}: {e}") from None
        last = {name: output.table(name) for name in output.tables()}
        tables: Mapping[str, Table] = last if long is None else long.completed(last)
        captures: dict[str, Callable[[Path], None]] = {}
        if long is not None:
            captures = {name: partial(long.write_capture, name, output.write_capture) for name in output.captures()}
        return Finished(job, output.rows, tables, captures, dict(output.qlogs()))


def _long_series(scenario: Scenario) -> LongSeries | None:
    """Return a place for long series and captures; None if there are none."""
    trace = scenario.trace
    if not (trace.tables or trace.packets or scenario.capture.at):
        return None
    from dumbbell.common.long_series import LongSeries  # it imports numpy

    return LongSeries()


def _return_memory() -> None:
    """Return freed memory to the system after a large run: the C library keeps most of it [malloc_trim(3)]."""
    import ctypes  # of large runs

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)


def _own_variants(job: Job) -> dict[str, OwnVariant]:
    """Return the own variants of a run's flows, by name."""
    variants = (flow.variant for flow in job.cell.scenario.single_flows)
    return {v.name: v.own for v in variants if v is not None and v.own is not None}


def _own_rules(job: Job) -> dict[str, tuple[type, str]]:
    """Return the rules of videos that are Python classes, with their files, by the names that the plan uses."""
    apps = (flow.application for flow in job.cell.scenario.single_flows)
    own = (app.abr.own for app in apps if isinstance(app, Video) and isinstance(app.abr, OwnRule))
    return {rule.name: (rule.python_class, rule.file) for rule in own if rule.python_class is not None}
