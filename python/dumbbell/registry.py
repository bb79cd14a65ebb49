"""The registries of `crates/py`: variants, disciplines, stack presets, versions of TLS, each with its parameters.

No name is written down in Python: a variant that is added in Rust appears here, in the schema and in the help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from dumbbell import _core
from dumbbell.common.synonyms import suggestions
from dumbbell.exceptions import LONGEST_VALUE, Problem, ScenarioError

__all__ = [
    "Discipline",
    "Fact",
    "Parameter",
    "Preset",
    "Requirement",
    "TlsVersion",
    "Variant",
    "default_stack",
    "discipline",
    "disciplines",
    "drop_reasons",
    "phases",
    "recovery_stacks",
    "stack",
    "stacks",
    "tls_versions",
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
class Requirement:
    """A feature of the stack on which a variant relies.

    Attributes
    ----------
    feature : str
        The feature, such as "RACK".
    settings : str
        The parameters of a stack that turn it on, as a scenario writes them.
    source, why : str
        The document with its section, and the relation in a few words.
    """

    feature: str
    settings: str
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Variant:
    """A congestion control variant.

    Attributes
    ----------
    name : str
    aliases : tuple of str
        Other names that a scenario may use.
    title, source : str
        A description of one line; the RFC or paper that it implements.
    year : int
        The year of its first publication.
    requires : tuple of Requirement
        The features of the stack on which its document relies.
    loss_recovery : str or None
        The loss recovery that is part of the variant; None: the stack's.
    on_loss, on_delay, on_ecn : str
        Its responses; "none" without one.
    needs_marks : bool
        True if its main signal is congestion marks (DCTCP, Prague).
    params : tuple of Parameter
    columns : tuple of str
        The names of its own columns in the trace.
    random : bool
        True if it draws random numbers.
    """

    name: str
    aliases: tuple[str, ...]
    title: str
    year: int
    source: str
    requires: tuple[Requirement, ...]
    loss_recovery: str | None
    on_loss: str
    on_delay: str
    on_ecn: str
    needs_marks: bool
    params: tuple[Parameter, ...]
    columns: tuple[str, ...]
    random: bool


@dataclass(frozen=True, slots=True)
class Discipline:
    """A queue discipline: source, parameters, traced columns, names in the kernel (empty if it has none).

    ``random`` is True if random numbers decide about packets of a single flow.
    """

    name: str
    title: str
    year: int
    source: str
    doc: str
    params: tuple[Parameter, ...]
    columns: tuple[str, ...]
    kernel: tuple[str, ...]
    random: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of a stack preset that a scenario can't set: its name, its value, its meaning."""

    name: str
    value: str
    doc: str


@dataclass(frozen=True, slots=True)
class Preset:
    """A stack preset of a transport, ``tcp`` or ``quic``: parameters, and properties that no scenario can set.

    ``implied_recovery`` has the variants whose loss recovery runs on it. The others that name one (``loss_recovery`` of
    the variant) differ there in their name only.
    """

    name: str
    transport: str
    title: str
    doc: str
    params: tuple[Parameter, ...]
    facts: tuple[Fact, ...]
    implied_recovery: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TlsVersion:
    """A version of TLS, with its document and its parameters."""

    name: str
    source: str
    params: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class _Tables:
    variants: dict[str, Variant] = field(default_factory=dict)
    disciplines: dict[str, Discipline] = field(default_factory=dict)
    stacks: dict[str, Preset] = field(default_factory=dict)
    tls: dict[str, TlsVersion] = field(default_factory=dict)
    default_stack: str = ""
    default_quic_stack: str = ""
    phases: tuple[str, ...] = ()
    drop_reasons: tuple[str, ...] = ()


@cache
def _tables() -> _Tables:
    raw: dict[str, Any] = json.loads(_core.registry())

    def row(entry: dict[str, Any]) -> dict[str, Any]:
        entry["params"] = tuple(Parameter(**p) for p in entry["params"])
        if "requires" in entry:
            entry["requires"] = tuple(Requirement(**r) for r in entry["requires"])
        if "facts" in entry:
            entry["facts"] = tuple(Fact(**f) for f in entry["facts"])
        for key in ("columns", "aliases", "kernel", "implied_recovery"):
            if key in entry:
                entry[key] = tuple(entry[key])
        return entry

    return _Tables(
        variants={v["name"]: Variant(**row(v)) for v in raw["variants"]},
        disciplines={d["name"]: Discipline(**row(d)) for d in raw["disciplines"]},
        stacks={s["name"]: Preset(**row(s)) for s in raw["stacks"]},
        tls={v["name"]: TlsVersion(**row(v)) for v in raw["tls"]},
        default_stack=raw["default_stack"],
        default_quic_stack=raw["default_quic_stack"],
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
    ['limit', 'target', 'interval', 'ecn', 'ce_threshold', 'follows']
    """
    return _tables().disciplines


def stacks(transport: str | None = None) -> dict[str, Preset]:
    """Return the stack presets by name: all, or those of one transport.

    A preset is a named set of parameters of the TCP or QUIC endpoint.

    Parameters
    ----------
    transport : str, optional
        "tcp" or "quic".

    Returns
    -------
    dict of str to Preset

    Examples
    --------
    >>> import dumbbell
    >>> list(dumbbell.stacks("tcp"))
    ['rfc', 'linux', 'linux-tuned', 'ns2']
    >>> list(dumbbell.stacks("quic"))
    ['rfc9002', 'quinn', 'aioquic', 'chromium']
    """
    return {name: s for name, s in _tables().stacks.items() if transport in {None, s.transport}}


def tls_versions() -> dict[str, TlsVersion]:
    """Return the versions of TLS by name.

    Examples
    --------
    >>> list(tls_versions())
    ['1.2', '1.3']
    """
    return _tables().tls


def default_stack(transport: str = "tcp") -> str:
    """Return the stack preset of a flow that names none: one for each transport, whatever the variant."""
    return _tables().default_quic_stack if transport == "quic" else _tables().default_stack


def recovery_stacks(name: str) -> list[str]:
    """Return the TCP presets on which the loss recovery that is part of a variant runs."""
    return [s.name for s in stacks("tcp").values() if name in s.implied_recovery]


def phases() -> tuple[str, ...]:
    """Return the phases, in the order of the numbers in the trace's column ``phase``."""
    return _tables().phases


def drop_reasons() -> tuple[str, ...]:
    """Return the reasons of drops, in the order of the numbers in the trace's column ``reason``."""
    return _tables().drop_reasons


def unknown(what: str, given: str, known: list[str]) -> str:
    """Return the message for an unknown name: with its synonyms, the nearest known name, or the list of all.

    Examples
    --------
    >>> unknown("variant", "brr", ["reno", "bbr"])
    "unknown variant 'brr': did you mean 'bbr'?"
    >>> unknown("kind", "download", ["bulk", "cbr", "page"])
    "unknown kind 'download': did you mean 'bulk' or 'page'?"
    """
    # A text of JSON can end within a character, as half of a surrogate pair.
    given = given[: LONGEST_VALUE + 1].encode("utf-8", "backslashreplace").decode()
    found = suggestions(given, known)
    if not found and (near := _core.nearest(given, known)) is not None:
        found = [near]
    if found:
        return f"unknown {what} '{given}': did you mean {' or '.join(map(repr, found))}?"
    return f"unknown {what} '{given}' (known: {', '.join(known)})" if known else f"unknown {what} '{given}'"


def _find(what: str, table: dict[str, T], name: str) -> T:
    if name not in table:
        raise ScenarioError([Problem("", unknown(what, name, list(table)))])
    return table[name]


def variant(name: str) -> Variant:
    """Look up a variant by its name or an alias; ScenarioError with the nearest name if it is unknown."""
    known = variants()
    if name in known:
        return known[name]
    return _find("variant", {**known, **{alias: v for v in known.values() for alias in v.aliases}}, name)


def discipline(name: str) -> Discipline:
    """Look up a queue discipline; ScenarioError with the nearest name if it is unknown."""
    return _find("queue discipline", disciplines(), name)


def stack(name: str) -> Preset:
    """Look up a stack preset; ScenarioError with the nearest name if it is unknown."""
    return _find("stack preset", stacks(), name)
