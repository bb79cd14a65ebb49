"""Queue disciplines that users write: a Python class in a file or of the running program, or a library in Rust.

A scenario gives the source in place (``queue = { python = "mine.py:Mine" }`` or ``{ library = "libmine.so" }``), or
names it for all its links (``[disciplines]``). `register` names a class of the running program.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dumbbell import _core, registry
from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown
from dumbbell.scenario.own import code
from dumbbell.scenario.own.code import KEYS, Names, OwnCode, Source

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


_NAMES: Names[OwnDiscipline] = Names("own_disciplines")
_REGISTERED = _NAMES.registered


def scope(disciplines: Mapping[str, OwnDiscipline]) -> AbstractContextManager[None]:
    """Make the names of a scenario valid within the block."""
    return _NAMES.scope(disciplines)


def current() -> Mapping[str, OwnDiscipline]:
    """Return the own disciplines by their currently valid names."""
    return _NAMES.current()


def named(name: str) -> OwnDiscipline | None:
    """Return the own discipline of that name, if any."""
    return current().get(name)


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
    name = name or python_class.__name__
    try:
        free(name)
        handle = _handle(python_class, name, code.file_of(python_class))
        _REGISTERED[name] = OwnDiscipline(name, code.content_of(python_class), handle=handle)
    except ValueError as e:
        raise DumbbellError(f"{name}: {e}") from None
    return python_class


def free(name: str) -> None:
    """Raise ValueError if the name is one of a built-in discipline."""
    if name in registry.disciplines():
        raise ValueError(f"'{name}' is the name of a queue discipline of Dumbbell: choose another name")


def load(key: str, text: str, name: str | None = None) -> OwnDiscipline:
    """Load a discipline from the source that a scenario gives; raises ValueError with the reason if that fails."""
    in_place = name is None
    name = name or (text if key == "python" else Path(text).name)
    found = code.find(key, text)
    handle = None
    if found.loads and key == "library":
        handle = _library(found.path.absolute(), found.content, name, text)
    elif found.loads:
        handle = _from_class(code.class_of(found, text), name, str(found.path))
    return OwnDiscipline(name, found.content, key, text, in_place, handle)


@lru_cache(maxsize=256)
def _library(path: Path, _content: str, name: str, shown: str) -> _core.ExternalDiscipline:
    try:
        return _core.ExternalDiscipline.from_library(path, name)
    except ValueError as e:
        raise ValueError(f"'{shown}' is not a queue discipline: {e}") from None


@lru_cache(maxsize=256)
def _from_class(python_class: type, name: str, file: str) -> _core.ExternalDiscipline:
    return _handle(python_class, name, file)


def _handle(python_class: type, name: str, file: str) -> _core.ExternalDiscipline:
    """Make a discipline of a class; raises ValueError if the class lacks something."""
    for method in ("enqueue", "dequeue"):
        if not callable(getattr(python_class, method, None)):
            raise ValueError(f"class {python_class.__name__} has no method {method}: a queue discipline needs it")
    return _core.ExternalDiscipline.from_class(
        python_class,
        name,
        title=code.title_of(python_class),
        file=file,
        columns=code.columns_of(python_class),
        params=code.parameters_of(python_class, "link"),
    )
