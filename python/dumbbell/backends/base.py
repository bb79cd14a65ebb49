"""The interface of back ends: they take jobs and return finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from dumbbell.plan.build import build
from dumbbell.scenario import Cell

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Backend", "Chooser", "Finished", "Holder", "Installed", "Job", "RowLists", "Rows", "Stepwise", "Table"]

Table: TypeAlias = "dict[str, npt.NDArray[np.generic]]"
"""Columns by name, all of one length."""


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


@runtime_checkable
class Stepwise(Protocol):
    """A back end that executes steps which it can list, such as commands."""

    def steps(self, job: Job) -> list[str]:
        """Return every step of a run."""
        ...


@runtime_checkable
class Installed(Protocol):
    """A back end that needs something on this host, such as a kernel that is built."""

    def require_installed(self) -> None:
        """Raise BackendError, with the remedy, if something is missing: no scenario can be run then."""
        ...


@runtime_checkable
class Chooser(Protocol):
    """A back end that chooses among others."""

    def choose(self, jobs: Sequence[Job]) -> tuple[Backend, str]:
        """Return the back end that will run these jobs, and a sentence that names it."""
        ...


@runtime_checkable
class Holder(Protocol):
    """A back end that can keep the network of a run, with its option ``hold``."""

    def converse(self) -> bool:
        """Execute commands of stdin in the network that is held; False if there is none, because no run was made."""
        ...

    def release(self) -> None:
        """End the network that is held."""
        ...
