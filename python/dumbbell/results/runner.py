"""Runs a scenario: every cell, every repetition, nothing twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dumbbell.backends import Backend, Job, Simulator, Table
from dumbbell.backends import backend as by_name
from dumbbell.exceptions import DumbbellError
from dumbbell.results.record import Run, run_key
from dumbbell.results.results import Results
from dumbbell.results.stopping_rule import next_repetitions
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
    """List the runs that a scenario may need, cell by cell; all cells have the same seeds."""
    most = scenario.until.at_most if scenario.until is not None else scenario.repetitions
    seeds = [scenario.repetition_seed(r) for r in range(most)]
    return [Job(cell, r, seed) for cell in scenario.cells for r, seed in enumerate(seeds)]


def run(
    scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str],
    *,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    trace: bool | None = None,
    changes: Mapping[str, Any] | None = None,
    backend: Backend | str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run every cell and repetition of a scenario.

    Parameters
    ----------
    scenario : Scenario, mapping or path
        The experiment: a scenario, a mapping with the same names as a scenario file, or the path of such a file.
    jobs : int, optional
        Runs at a time; default: one for each core. It never changes a result.
    out : path, optional
        Directory that keeps everything. Each finished run is kept at once; a further call with the same directory
        runs only the missing runs.
    repetitions, seed, trace : optional
        Override the scenario's ``repetitions``, ``seed`` and ``trace.series``.
    changes : mapping, optional
        Further changes, path -> value, such as ``{"network.bottleneck.rate": "5 Mbit/s"}``.
    backend : Backend or str, optional
        The back end, or its name in `dumbbell.backends`; default: the simulator.
    progress : callable, optional
        Called with (finished, all) before the first run and after each.

    Returns
    -------
    Results

    Raises
    ------
    ScenarioError
        If the scenario is wrong, with every problem and its place.
    BackendError
        If the back end does not exist or cannot make a run.
    ResultsError
        If the directory cannot be used.

    Examples
    --------
    >>> import dumbbell
    >>> results = dumbbell.run("cbr.toml", repetitions=3, changes={"flows.tcp.variant": "vegas"})
    >>> len(results), sorted(results.flows["variant"].unique())
    (6, ['udp', 'vegas'])
    """
    scenario = _changed(scenario, repetitions, seed, trace, changes)
    if jobs is not None and jobs < 1:
        raise DumbbellError(f"jobs: {jobs} given: must be at least 1")
    if isinstance(backend, str):
        backend = by_name(backend)
    backend = backend or Simulator()
    jobs = jobs or cores()
    if out is None and any(cell.scenario.capture.at for cell in scenario.cells):
        raise DumbbellError("capture: captures need a directory: give out (--out on the command line)")
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
    tables: dict[str, dict[str, Table]] = {}
    cells: list[list[Run]] = [[] for _ in scenario.cells]
    wanted = [scenario.repetitions] * len(cells)
    while wanted != [len(runs) for runs in cells]:
        _round(scenario, cells, wanted, backend, parallel, store, tables, progress)
        wanted = next_repetitions(scenario, cells)
    runs = [run for cell in cells for run in cell]
    return Results(scenario, [replace(run, index=n) for n, run in enumerate(runs)], tables, store)


def _round(
    scenario: Scenario,
    cells: list[list[Run]],
    wanted: list[int],
    backend: Backend,
    parallel: int,
    store: Store | None,
    tables: dict[str, dict[str, Table]],
    progress: Progress | None,
) -> None:
    """Bring each cell to the number of repetitions wanted; finished runs are read from the store."""
    found: dict[tuple[int, int], Run] = {}
    missing: dict[int, tuple[int, Job]] = {}
    for n, cell in enumerate(scenario.cells):
        for r in range(len(cells[n]), wanted[n]):
            job = Job(cell, r, scenario.repetition_seed(r))
            kept = store.load(run_key(job), 0) if store else None
            if kept is None:
                missing[id(job)] = (n, job)
            else:
                found[n, r] = kept
    total = sum(wanted)
    done = total - len(missing)
    if progress is not None:
        progress(done, total)
    for finished in backend.run([job for _, job in missing.values()], parallel):
        n, job = missing[id(finished.job)]
        key = run_key(job)
        found[n, job.repetition] = store.keep(finished, key, 0) if store else Run.of(finished, 0, key)
        if store is None and finished.tables:
            tables[key] = finished.tables
        done += 1
        if progress is not None:
            progress(done, total)
    for n, cell_runs in enumerate(cells):
        cell_runs += [found[n, r] for r in range(len(cell_runs), wanted[n])]


def _changed(
    scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str],
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
    if isinstance(scenario, Mapping):
        return Scenario.from_dict({str(key): value for key, value in scenario.items()}, every)
    return Scenario.load(scenario, every)
