"""Functions of higher packages that a lower one offers as its own attributes, such as ``results.plot``.

The package ``dumbbell`` knows both sides and registers them; the lower package asks by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["accessor", "register"]

_HOMES: dict[str, str] = {}


def register(homes: Mapping[str, str]) -> None:
    """Register accessors: name -> ``module:attribute``, which is imported when it is used first."""
    _HOMES.update(homes)


def accessor(name: str) -> Any:  # noqa: ANN401 - whatever is registered
    """Return the registered object."""
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute)
