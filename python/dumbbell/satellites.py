"""Satellites: packages that add commands, back ends, reports and workers to the core.

A satellite is a package with a module ``satellite``, whose ``SATELLITE`` lists what it adds. The lists are texts, so
that a satellite is imported when it is used. The core imports no satellite by name: it finds them in the package's
folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["Flag", "Satellite", "load", "satellites"]


@dataclass(frozen=True)
class Flag:
    """An option of back ends that commands also have under its own name: ``--keep-agent`` is ``-o keep_agent=on``.

    Attributes
    ----------
    backends : sequence of str
        The back ends that have it.
    text : str
        Its help.
    elsewhere : str
        Why other back ends don't have it, after the name of one.
    metavar : str or None
        Its value, a file; None: it has none and means ``on``.
    ask : str or None
        Home of a function of the scenario that decides whether it is on where it isn't given.
    """

    backends: Sequence[str]
    text: str
    elsewhere: str
    metavar: str | None = None
    ask: str | None = None


@dataclass(frozen=True)
class Satellite:
    """What a package adds to the core. A home is a text ``module:name``.

    Attributes
    ----------
    commands : mapping of str to mapping of str to str
        Section of the help -> command -> its help of one line. The command ``name`` is the object ``name`` in the
        module ``commands.name`` of the package.
    backends : mapping of str to str
        Name of a back end -> home of its class.
    backend_texts : mapping of str to str
        Name of a back end -> its help, a clause.
    flags : mapping of str to Flag
        Option of back ends -> how commands offer it.
    backend_classes : mapping of str to str
        Further attributes of `dumbbell.backends` -> their homes.
    reports : mapping of str to str
        File of a directory that `dumbbell report` can draw again -> home of the function; see `cli.report`.
    workers : mapping of str to str
        Form of ``--cluster``, such as ``slurm:N`` -> home of the function that reads it; see `workers.places`.
    remains : sequence of str
        Homes of functions that remove what killed processes have left, and yield a sentence for each.
    """

    commands: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    backends: Mapping[str, str] = field(default_factory=dict)
    backend_texts: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Flag] = field(default_factory=dict)
    backend_classes: Mapping[str, str] = field(default_factory=dict)
    reports: Mapping[str, str] = field(default_factory=dict)
    workers: Mapping[str, str] = field(default_factory=dict)
    remains: Sequence[str] = ()


@cache
def satellites() -> Mapping[str, Satellite]:
    """Return every satellite by the name of its package, such as ``kernel``."""
    names = sorted(path.parent.name for path in Path(__file__).parent.glob("*/satellite.py"))
    return {name: import_module(f"dumbbell.{name}.satellite").SATELLITE for name in names}


def load(home: str) -> Any:  # noqa: ANN401 - whatever is there
    """Import the object at a home."""
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
