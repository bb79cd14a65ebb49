"""The places of workers, as ``--cluster`` names them: processes of this machine, or machines that dask reaches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from dumbbell import extras
from dumbbell.exceptions import DumbbellError

__all__ = ["FORMS", "Cluster", "Workers", "read"]

FORMS = "local:N, dask://HOST:PORT, slurm:N, pbs:N"
_LOCAL = re.compile(r"(local|slurm|pbs):([1-9]\d{0,4})")
_DASK = re.compile(r"dask://([^\s/:]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")
Task = TypeVar("Task")


class Workers(Protocol):
    """Workers that do one kind of task."""

    def __enter__(self) -> Self:
        """Start the workers, or connect to them."""
        ...

    def __exit__(self, *error: object) -> None:
        """End what was started."""
        ...

    @property
    def count(self) -> int:
        """The number of tasks that are done at the same time; it may change."""
        ...

    def run(self, next_task: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Give out tasks, and yield each with its reply, in any order: see `dumbbell.workers.Pool.run`."""
        ...


@dataclass(frozen=True)
class Cluster:
    """Where workers are.

    Attributes
    ----------
    kind : str
        "local", "dask", "slurm" or "pbs".
    number : int
        Processes ("local") or jobs ("slurm", "pbs").
    address : str
        Of the scheduler ("dask").
    """

    kind: str
    number: int = 0
    address: str = ""

    @property
    def is_local(self) -> bool:
        """True for processes of this machine."""
        return self.kind == "local"

    def workers(self, make: str, setup: object) -> Workers:
        """Return the workers, not started yet; the parameters are those of `dumbbell.workers.Pool`."""
        if self.is_local:
            from dumbbell.workers.local import Pool  # noqa: PLC0415 - slow to import

            return Pool(make, setup, self.number)
        from dumbbell.workers.dask_pool import DaskPool  # noqa: PLC0415 - needs an extra

        return DaskPool(self, make, setup)


def read(text: str) -> Cluster:
    """Read the text of ``--cluster``.

    Raises
    ------
    DumbbellError
        If it has another form, or the extra ``cluster`` is needed and not installed.
    """
    if (found := _LOCAL.fullmatch(text)) is not None:
        cluster = Cluster(found[1], int(found[2]))
    elif (found := _DASK.fullmatch(text)) is not None and int(found[2]) < 2**16:
        cluster = Cluster("dask", address=f"tcp://{found[1]}:{found[2]}")
    else:
        raise DumbbellError(f"--cluster: '{text}' given: must be one of {FORMS}")
    if not cluster.is_local:
        extras.require("distributed", *(() if cluster.kind == "dask" else ("dask_jobqueue",)))
    return cluster
