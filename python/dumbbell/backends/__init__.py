"""Back ends: each makes runs of a scenario's cells. The simulator is here; satellites add the others.

``dumbbell.backends()`` returns every back end by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from dumbbell.backends.base import Backend, Chooser, Finished, Holder, Installed, Job, RowLists, Rows, Stepwise, Table
from dumbbell.common.callable_package import call_lists
from dumbbell.common.lazy import lazy as _lazy
from dumbbell.exceptions import BackendError
from dumbbell.registry import unknown
from dumbbell.satellites import load, satellites

if TYPE_CHECKING:
    from dumbbell.backends.sim import Simulator

__all__ = [
    "Backend",
    "Chooser",
    "Finished",
    "Holder",
    "Installed",
    "Job",
    "RowLists",
    "Rows",
    "Simulator",
    "Stepwise",
    "Table",
    "backend",
    "names",
]

SIMULATOR = "dumbbell.backends.sim:Simulator"


def _homes() -> dict[str, str]:
    """Return the home of each back end's class by the back end's name."""
    return {"sim": SIMULATOR, **{k: v for one in satellites().values() for k, v in one.backends.items()}}


def names() -> list[str]:
    """Return the name of every back end."""
    return list(_homes())


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class of a satellite
    """Import the class of a back end when it is used first."""
    classes = {home.partition(":")[2]: home for home in _homes().values()}
    for one in satellites().values():
        classes |= one.backend_classes
    return _lazy(__name__, classes)(name)


RENAMED = {"way": "emulation"}
"""Former names of options, with the names that replace them."""


def backend(name: str, options: Mapping[str, Any] | None = None) -> Backend:
    """Return the back end of that name, made with these options.

    Parameters
    ----------
    name : str
        One of `names`.
    options : mapping of str to object, optional
        Arguments of the back end's class.

    Raises
    ------
    BackendError
        The name or an option is unknown (the message has the nearest known one), or an option's value is not allowed.
    """
    if name not in names():
        raise BackendError(unknown("back end", name, names()))
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
    return {name: _class(name) for name in names()}


def _class(name: str) -> type[Backend]:
    """Import the class of a back end."""
    found: type[Backend] = load(_homes()[name])
    return found


call_lists(__name__, _by_name)
