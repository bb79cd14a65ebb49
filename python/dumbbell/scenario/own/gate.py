"""The gate that code of a scenario passes before it is loaded: own variants, own rules, libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["ask", "guarded"]

Gate = Callable[[str], None]
_GATE: ContextVar[Gate | None] = ContextVar("_GATE", default=None)


@contextmanager
def guarded(gate: Gate) -> Iterator[None]:
    """Call ``gate`` with the name of each piece of code within the block before it is loaded.

    It is called once or more for each piece. If it raises, the code isn't loaded.
    """
    token = _GATE.set(gate)
    try:
        yield
    finally:
        _GATE.reset(token)


def ask(what: str) -> None:
    """Ask the gate, if there is one."""
    gate = _GATE.get()
    if gate is not None:
        gate(what)
