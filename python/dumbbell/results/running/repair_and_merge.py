"""Upkeep of results directories: damaged runs made again, several directories merged into one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from dumbbell.exceptions import ResultsError
from dumbbell.results.results import Results
from dumbbell.results.running.runner import Progress, run
from dumbbell.results.runs.run_list import Runs
from dumbbell.results.runs.run_text import StoredRun
from dumbbell.results.store.directory import Store
from dumbbell.scenario import Scenario

__all__ = ["merge", "missing", "repair"]


def missing(results: Results) -> int:
    """Return the number of runs that the scenario of a directory still needs."""
    scenario = results.scenario
    made = Counter(cell for cell, _ in results.runs.places)
    return sum(scenario.repetitions - min(made[n], scenario.repetitions) for n in range(len(scenario.cells)))


def repair(path: str | os.PathLike[str], *, jobs: int | None = None, progress: Progress | None = None) -> Results:
    """Make the missing and damaged runs of a directory again.

    Raises
    ------
    ResultsError
        If its scenario has own variants or rules: code in a results directory never runs.
    """
    store = Store(path)
    scenario = store.scenario()
    if code := scenario.cells.properties.code:
        raise ResultsError(
            f"{path}: the scenario runs own code ('{code[0]}'), and code in a results directory never runs: "
            f"dumbbell run SCENARIO --out {path} makes the runs again"
        )
    return run(scenario, out=path, jobs=jobs, backend=store.manifest()["backend"], progress=progress)


def merge(target: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str]]) -> Results:
    """Add the runs of directories of the same scenario to a directory, which is made if it doesn't exist.

    A run that several directories hold is taken from the first of them. The scenario with the most repetitions is
    that of the target. `Results.damaged` counts the damaged runs of the directories, which are left out.

    Raises
    ------
    ResultsError
        If a directory holds another scenario, version, build or back end.
    """
    stores = [Store(source) for source in sources]
    if not stores:
        raise ResultsError("nothing to merge: give at least one directory")
    into = Store(target)
    backend = str(stores[0].manifest()["backend"])
    scenario = max([store.scenario() for store in [*stores, into] if store.is_begun()], key=_most)
    for store in stores:
        store.check_same(scenario, backend)
    with into.open(scenario, backend):
        log = into.read(scenario)
        found = [(store, store.read(scenario)) for store in stores]
        places = {place for _, runs in found for place in runs.places()} - set(log.places())
        for part, of_part in groupby(sorted(places), lambda place: log.part(place[0])):
            for place in of_part:
                store, runs = next((store, runs) for store, runs in found if place in runs)
                run_ = runs.get(place)
                into.copy_files(store, run_.key)
                into.keep_stored([StoredRun.of(place[0], run_)], {})
            into.close(part)
        merged = Results(scenario, Runs(log, log.places()), store=into)
        into.finish(scenario, backend, merged.made_frames(), len(merged))
    results = Results.load(target)
    results.damaged += sum(runs.damaged for _, runs in found)
    return results


def _most(scenario: Scenario) -> int:
    """Return the most repetitions of a cell."""
    return scenario.repetitions if scenario.until is None else scenario.until.at_most
