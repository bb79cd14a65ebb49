"""Checks of the back ends' options, and the name of a run's cell in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from dumbbell.backends.base import Job
from dumbbell.exceptions import BackendError
from dumbbell.registry import unknown

__all__ = ["Automatic", "Switch", "cell_of", "is_on", "number", "on_or_auto", "one_of", "sample"]

Switch = Literal["off", "on"]
Automatic = Literal["auto", "off", "on"]


def number(option: str, value: object, least: float, most: float | None = None) -> float:
    """Return an option's value as a number.

    Raises
    ------
    BackendError
        The value isn't a number from ``least`` to ``most``; the message has the allowed range.
    """
    # Comparisons with NaN are false, so a value that is no number is refused too.
    given = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")
    if not least <= given <= (most if most is not None else 1e12):
        allowed = f"of {least:g} or more" if most is None else f"from {least:g} to {most:g}"
        raise BackendError(f"{option}: {_as_given(value)} given: must be a number {allowed}")
    return given


def sample(value: object) -> float:
    """Return the option ``sample_ms``: time between two samples of a connection's state, ms."""
    return number("sample_ms", value, 0.1, 10_000)


def one_of(option: str, value: object, names: Sequence[str]) -> str:
    """Return an option's value, which must be one of ``names``.

    Raises
    ------
    BackendError
        The value is none of them; the message has the nearest.
    """
    if value not in names:
        raise BackendError(unknown(option, _as_given(value), list(names)))
    return str(value)


def is_on(option: str, value: Switch) -> bool:
    """Return True if a switch is ``on``, False if it is ``off``; BackendError otherwise."""
    return one_of(option, value, get_args(Switch)) == "on"


def on_or_auto(option: str, value: Automatic) -> bool | None:
    """Return True for ``on``, False for ``off``, None for ``auto``; BackendError otherwise."""
    chosen = one_of(option, value, get_args(Automatic))
    return None if chosen == "auto" else chosen == "on"


def _as_given(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def cell_of(job: Job) -> str:
    """Return the cell of a run in brackets, for messages; empty if the scenario has only one cell."""
    cell = ", ".join(f"{k} = {v!r}" for k, v in job.cell.values.items())
    return f" (cell {cell})" if cell else ""
