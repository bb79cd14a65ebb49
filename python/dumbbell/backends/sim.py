"""The simulator: runs in threads, each without the GIL, so that they use all cores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from dumbbell import _core
from dumbbell.backends.base import Finished, Job
from dumbbell.exceptions import BackendError
from dumbbell.scenario.own_variants import OwnVariant

__all__ = ["Simulator"]

AHEAD = 4
"""Runs queued for each thread in advance: enough that no thread waits for Python, few enough to save memory."""


class Simulator:
    """The packet-level simulator of the Rust core."""

    name = "sim"

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse nothing: every scenario can be simulated."""

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Run all jobs; see `Backend.run`."""
        if any(own.key != "library" for job in jobs for own in _own_variants(job).values()):
            parallel = 1  # Python code can't run in parallel, and only the main thread receives Ctrl-C
        if parallel == 1:
            yield from (self._one(job) for job in jobs)
            return
        pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="dumbbell")
        try:
            yield from self._all(pool, jobs, parallel)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _all(self, pool: ThreadPoolExecutor, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        remaining = iter(jobs)
        running: set[Future[Finished]] = set()
        more = True
        while running or more:
            while more and len(running) < parallel * AHEAD:
                job = next(remaining, None)
                if job is None:
                    more = False
                else:
                    running.add(pool.submit(self._one, job))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()

    @staticmethod
    def _one(job: Job) -> Finished:
        try:
            variants = {name: own.handle for name, own in _own_variants(job).items()}
            output = _core.run(json.dumps(job.plan(), allow_nan=False), variants)
        except _core.RunError as e:
            cell = ", ".join(f"{k} = {v!r}" for k, v in job.cell.values.items())
            where = f" (cell {cell})" if cell else ""
            raise BackendError(f"the simulator refuses repetition {job.repetition}{where}: {e}") from None
        tables = {name: output.table(name) for name in output.tables()}
        captures: dict[str, Callable[[Path], None]] = {
            name: partial(output.write_capture, name) for name in output.captures()
        }
        return Finished(job, output.flows, output.queues, output.transfers, tables, captures)


def _own_variants(job: Job) -> dict[str, OwnVariant]:
    """Return the own variants of a run's flows, by name."""
    variants = (flow.variant for flow in job.cell.scenario.flows)
    return {v.name: v.own for v in variants if v is not None and v.own is not None}
