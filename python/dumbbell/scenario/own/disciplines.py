"""Queue disciplines that users write: a Python class in a file or of the running program, or a library in Rust.

A scenario gives the source in place (``queue = { python = "mine.py:Mine" }`` or ``{ library = "libmine.so" }``), or
names it for all its links (``[disciplines]``). `register` names a class of the running program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dumbbell import _core, registry
from dumbbell.registry import unknown
from dumbbell.scenario.own.code import KEYS, OwnCode, Source
from dumbbell.scenario.own.kind import Kind

__all__ = ["KEYS", "DisciplineSource", "OwnDiscipline", "current", "free", "load", "named", "register", "scope"]


@dataclass(frozen=True)
class OwnDiscipline(OwnCode):
    """A queue discipline that is not in the registry; its handle is a `_core.ExternalDiscipline`."""

    def check(self, params: dict[str, Any], rate_bps: int, base_rtt_ns: int) -> int | None:
        """Check parameters on a link; raises ParamError. Returns the number of its classes; None if it has none."""
        if self.handle is None:
            return None
        self.check_names(params)
        classes: int | None = self.handle.check(params, rate_bps, base_rtt_ns)
        return classes

    def check_names(self, params: dict[str, Any]) -> None:
        """Check the names of parameters of a class; raises ParamError. A library checks its parameters itself."""
        if self.handle is None or self.key == "library":
            return
        known = [name for name, *_ in self.handle.params]
        for name in params:
            if name not in known:
                raise _core.ParamError(name, unknown("parameter", name, known))


class DisciplineSource(Source):
    """The source of an own queue discipline: a Python class, or a library written in Rust."""


KIND = Kind(
    "queue discipline", OwnDiscipline, _core.ExternalDiscipline, ("enqueue", "dequeue"), "link", registry.disciplines
)
scope, current, named, free, load = KIND.scope, KIND.current, KIND.named, KIND.free, KIND.load


def register(python_class: type, name: str | None = None) -> type:
    """Register a class of this program as a queue discipline that scenarios can name.

    Parameters
    ----------
    python_class : type
        A class with ``enqueue`` and ``dequeue``.
    name : str, optional
        The discipline's name; default: the class's name. A class that was registered with it before is replaced.

    Returns
    -------
    type
        The class, so that this function can be used as a decorator.

    Raises
    ------
    DumbbellError
        If the class lacks a method of a discipline, or the name is one of a built-in discipline.
    """
    return KIND.register(python_class, name)
