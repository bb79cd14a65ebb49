"""Runs a scenario: every cell, every repetition, nothing twice."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from dumbbell.backends import Backend, Finished, Job, Table
from dumbbell.backends import backend as by_name
from dumbbell.common.processors import cores
from dumbbell.common.words import counted
from dumbbell.exceptions import BackendError, DumbbellError
from dumbbell.registry import unknown
from dumbbell.results.results import Results
from dumbbell.results.running import worker_runs
from dumbbell.results.running.worker_task import FinishedRuns
from dumbbell.results.runs.record import UnreadRun, run_key
from dumbbell.results.runs.run_list import PART, Place, RunLog, Runs
from dumbbell.results.store.directory import Store
from dumbbell.results.store.run_files import folder_of_files
from dumbbell.scenario import Cell, Scenario
from dumbbell.workers import at_most
from dumbbell.workers.places import Cluster, read

__all__ = ["Progress", "run"]

Progress = Callable[[int, int], None]
Order = Literal["cells", "random"]


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
    only: Callable[[Cell], bool] | None = None,
    order: Order = "cells",
    cluster: str | None = None,
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
    only : callable, optional
        Called with each cell; cells for which it returns False are left out.
    order : {"cells", "random"}
        Order in which a kernel back end makes the runs: cell by cell, or drawn from the scenario's seed, so that a
        host that changes over time disturbs all cells alike. ``facts.order`` of a run on a kernel has its place.
    cluster : str, optional
        The workers that make the runs in the simulator: ``local:N`` (processes of this machine),
        ``dask://HOST:PORT`` or ``tls://HOST:PORT`` (a scheduler of dask, without or with TLS), ``slurm:N`` or ``pbs:N``
        (jobs of a batch system). It never changes a result. Default: threads, and processes of this machine for 2,000
        runs or more.
    progress : callable, optional
        Called with (finished, all) before the first run and after each, or after each batch of runs.

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
    if jobs is not None and jobs < 1:
        raise DumbbellError(f"jobs: {jobs} given: must be at least 1")
    if isinstance(backend, str):
        backend = by_name(backend)
    backend = backend or by_name("sim")
    if order not in get_args(Order):
        raise DumbbellError(f"order: {unknown('order', str(order), list(get_args(Order)))}")
    if order == "random" and backend.name == "sim":
        raise DumbbellError("order: the simulator's results don't depend on it: leave it out, or choose a kernel")
    workers = None if cluster is None else read(cluster)
    with at_most(jobs):
        changed = _changed(scenario, repetitions, seed, trace, changes)
        if workers is not None:
            worker_runs.refuse(changed, backend)
        return _in(changed, out, backend, only, _How(jobs or cores(), order, progress, workers))


@dataclass(frozen=True)
class _How:
    """How runs are made: at the same time, in which order, by which workers."""

    parallel: int
    order: Order
    progress: Progress | None
    cluster: Cluster | None


def _in(
    scenario: Scenario,
    out: str | os.PathLike[str] | None,
    backend: Backend,
    only: Callable[[Cell], bool] | None,
    how: _How,
) -> Results:
    """Run a scenario in a results directory, or without one."""
    if out is None and scenario.cells.properties.captures:
        raise DumbbellError("capture: captures need a directory: give out (--out on the command line)")
    if out is None and scenario.cells.properties.qlogs:
        place = f"flows.{scenario.cells.properties.qlogs[0]}.application.qlog"
        raise DumbbellError(f"{place}: qlog files need a directory: give out (--out on the command line)")
    if out is None:
        return _run(scenario, backend, None, only, how)
    store = Store(out)
    with _going_on(store, how) as followed, store.open(scenario, backend.name):
        results = _run(scenario, backend, store, only, followed)
        store.finish(scenario, backend.name, results.made_frames(), len(results))
    return results


@contextmanager
def _going_on(store: Store, how: _How) -> Iterator[_How]:
    """Let an exception that ends the runs, an interrupt too, state how many are kept and how to go on."""
    state: list[tuple[int, int]] = []

    def moved(done: int, total: int) -> None:
        state[:] = [(done, total)]
        if how.progress is not None:
            how.progress(done, total)

    try:
        yield replace(how, progress=moved)
    except BaseException as e:
        for done, total in state:
            if done or not isinstance(e, BackendError):  # a run that fails at once is nothing to go on with
                e.add_note(f"{done} of {counted(total, 'run')} kept in {store.path}: the same command continues")
        raise


def _run(
    scenario: Scenario, backend: Backend, store: Store | None, only: Callable[[Cell], bool] | None, how: _How
) -> Results:
    """Make the runs that the store doesn't hold yet."""
    chosen = [n for n, cell in enumerate(scenario.cells) if only is None or only(cell)]
    log = store.read(scenario) if store else RunLog(max(PART // scenario.repetitions, 1), most=PART)
    making = _Making(scenario, backend, store, log, how)
    if scenario.until is None:
        making.round(dict.fromkeys(chosen, scenario.repetitions), last=True)
        return making.results(dict.fromkeys(chosen, scenario.repetitions))
    from dumbbell.results.running.stopping_rule import next_repetitions  # slow to import

    wanted = dict.fromkeys(chosen, scenario.repetitions)
    open_ = chosen
    while open_:
        making.round(wanted, last=False)
        done = [[log.get((n, r)) for r in range(wanted[n])] for n in open_]
        more = dict(zip(open_, next_repetitions(scenario.until, done), strict=True))
        open_ = [n for n in open_ if more[n] > wanted[n]]
        wanted |= more
        making.close(set(wanted) - set(open_), open_)
    return making.results(wanted)


@dataclass
class _Making:
    """The runs of a scenario while they are made."""

    scenario: Scenario
    backend: Backend
    store: Store | None
    log: RunLog
    how: _How
    tables: dict[str, Mapping[str, Table]] = field(default_factory=dict)
    places: dict[tuple[int, int], int] = field(default_factory=dict)

    def round(self, wanted: Mapping[int, int], *, last: bool) -> None:
        """Bring each cell (its number) to the number of repetitions wanted.

        An interrupted sweep resumes here: runs that are in the log are not made again.
        """
        missing: list[Job] = []
        expected: Counter[int] = Counter()
        for n, count in wanted.items():
            cell = self.scenario.cells[n]
            for r in range(count):
                if (n, r) not in self.log:
                    missing.append(Job(cell, r, self.scenario.repetition_seed(r)))
                    expected[self.log.part(n)] += 1
        if self.how.order == "random":
            missing.sort(key=self._drawn)
        if self.backend.name != "sim":  # its runs have no facts
            for job in missing:
                self.places[job.cell.number, job.repetition] = len(self.places)
        total = sum(wanted.values())
        done = total - len(missing)
        if self.how.progress is not None:
            self.how.progress(done, total)
        with closing(self._made(missing)) as every:
            for cells in every:
                for part in map(self.log.part, cells):
                    expected[part] -= 1
                    if last and not expected[part]:
                        (self.store or self.log).close(part)
                done += len(cells)
                if self.how.progress is not None:
                    self.how.progress(done, total)

    def _made(self, missing: Sequence[Job]) -> Generator[list[int]]:
        """Make runs and keep them; yields the cells of those that were kept."""
        cluster = self.how.cluster or worker_runs.faster_processes(self.scenario, self.backend, len(missing))
        if cluster is not None:
            places = [(job.cell.number, job.repetition) for job in missing]
            if places:
                yield from self._made_by_workers(places, cluster)
            return
        for finished in self.backend.run(missing, self.how.parallel):
            self._keep(finished)
            yield [finished.job.cell.number]

    def _made_by_workers(self, places: Sequence[Place], cluster: Cluster) -> Iterator[list[int]]:
        """Let workers make runs and keep them; the workers have ended before the folder of their files is removed."""
        with (
            self.store.folder_for_workers() if self.store is not None else folder_of_files() as folder,
            closing(worker_runs.finished_runs(self.scenario, places, cluster, folder)) as every,
        ):
            for batch in every:
                self._keep_finished(batch)
                yield [run.cell for run in batch.runs]

    def _keep_finished(self, batch: FinishedRuns) -> None:
        """Keep the finished runs of a batch."""
        if self.store is not None:
            self.store.keep_stored(batch.runs, batch.files)
        else:
            for run in batch.runs:
                self.log.add(run.cell, run)
            self.tables.update({key: files.tables() for key, files in batch.files.items()})
        for files in batch.files.values():
            files.remove()
        if batch.rows is not None:
            self.log.add_frames(batch.rows)

    def _drawn(self, job: Job) -> bytes:
        """Return the place of a run in a random order, the same for the same seed."""
        return hashlib.sha256(f"order/{self.scenario.seed}/{job.cell.number}/{job.repetition}".encode()).digest()

    def close(self, settled: Iterable[int], open_: Iterable[int]) -> None:
        """Store the parts of settled cells that have no other cells."""
        for part in sorted({self.log.part(n) for n in settled} - {self.log.part(n) for n in open_}):
            (self.store or self.log).close(part)

    def _keep(self, finished: Finished) -> None:
        """Keep a finished run."""
        key, cell = run_key(finished.job), finished.job.cell.number
        if finished.facts:  # the simulator's runs have none, and don't depend on their order
            finished.facts["order"] = {"by": self.how.order, "place": self.places[cell, finished.job.repetition]}
        if self.store is not None:
            self.store.keep(finished, cell, key)
        else:
            self.log.add(cell, UnreadRun.of(finished, key))
            if finished.tables:
                self.tables[key] = finished.tables

    def results(self, wanted: Mapping[int, int]) -> Results:
        """Return the results of the runs that were wanted."""
        runs = Runs(self.log, [(n, r) for n, count in wanted.items() for r in range(count)])
        return Results(self.scenario, runs, self.tables, self.store)


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
