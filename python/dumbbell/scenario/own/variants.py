"""Variants that users write: a Python class in a file or of the running program, or a library written in Rust.

A scenario gives the source in place (``variant = { python = "mine.py:Mine" }`` or ``{ library = "libmine.so" }``), or
names it for all its flows (``[variants]``). `register` names a class of the running program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dumbbell import _core, registry
from dumbbell.registry import unknown
from dumbbell.scenario.own.code import KEYS, OwnCode, Source
from dumbbell.scenario.own.kind import Kind

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


def _taken() -> list[str]:
    return [name for v in registry.variants().values() for name in (v.name, *v.aliases)]


def _more(python_class: type) -> dict[str, Any]:
    ecn = getattr(python_class, "ecn", "stack")
    if ecn not in ("stack", "dctcp", "scalable"):
        raise ValueError(f"class {python_class.__name__}: " + unknown("ecn", str(ecn), ["stack", "dctcp", "scalable"]))
    return {"ecn": ecn, "own_recovery": bool(getattr(python_class, "own_recovery", False))}


KIND = Kind(
    "variant", OwnVariant, _core.ExternalVariant, ("on_ack", "on_congestion"), "connection's setup", _taken, _more
)
scope, current, named, free, load = KIND.scope, KIND.current, KIND.named, KIND.free, KIND.load


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
    return KIND.register(python_class, name)
