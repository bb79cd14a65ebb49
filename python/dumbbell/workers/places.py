"""The places of workers, as ``--cluster`` names them: processes of this machine; satellites add other machines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar

from dumbbell.exceptions import DumbbellError
from dumbbell.satellites import load, satellites

__all__ = ["Cluster", "Processes", "Workers", "read"]

_LOCAL = re.compile(r"local:([1-9]\d{0,4})")
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


class Cluster(Protocol):
    """Where workers are."""

    @property
    def is_local(self) -> bool:
        """True for processes of this machine."""
        ...

    def workers(self, make: str, setup: object) -> Workers:
        """Return the workers, not started yet; the parameters are those of `dumbbell.workers.Pool`."""
        ...


@dataclass(frozen=True)
class Processes:
    """Processes of this machine, ``number`` of them."""

    number: int
    is_local: ClassVar[bool] = True

    def workers(self, make: str, setup: object) -> Workers:
        """Return the workers; see `Cluster`."""
        from dumbbell.workers.local import Pool  # slow to import

        return Pool(make, setup, self.number)


def read(text: str) -> Cluster:
    """Read the text of ``--cluster``.

    Raises
    ------
    DumbbellError
        If it has another form, or an extra that it needs is not installed.
    """
    if (found := _LOCAL.fullmatch(text)) is not None:
        return Processes(int(found[1]))
    others = {form: home for one in satellites().values() for form, home in one.workers.items()}
    for form, home in others.items():
        if text.partition(":")[0] == form.partition(":")[0] and (other := load(home)(text)) is not None:
            cluster: Cluster = other
            return cluster
    raise DumbbellError(f"--cluster: '{text}' given: must be one of {', '.join(['local:N', *others])}")
