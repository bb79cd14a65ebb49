"""Names of a package that are imported when they are used first, because their modules are slow to import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy"]


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the function ``__getattr__`` of a package [PEP 562].

    Parameters
    ----------
    package : str
        Name of the package.
    homes : mapping of str to str
        Public name -> ``module`` or ``module:name`` where it is defined. Without a name: the public name.

    Returns
    -------
    callable
        It imports a name when it is used first, and raises AttributeError for any other name.
    """

    def attribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        home, _, attribute = homes[name].partition(":")
        value: object = getattr(import_module(home), attribute or name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
