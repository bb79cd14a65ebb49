"""The registries: every variant, queue discipline and stack preset with its parameters, as `crates/py` lists them.

No name is written down in Python: a variant that is added in Rust appears here, in the schema and in the help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from dumbbell import _core
from dumbbell.exceptions import Problem, ScenarioError

__all__ = [
    "Discipline",
    "Parameter",
    "Preset",
    "Variant",
    "discipline",
    "disciplines",
    "drop_reasons",
    "phases",
    "stack",
    "stacks",
    "unknown",
    "variant",
    "variants",
]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a variant, a discipline or a stack.

    Attributes
    ----------
    name : str
    kind : str
        The values that it takes, such as "number" or "duration".
    default : str
        Its default, as a scenario writes it.
    doc : str
        Its meaning, with the unit.
    defaults : mapping
        Other defaults of a variant on some stacks, by the name of the preset.
    """

    name: str
    kind: str
    default: str
    doc: str
    defaults: Mapping[str, str] = field(default_factory=dict)

    @property
    def default_shown(self) -> str:
        """The default, followed by the defaults of stacks that have another one."""
        others = ", ".join(f"{stack}: {value}" for stack, value in self.defaults.items())
        return f"{self.default} ({others})" if others else self.default


@dataclass(frozen=True, slots=True)
class Variant:
    """A congestion control variant, with its aliases, source, loss recovery, reactions and parameters."""

    name: str
    aliases: tuple[str, ...]
    title: str
    year: int
    source: str
    loss_recovery: str | None
    on_loss: str
    on_delay: str
    on_ecn: str
    params: tuple[Parameter, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Discipline:
    """A queue discipline, with its source, its parameters and the columns that it traces."""

    name: str
    title: str
    year: int
    source: str
    doc: str
    params: tuple[Parameter, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preset:
    """A stack preset: a named set of visible parameters of the TCP endpoint."""

    name: str
    title: str
    doc: str
    params: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class _Tables:
    variants: dict[str, Variant] = field(default_factory=dict)
    disciplines: dict[str, Discipline] = field(default_factory=dict)
    stacks: dict[str, Preset] = field(default_factory=dict)
    phases: tuple[str, ...] = ()
    drop_reasons: tuple[str, ...] = ()


@cache
def _tables() -> _Tables:
    raw: dict[str, Any] = json.loads(_core.registry())

    def row(entry: dict[str, Any]) -> dict[str, Any]:
        entry["params"] = tuple(Parameter(**p) for p in entry["params"])
        for key in ("columns", "aliases"):
            if key in entry:
                entry[key] = tuple(entry[key])
        return entry

    return _Tables(
        variants={v["name"]: Variant(**row(v)) for v in raw["variants"]},
        disciplines={d["name"]: Discipline(**row(d)) for d in raw["disciplines"]},
        stacks={s["name"]: Preset(**row(s)) for s in raw["stacks"]},
        phases=tuple(raw["phases"]),
        drop_reasons=tuple(raw["drop_reasons"]),
    )


def variants() -> dict[str, Variant]:
    """Return every congestion control variant by name.

    Returns
    -------
    dict of str to Variant

    Examples
    --------
    >>> import dumbbell
    >>> cubic = dumbbell.variants()["cubic"]
    >>> cubic.year, cubic.source[:8]
    (2008, 'RFC 9438')
    """
    return _tables().variants


def disciplines() -> dict[str, Discipline]:
    """Return every queue discipline by name.

    Returns
    -------
    dict of str to Discipline

    Examples
    --------
    >>> import dumbbell
    >>> [p.name for p in dumbbell.disciplines()["codel"].params]
    ['limit', 'target', 'interval', 'ecn', 'ce_threshold']
    """
    return _tables().disciplines


def stacks() -> dict[str, Preset]:
    """Return every stack preset by name.

    A preset is a named set of parameters of the TCP endpoint.

    Returns
    -------
    dict of str to Preset

    Examples
    --------
    >>> import dumbbell
    >>> list(dumbbell.stacks())
    ['rfc', 'linux', 'ns2']
    """
    return _tables().stacks


def phases() -> tuple[str, ...]:
    """Return the phases, in the order of the numbers in the trace's column ``phase``."""
    return _tables().phases


def drop_reasons() -> tuple[str, ...]:
    """Return the reasons of drops, in the order of the numbers in the trace's column ``reason``."""
    return _tables().drop_reasons


def unknown(what: str, given: str, known: list[str]) -> str:
    """Return the message for an unknown name: with the nearest known name, or with the list of all.

    Examples
    --------
    >>> unknown("variant", "brr", ["reno", "bbr"])
    "unknown variant 'brr': did you mean 'bbr'?"
    """
    near = _core.nearest(given, known)
    if near is not None:
        return f"unknown {what} '{given}': did you mean '{near}'?"
    return f"unknown {what} '{given}' (known: {', '.join(known)})" if known else f"unknown {what} '{given}'"


def _find(what: str, table: dict[str, T], name: str) -> T:
    if name not in table:
        raise ScenarioError([Problem("", unknown(what, name, list(table)))])
    return table[name]


def variant(name: str) -> Variant:
    """Look up a variant by its name or an alias; ScenarioError with the nearest name if it is unknown."""
    aliases = {alias: v for v in variants().values() for alias in v.aliases}
    return _find("variant", {**variants(), **aliases}, name)


def discipline(name: str) -> Discipline:
    """Look up a queue discipline; ScenarioError with the nearest name if it is unknown."""
    return _find("queue discipline", disciplines(), name)


def stack(name: str) -> Preset:
    """Look up a stack preset; ScenarioError with the nearest name if it is unknown."""
    return _find("stack preset", stacks(), name)
