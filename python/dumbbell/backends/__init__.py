"""Back ends: what turns a scenario's cells into runs. One file each."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from dumbbell.backends.base import Backend, Finished, Job, Table
from dumbbell.backends.kernel import Kernel
from dumbbell.backends.own_link import OwnLink
from dumbbell.backends.sim import Simulator
from dumbbell.backends.tc import Tc
from dumbbell.backends.uml import Uml

__all__ = [
    "BACKENDS",
    "Backend",
    "Finished",
    "Job",
    "Kernel",
    "OwnLink",
    "Simulator",
    "Table",
    "Tc",
    "Uml",
    "backend",
]

BACKENDS: dict[str, type[Backend]] = {b.name: b for b in (Simulator, Kernel, Uml)}
"""Every back end by name."""


def backend(name: str, options: Mapping[str, Any] | None = None) -> Backend:
    """Give the back end of that name, made with these options.

    Raises
    ------
    BackendError
        There is none of that name (it says the nearest), or it has no such option.
    """
    from dumbbell.exceptions import BackendError  # noqa: PLC0415
    from dumbbell.registry import unknown  # noqa: PLC0415

    if name not in BACKENDS:
        raise BackendError(unknown("back end", name, list(BACKENDS)))
    known = [p for p in signature(BACKENDS[name].__init__).parameters if p not in ("self", "args", "kwargs")]
    for option in options or {}:
        if option not in known:
            none = "" if known else ": it has none"
            raise BackendError(f"back end '{name}': {unknown('option', option, known)}{none}")
    return BACKENDS[name](**(options or {}))
