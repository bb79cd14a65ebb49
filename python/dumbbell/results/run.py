"""Running a scenario: every cell, every repetition, nothing twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from dumbbell.backends import Backend, Job, Simulator, Table
from dumbbell.exceptions import DumbbellError
from dumbbell.results.record import Run, run_key
from dumbbell.results.results import Results
from dumbbell.results.store import Store
from dumbbell.scenario import Scenario

__all__ = ["cores", "jobs_of", "run"]

Progress = Callable[[int, int], None]


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def jobs_of(scenario: Scenario) -> list[Job]:
    """List the runs of a scenario, cell by cell; all cells have the same seeds."""
    seeds = [scenario.repetition_seed(r) for r in range(scenario.repetitions)]
    return [Job(cell, r, seed) for cell in scenario.cells for r, seed in enumerate(seeds)]


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    trace: bool | None = None,
    changes: Mapping[str, Any] | None = None,
    backend: Backend | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run every cell and repetition of a scenario.

    Parameters
    ----------
    scenario : Scenario or path
        What to run; a path is read as TOML.
    jobs : int, optional
        Runs at a time; default: one for each core. It never changes a result.
    out : path, optional
        Directory that keeps everything. Each finished run is kept at once; a further call with the same directory
        runs only what is missing.
    repetitions, seed, trace : optional
        Override the scenario's ``repetitions``, ``seed`` and ``trace.series``.
    changes : mapping, optional
        Further changes, path -> value, such as ``{"network.bottleneck.rate": "5 Mbit/s"}``.
    backend : Backend, optional
        What makes the runs; default: the simulator.
    progress : callable, optional
        Called with (finished, all) before the first run and after each.

    Returns
    -------
    Results

    Raises
    ------
    ScenarioError, BackendError, ResultsError
    """
    scenario = _changed(scenario, repetitions, seed, trace, changes)
    if jobs is not None and jobs < 1:
        raise DumbbellError(f"jobs: {jobs} given: must be at least 1")
    backend = backend or Simulator()
    jobs = jobs or cores()
    if out is None:
        return _run(scenario, backend, jobs, None, progress)
    store = Store(out)
    with store.open(scenario, backend.name):
        results = _run(scenario, backend, jobs, store, progress)
        frames = {"flows": results.flows, "queues": results.queues, "transfers": results.transfers}
        store.finish(scenario, backend.name, frames)
    return results


def _run(
    scenario: Scenario, backend: Backend, parallel: int, store: Store | None, progress: Progress | None
) -> Results:
    """Make the runs that the store doesn't hold yet."""
    todo = jobs_of(scenario)
    keys = [run_key(job) for job in todo]
    runs: list[Run | None] = [store.load(key, n) if store else None for n, key in enumerate(keys)]
    tables: dict[str, dict[str, Table]] = {}
    missing = {id(job): n for n, job in enumerate(todo) if runs[n] is None}
    done = len(todo) - len(missing)
    if progress is not None:
        progress(done, len(todo))
    for finished in backend.run([todo[n] for n in missing.values()], parallel):
        n = missing[id(finished.job)]
        if store is not None:
            runs[n] = store.keep(finished, keys[n], n)
        else:
            runs[n] = Run.of(finished, n, keys[n])
            if finished.tables:
                tables[keys[n]] = finished.tables
        done += 1
        if progress is not None:
            progress(done, len(todo))
    return Results(scenario, [r for r in runs if r is not None], tables, store)


def _changed(
    scenario: Scenario | str | os.PathLike[str],
    repetitions: int | None,
    seed: int | None,
    trace: bool | None,
    changes: Mapping[str, Any] | None,
) -> Scenario:
    """Read the scenario, with every change made to it."""
    every = dict(changes or {})
    for path, value in (("repetitions", repetitions), ("seed", seed), ("trace.series", trace)):
        if value is not None:
            every[path] = value
    if isinstance(scenario, Scenario):
        return scenario.with_changes(every) if every else scenario
    return Scenario.load(scenario, every)
