"""What a back end is: it takes jobs and gives finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dumbbell.plan.build import build
from dumbbell.scenario import Cell

__all__ = ["Backend", "Finished", "Job", "Table"]

Table = dict[str, npt.NDArray[np.generic]]
"""Columns by name, all of one length."""


@dataclass(frozen=True)
class Job:
    """One run to make: a cell and a repetition of it."""

    cell: Cell
    repetition: int
    seed: int

    def plan(self) -> dict[str, Any]:
        """The plan of the run."""
        return build(self.cell.scenario, self.seed)


@dataclass(frozen=True)
class Finished:
    """A run that was made: metrics as plain values, series as tables by name, captures as what writes them."""

    job: Job
    flows: list[dict[str, Any]]
    queues: list[dict[str, Any]]
    transfers: list[dict[str, Any]]
    tables: dict[str, Table] = field(default_factory=dict)
    captures: dict[str, Callable[[Path], None]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    """How it was made, where that isn't the simulator: the kernel, what was measured of the link, what speaks against
    the run (``invalid``, ``warnings``: sentences)."""


class Backend(Protocol):
    """Makes runs: the simulator here, a real kernel or other machines beside it."""

    name: str

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse what can't be honored, by name, before anything is made.

        Raises
        ------
        BackendError
            The place in the scenario, and why.
        """
        ...

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Make all runs, ``parallel`` at a time, and give each as soon as it is finished, in any order.

        Closing the iterator (or an exception in its consumer) cancels what has not begun.

        Raises
        ------
        BackendError
            If a run can't be made.
        """
        ...
