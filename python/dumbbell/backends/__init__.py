"""Back ends: each makes runs of a scenario's cells. One file each.

::

    Simulator                  the packet-level simulator (sim)
    Kernel                     the real kernel (kernel): chooses one of the next three
      LinkEmulation, Tc        the host's own kernel, both of them `HostKernel`s
      Uml                      User-mode Linux in virtual time (uml)
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from dumbbell.backends.base import Backend, Finished, Job, Table
from dumbbell.backends.kernel import Kernel
from dumbbell.backends.link_emulation import LinkEmulation
from dumbbell.backends.sim import Simulator
from dumbbell.backends.tc import Tc
from dumbbell.backends.uml import Uml
from dumbbell.callable_package import call_lists
from dumbbell.exceptions import BackendError
from dumbbell.registry import unknown

__all__ = [
    "BACKENDS",
    "Backend",
    "Finished",
    "Job",
    "Kernel",
    "LinkEmulation",
    "Simulator",
    "Table",
    "Tc",
    "Uml",
    "backend",
]

BACKENDS: dict[str, type[Backend]] = {b.name: b for b in (Simulator, Kernel, Uml)}
"""Every back end by name."""

RENAMED = {"way": "emulation"}
"""Former names of options, with the names that replace them."""


def backend(name: str, options: Mapping[str, Any] | None = None) -> Backend:
    """Return the back end of that name, made with these options.

    Parameters
    ----------
    name : str
        A key of `BACKENDS`.
    options : mapping of str to object, optional
        Arguments of the back end's class.

    Raises
    ------
    BackendError
        The name or an option is unknown (the message has the nearest known one), or an option's value is not allowed.
    """
    if name not in BACKENDS:
        raise BackendError(unknown("back end", name, list(BACKENDS)))
    known = [p for p in signature(BACKENDS[name].__init__).parameters if p not in ("self", "args", "kwargs")]
    for option, value in (options or {}).items():
        if option in known:
            continue
        new = RENAMED.get(option)
        if new in known:
            raise BackendError(f"back end '{name}': option '{option}' is called '{new}' now: {new}={value}")
        none = "" if known else ": it has none"
        raise BackendError(f"back end '{name}': {unknown('option', option, known)}{none}")
    return BACKENDS[name](**(options or {}))


def _by_name() -> dict[str, type[Backend]]:
    """Return every back end by name."""
    return dict(BACKENDS)


call_lists(__name__, _by_name)
