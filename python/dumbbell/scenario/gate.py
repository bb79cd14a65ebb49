"""The gate that code of a scenario passes before it is loaded: own variants, own disciplines, own rules, libraries.

It is closed: only within a block of `guarded` is code loaded. A scenario that was made there keeps this right, so that
its cells can be made later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from dumbbell.exceptions import Problem, ScenarioError

__all__ = ["allow_code", "ask", "guarded", "is_open", "refuse"]

Gate = Callable[[str], None]
_GATE: ContextVar[Gate | None] = ContextVar("_GATE", default=None)


@contextmanager
def guarded(gate: Gate) -> Iterator[None]:
    """Let scenarios that are read within the block load their code; ``gate`` gets the name of each piece before.

    It is called once or more for each piece. If it raises, the code isn't loaded.
    """
    token = _GATE.set(gate)
    try:
        yield
    finally:
        _GATE.reset(token)


def allow_code() -> AbstractContextManager[None]:
    """Let scenarios that are read or made within a ``with`` block load their own code.

    A scenario's own variants, queue disciplines and rules in files are code of its author. It runs with the rights of
    this program as soon as the scenario is read. Outside of such a block it is refused. Classes that this program
    registers itself need no block.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import dumbbell
    >>> with dumbbell.allow_code():
    ...     scenario = dumbbell.load("cbr.toml")
    """
    return guarded(lambda _: None)


def is_open() -> bool:
    """Return True if scenarios that are read now may load code."""
    return _GATE.get() is not None


def ask(what: str) -> None:
    """Ask the gate, if there is one."""
    gate = _GATE.get()
    if gate is not None:
        gate(what)


def refuse(what: str) -> None:
    """Refuse code; raises ScenarioError."""
    raise ScenarioError(
        [
            Problem(
                "",
                f"the scenario runs {what}, which isn't loaded here: `dumbbell run` and `dumbbell check` load code, in "
                "Python a block `with dumbbell.allow_code():`",
            )
        ]
    )
