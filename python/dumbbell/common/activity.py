"""Reports of a back end about its work before a run, for a progress bar.

>>> from dumbbell.common.activity import heard, report
>>> with heard(print):
...     report("calibrating: 3 of 200 paths")
calibrating: 3 of 200 paths
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["heard", "report"]

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("_LISTENER", default=None)


@contextmanager
def heard(listener: Callable[[str], None]) -> Iterator[None]:
    """Call ``listener`` with each `report` within the block."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report(activity: str) -> None:
    """Report an activity that takes a while; an empty text ends it."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(activity)
