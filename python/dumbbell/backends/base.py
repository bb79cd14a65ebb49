"""The interface of back ends: they take jobs and return finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dumbbell.kernel.outcome import Table
from dumbbell.plan.build import build
from dumbbell.scenario import Cell

__all__ = ["Backend", "Finished", "Job", "RowLists", "Rows", "Table"]


@dataclass(frozen=True)
class Job:
    """One run to make: a repetition of a cell.

    Attributes
    ----------
    cell : Cell
        The cell of the scenario's sweep.
    repetition : int
        Counts from 0.
    seed : int
        Seed of the run's random streams.
    """

    cell: Cell
    repetition: int
    seed: int

    def plan(self) -> dict[str, Any]:
        """Return the plan of the run."""
        return build(self.cell.scenario, self.seed)


class Rows(Protocol):
    """The rows of a run, plain values. The simulator makes them at each access."""

    @property
    def flows(self) -> list[dict[str, Any]]:
        """A row for each flow."""
        ...

    @property
    def queues(self) -> list[dict[str, Any]]:
        """A row for each direction of a link."""
        ...

    @property
    def transfers(self) -> list[dict[str, Any]]:
        """A row for each transfer, page or ping."""
        ...


@dataclass(frozen=True)
class RowLists:
    """Rows as lists, which all back ends except the simulator have."""

    flows: list[dict[str, Any]]
    queues: list[dict[str, Any]]
    transfers: list[dict[str, Any]]


@dataclass(frozen=True)
class Finished:
    """A finished run.

    Attributes
    ----------
    job : Job
        The run that was asked for.
    rows : Rows
        Rows of results.
    tables : dict of str to Table
        Series by name, such as ``flow/f``.
    captures : dict of str to callable
        By capture point: a function that writes the capture file to a path. Names of
        qlog files that programs have written end with ".qlog".
    qlogs : dict of str to str
        The qlog files of QUIC connections, by name.
    facts : dict
        How the run was made. Empty for the simulator; for a kernel its version and settings, measurements of the
        link, and sentences about the run's validity (``invalid``, ``warnings``).
    """

    job: Job
    rows: Rows
    tables: Mapping[str, Table] = field(default_factory=dict)
    captures: dict[str, Callable[[Path], None]] = field(default_factory=dict)
    qlogs: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Backend(Protocol):
    """Makes runs.

    Attributes
    ----------
    name : str
        The name that ``--backend`` takes.
    """

    name: str

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse jobs that this back end can't run, before anything is made.

        Raises
        ------
        BackendError
            The place in the scenario, and the reason.
        """
        ...

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Run all jobs, ``parallel`` at a time, and yield each result as soon as it is available, in any order.

        Closing the iterator (or an exception in its consumer) cancels the jobs that have not begun.

        Raises
        ------
        BackendError
            A run can't be made.
        """
        ...
