"""The task of worker processes, here and on other machines: some runs of a sweep at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from dumbbell import _core
from dumbbell.backends import Job
from dumbbell.backends.sim import Simulator
from dumbbell.exceptions import BackendError, DumbbellError
from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.column_parts import FramePart
from dumbbell.results.runs.record import Run, UnreadRun, run_key
from dumbbell.results.runs.run_list import Place
from dumbbell.results.runs.run_text import StoredRun
from dumbbell.results.store.build_hash import build_hash
from dumbbell.results.store.run_files import MovedFiles, PackedFiles
from dumbbell.scenario.worker_copy import WorkerCopy

__all__ = ["FinishedRuns", "Setup", "Task", "maker"]

MOST_BYTES = 32_000_000
"""Bytes of series and captures after which a batch begins no further run."""


@dataclass
class FinishedRuns:
    """Finished runs of a sweep.

    Attributes
    ----------
    runs : list of StoredRun
    rows : FramePart or None
        Their rows as columns, compressed.
    files : dict of str to PackedFiles or MovedFiles
        Their series and captures, by key.
    left : sequence of (int, int)
        Runs that were not begun, because the others took long, or have large files.
    error : str or None
        The error that ended the batch.
    took_s : float
        Its time, seconds.
    """

    runs: list[StoredRun] = field(default_factory=list)
    rows: FramePart | None = None
    files: dict[str, PackedFiles | MovedFiles] = field(default_factory=dict)
    left: Sequence[Place] = ()
    error: str | None = None
    took_s: float = 0.0


@dataclass(frozen=True)
class Setup:
    """All that a worker needs.

    Attributes
    ----------
    scenario : WorkerCopy
    build : str
        The build of Dumbbell that the worker must have.
    folder : Path or None
        Where a worker on the same machine puts the files of runs; the others return their contents.
    """

    scenario: WorkerCopy
    build: str
    folder: Path | None = None


Task = tuple[Sequence[Place], float]
"""The runs of a batch, and the seconds after which it begins no further run."""


def maker(setup: Setup) -> Callable[[Task], FinishedRuns]:
    """Return the function that makes batches of the runs of a scenario; BackendError with another build."""
    if setup.build != build_hash():
        raise BackendError(
            f"--cluster: a worker has another build of dumbbell ({_core.version}, {build_hash()}; here: "
            f"{setup.build}): install the same wheel everywhere"
        )
    scenario = setup.scenario.scenario()
    cells, simulator, folder = scenario.cells, Simulator(), setup.folder

    def make(task: Task) -> FinishedRuns:
        places, longest_s = task
        batch, made = FinishedRuns(), list[Run]()
        began, size = time.perf_counter(), 0
        for k, (cell, repetition) in enumerate(places):
            if made and (time.perf_counter() - began > longest_s or size > MOST_BYTES):
                batch.left = places[k:]
                break
            job = Job(cells[cell], repetition, scenario.repetition_seed(repetition))
            try:
                finished = simulator.one(job)
                run = UnreadRun.of(finished, run_key(job)).read()
                files = PackedFiles.of(finished) if folder is None else MovedFiles.of(finished, folder)
            except DumbbellError as e:
                batch.error = str(e)
                break
            except OSError as e:
                batch.error = f"a worker can't write the files of a run: {e.strerror or e}"
                break
            if files is not None:
                batch.files[run.key] = files
                size += files.size
            made.append(run)
            batch.runs.append(StoredRun.of(cell, run))
        if made:
            of_cells = [run.cell for run in batch.runs]
            batch.rows = FramePart.of(made, get_args(Frame), of_cells).packed()
        batch.took_s = time.perf_counter() - began
        return batch

    return make
