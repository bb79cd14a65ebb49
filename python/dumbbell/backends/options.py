"""Options of back ends, checked; and how messages name a run's cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from dumbbell.backends.base import Job
from dumbbell.exceptions import BackendError
from dumbbell.registry import unknown

__all__ = ["Switch", "is_on", "number", "one_of", "sample", "where"]

Switch = Literal["off", "on"]


def number(option: str, value: object, least: float, most: float | None = None) -> float:
    """Give a number that an option may have; BackendError with what is allowed if it isn't one."""
    # What is no number compares as false.
    given = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")
    if not least <= given <= (most if most is not None else 1e12):
        allowed = f"of {least:g} or more" if most is None else f"from {least:g} to {most:g}"
        raise BackendError(f"{option}: {_as_given(value)} given: must be a number {allowed}")
    return given


def sample(value: object) -> float:
    """Give the time between two samples of a connection's state, ms."""
    return number("sample_ms", value, 0.1, 10_000)


def one_of(option: str, value: object, names: Sequence[str]) -> str:
    """Give one of some names; BackendError with the nearest if it is none of them."""
    if value not in names:
        raise BackendError(unknown(option, _as_given(value), list(names)))
    return str(value)


def is_on(option: str, value: Switch) -> bool:
    """Whether a switch is on; BackendError if it is neither that nor off."""
    return one_of(option, value, get_args(Switch)) == "on"


def _as_given(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def where(job: Job) -> str:
    """Name the cell of a run, in brackets; nothing where there is but one."""
    cell = ", ".join(f"{k} = {v!r}" for k, v in job.cell.values.items())
    return f" (cell {cell})" if cell else ""
