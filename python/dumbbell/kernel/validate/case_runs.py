"""Runs cases on a back end; finished cases in the directory are not run again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from dumbbell import _core
from dumbbell.backends import Backend, Finished, Job
from dumbbell.common.documents import read_json
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.exceptions import ResultsError
from dumbbell.kernel.validate.cases import Case
from dumbbell.kernel.validate.measurements import Measured
from dumbbell.plan.build import build

__all__ = ["held", "measure"]

Progress = Callable[[int, int], None]


def measure(
    cases: Sequence[Case],
    backend: Backend,
    *,
    jobs: int,
    keep: Path | None = None,
    progress: Progress = lambda _done, _all: None,
) -> dict[str, Measured]:
    """Run every case; returns the measurements by the case's name.

    Parameters
    ----------
    keep : Path, optional
        Directory for finished cases. A case is measured again if the simulator's version or the scenario has changed.

    Raises
    ------
    BackendError, ResultsError
    """
    found: dict[str, Measured] = {}
    waiting: dict[str, list[Finished | None]] = {}
    todo: list[Job] = []
    owner: dict[int, Case] = {}
    for case in cases:
        kept = held(case, backend, keep)
        if kept is not None:
            found[case.name] = kept
            continue
        cell = case.scenario.cells[0]
        waiting[case.name] = [None] * case.scenario.repetitions
        for repetition in range(case.scenario.repetitions):
            job = Job(cell, repetition, case.scenario.repetition_seed(repetition))
            owner[id(job)] = case
            todo.append(job)
    total, done = sum(c.scenario.repetitions for c in cases), 0
    done = total - len(todo)
    progress(done, total)
    for finished in backend.run(todo, jobs):
        case = owner[id(finished.job)]
        runs = waiting[case.name]
        runs[finished.job.repetition] = finished
        if all(run is not None for run in runs):
            whole = [run for run in waiting.pop(case.name) if run is not None]
            found[case.name] = Measured.of(whole, case.scenario.duration.ns * 1e-9)
            _keep(case, backend, keep, found[case.name])
        done += 1
        progress(done, total)
    return {case.name: found[case.name] for case in cases}


def _name(case: Case, backend: Backend) -> str:
    plan = build(case.scenario.cells[0].scenario)
    version = _core.version if backend.name == "sim" else ""
    seeds = [case.scenario.repetition_seed(r) for r in range(case.scenario.repetitions)]
    text = json.dumps([plan, seeds, version], sort_keys=True)
    return f"{backend.name}/{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def held(case: Case, backend: Backend, keep: Path | None) -> Measured | None:
    """Return the measurements of a case that the directory has; None if there are none."""
    if keep is None or backend.name == "sim":
        return None  # simulator runs are fast and may be of a version under development
    try:
        content = read_json(LinkFreeFolder(keep).read(_name(case, backend)))
        return Measured.read(content["flows"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(case: Case, backend: Backend, keep: Path | None, measured: Measured) -> None:
    if keep is None or backend.name == "sim":
        return
    name = _name(case, backend)
    try:
        LinkFreeFolder(keep).write_text(name, json.dumps({"case": case.name, "flows": measured.document()}))
    except OSError as e:
        raise ResultsError(f"{keep / name}: can't be written: {e.strerror or e}") from None
