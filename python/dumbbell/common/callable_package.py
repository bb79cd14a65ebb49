"""Packages that can be called: ``dumbbell.backends()`` lists the members of the package ``dumbbell.backends``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

__all__ = ["call_lists"]


def call_lists(package: str, members: Callable[[], object]) -> None:
    """Let a call of the package return its members.

    Python permits another class for a module since version 3.5 ("Customizing module attribute access" in the language
    reference). The attribute of the parent package has to be the package itself, because ``import`` sets it, so a
    function of the same name cannot exist beside it.
    """

    class Package(ModuleType):
        """A package that can be called."""

        def __call__(self) -> object:
            return members()

    Package.__call__.__doc__ = members.__doc__
    sys.modules[package].__class__ = Package
