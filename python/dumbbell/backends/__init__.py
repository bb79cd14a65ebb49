"""Back ends: each makes runs of a scenario's cells. One file each.

::

    Simulator                  the packet-level simulator (sim)
    Kernel                     the real kernel (kernel): chooses one of the next three
      LinkEmulation, Tc        the host's own kernel, both of them `HostKernel`s
      Uml                      User-mode Linux in virtual time (uml)
    Ssh                        real machines over SSH (ssh)
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from dumbbell.backends.base import Backend, Finished, Job, RowLists, Rows, Table
from dumbbell.callable_package import call_lists
from dumbbell.exceptions import BackendError
from dumbbell.lazy import lazy as _lazy
from dumbbell.registry import unknown

if TYPE_CHECKING:
    from dumbbell.backends.kernel import Kernel
    from dumbbell.backends.link_emulation import LinkEmulation
    from dumbbell.backends.sim import Simulator
    from dumbbell.backends.ssh import Ssh
    from dumbbell.backends.tc import Tc
    from dumbbell.backends.uml import Uml

__all__ = [
    "NAMES",
    "Backend",
    "Finished",
    "Job",
    "Kernel",
    "LinkEmulation",
    "RowLists",
    "Rows",
    "Simulator",
    "Ssh",
    "Table",
    "Tc",
    "Uml",
    "backend",
]

NAMES = {"sim": "Simulator", "kernel": "Kernel", "uml": "Uml", "ssh": "Ssh"}
"""Every back end by name, with the name of its class."""

_HOMES = {
    "Kernel": "kernel",
    "LinkEmulation": "link_emulation",
    "Simulator": "sim",
    "Ssh": "ssh",
    "Tc": "tc",
    "Uml": "uml",
}
__getattr__ = _lazy(__name__, {name: f"{__name__}.{module}" for name, module in _HOMES.items()})

RENAMED = {"way": "emulation"}
"""Former names of options, with the names that replace them."""


def backend(name: str, options: Mapping[str, Any] | None = None) -> Backend:
    """Return the back end of that name, made with these options.

    Parameters
    ----------
    name : str
        A key of `NAMES`.
    options : mapping of str to object, optional
        Arguments of the back end's class.

    Raises
    ------
    BackendError
        The name or an option is unknown (the message has the nearest known one), or an option's value is not allowed.
    """
    if name not in NAMES:
        raise BackendError(unknown("back end", name, list(NAMES)))
    found = _class(name)
    known = [p for p in signature(found.__init__).parameters if p not in ("self", "args", "kwargs")]
    for option, value in (options or {}).items():
        if option in known:
            continue
        new = RENAMED.get(option)
        if new in known:
            raise BackendError(f"back end '{name}': option '{option}' is called '{new}' now: {new}={value}")
        none = "" if known else ": it has none"
        raise BackendError(f"back end '{name}': {unknown('option', option, known)}{none}")
    return found(**(options or {}))


def _by_name() -> dict[str, type[Backend]]:
    """Return every back end by name."""
    return {name: _class(name) for name in NAMES}


def _class(name: str) -> type[Backend]:
    """Import the class of a back end."""
    found: type[Backend] = getattr(sys.modules[__name__], NAMES[name])
    return found


call_lists(__name__, _by_name)
