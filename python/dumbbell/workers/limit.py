"""The number of worker processes that may be started."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dumbbell.common.processors import cores

__all__ = ["allowed", "at_most"]

_AT_MOST: ContextVar[int | None] = ContextVar("_AT_MOST", default=None)


@contextmanager
def at_most(count: int | None) -> Iterator[None]:
    """Limit the worker processes within the block; None: one for each processor."""
    token = _AT_MOST.set(count)
    try:
        yield
    finally:
        _AT_MOST.reset(token)


def allowed() -> int:
    """Return the number of worker processes that may be started; 1 if this Python can't start any."""
    if not sys.executable or getattr(sys, "frozen", False):
        return 1
    return _AT_MOST.get() or cores()
