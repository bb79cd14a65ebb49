"""Variants that users write: a Python class in a file or of the running program, or a library written in Rust.

A scenario gives the source in place (``variant = { python = "mine.py:Mine" }`` or ``{ library = "libmine.so" }``), or
names it for all its flows (``[variants]``). `register` names a class of the running program.
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

__all__ = ["KEYS", "OwnVariant", "VariantSource", "current", "free", "load", "named", "register", "scope"]


@dataclass(frozen=True)
class OwnVariant(OwnCode):
    """A variant that is not in the registry; its handle is a `_core.ExternalVariant`."""

    def check(self, params: dict[str, Any], preset: str) -> None:
        """Check parameters; raises ParamError."""
        if self.handle is None:
            return
        if self.key != "library":  # a library checks its parameters itself
            known = [name for name, *_ in self.handle.params]
            for name in params:
                if name not in known:
                    raise _core.ParamError(name, unknown("parameter", name, known))
        self.handle.check(params, preset)


class VariantSource(Source):
    """The source of an own variant: a Python class, or a library written in Rust."""


_NAMES: Names[OwnVariant] = Names("own_variants")
_REGISTERED = _NAMES.registered


def scope(variants: Mapping[str, OwnVariant]) -> AbstractContextManager[None]:
    """Make the names of a scenario valid within the block."""
    return _NAMES.scope(variants)


def current() -> Mapping[str, OwnVariant]:
    """Return the own variants by their currently valid names."""
    return _NAMES.current()


def named(name: str) -> OwnVariant | None:
    """Return the own variant of that name, if any."""
    return current().get(name)


def register(python_class: type, name: str | None = None) -> type:
    """Register a class of this program as a variant that scenarios can name.

    Parameters
    ----------
    python_class : type
        A class with ``on_ack`` and ``on_congestion``.
    name : str, optional
        The variant's name; default: the class's name. A class that was registered with this name before is replaced.

    Returns
    -------
    type
        The class, so that this function can be used as a decorator.

    Raises
    ------
    DumbbellError
        If the class lacks a method or attribute of a variant, or the name is one of a built-in variant.
    """
    name = name or python_class.__name__
    try:
        free(name)
        handle = _handle(python_class, name, code.file_of(python_class))
        _REGISTERED[name] = OwnVariant(name, code.content_of(python_class), handle=handle)
    except ValueError as e:
        raise DumbbellError(f"{name}: {e}") from None
    return python_class


def free(name: str) -> None:
    """Raise ValueError if the name is one of a built-in variant."""
    builtin = [n for v in registry.variants().values() for n in (v.name, *v.aliases)]
    if name in builtin:
        raise ValueError(f"'{name}' is the name of a variant of Dumbbell: choose another name")


def load(key: str, text: str, name: str | None = None) -> OwnVariant:
    """Load a variant from the source that a scenario gives; raises ValueError with the reason if that fails."""
    in_place = name is None
    name = name or (text if key == "python" else Path(text).name)
    found = code.find(key, text)
    handle = None
    if found.loads and key == "library":
        handle = _library(found.path.absolute(), found.content, name, text)
    elif found.loads:
        handle = _from_class(code.class_of(found, text), name, str(found.path))
    return OwnVariant(name, found.content, key, text, in_place, handle)


@lru_cache(maxsize=256)
def _library(path: Path, _content: str, name: str, shown: str) -> _core.ExternalVariant:
    try:
        return _core.ExternalVariant.from_library(path, name)
    except ValueError as e:
        raise ValueError(f"'{shown}' is not a variant: {e}") from None


@lru_cache(maxsize=256)
def _from_class(python_class: type, name: str, file: str) -> _core.ExternalVariant:
    return _handle(python_class, name, file)


def _handle(python_class: type, name: str, file: str) -> _core.ExternalVariant:
    """Make a variant of a class; raises ValueError if the class lacks something."""
    for method in ("on_ack", "on_congestion"):
        if not callable(getattr(python_class, method, None)):
            raise ValueError(f"class {python_class.__name__} has no method {method}: a variant needs it")
    ecn = getattr(python_class, "ecn", "stack")
    if ecn not in ("stack", "dctcp", "scalable"):
        raise ValueError(f"class {python_class.__name__}: " + unknown("ecn", str(ecn), ["stack", "dctcp", "scalable"]))
    return _core.ExternalVariant.from_class(
        python_class,
        name,
        title=code.title_of(python_class),
        file=file,
        columns=code.columns_of(python_class),
        params=code.parameters_of(python_class, "connection's setup"),
        ecn=ecn,
        own_recovery=bool(getattr(python_class, "own_recovery", False)),
    )
