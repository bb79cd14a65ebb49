"""Modes in which scenarios are read: with or without the check of every cell, which may be announced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["announce", "announce_before_cells", "checks_cells", "trusted"]

T = TypeVar("T")

_TRUSTED: ContextVar[bool] = ContextVar("_TRUSTED", default=False)
_ANNOUNCE: ContextVar[Callable[[Scenario], None] | None] = ContextVar("_ANNOUNCE", default=None)


@contextmanager
def _set(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def trusted() -> AbstractContextManager[None]:
    """Make scenarios without checking each cell.

    Stored scenarios were checked before they were stored, and a sweep checks its settings once for all cells.
    """
    return _set(_TRUSTED, True)


def checks_cells() -> bool:
    """Return True if a scenario that is made now checks every cell."""
    return not _TRUSTED.get()


def announce_before_cells(to: Callable[[Scenario], None]) -> AbstractContextManager[None]:
    """Call ``to`` with each scenario within the block before all cells of its sweep are checked."""
    return _set(_ANNOUNCE, to)


def announce(scenario: Scenario) -> None:
    """Announce a scenario whose cells are checked next."""
    to = _ANNOUNCE.get()
    if to is not None:
        to(scenario)
