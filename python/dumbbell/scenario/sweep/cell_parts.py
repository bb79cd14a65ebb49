"""The parts of a sweep's cells that differ from the scenario.

Most parts of a scenario are the same in every cell. They were checked when the scenario was read, so a cell takes
them over, and only the parts around its values are read: once for each combination of the values that they hold.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import TypeAdapter

from dumbbell.common.numbers import whole
from dumbbell.scenario import files
from dumbbell.scenario.base import Part
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.layout.graph import Graph, shape_of
from dumbbell.scenario.network.link import Direction, Link, LinkOverride, NamedLink
from dumbbell.scenario.network.model import Chain, Custom, Dumbbell, Network, ParkingLot
from dumbbell.scenario.paths import Document, canonical, copied
from dumbbell.scenario.sweep.model import Sweep, identity
from dumbbell.scenario.timing import TIMED

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["CellParts", "PartsOfCell", "read_part"]

OPENED = {Dumbbell, Chain, ParkingLot, Custom, Direction, LinkOverride, Link, NamedLink}
"""Parts that can be read from a mixture of checked parts and plain values: none of their keys changes how they read
another. Other parts, such as flows, are read again as a whole."""
KEPT = 2048
"""Units that are kept, and combinations of values whose times suit each other."""
FLOWS_KEPT = 64
"""Lists of flows that are kept; each may have thousands of flows with `count`."""

Unit = tuple[str] | tuple[str, int]
"""The smallest part that is read again: a key of the scenario, or one flow."""
Key = tuple[Hashable, ...]


class _Read(NamedTuple):
    """A unit that was read, and the files that it names."""

    value: Any
    used: dict[str, Path]


@dataclass
class SharedByFlows:
    """What cells with the same flows have in common.

    Attributes
    ----------
    flows : list of Flow or None
        The flows; None before they are read.
    single_flows : list of Flow or None
        The same with copies in place of those with a `count`; None before a cell has made them.
    graphs : dict of Hashable to Graph
        By the shape of the network.
    """

    flows: list[Flow] | None = None
    single_flows: list[Flow] | None = None
    graphs: dict[Hashable, Graph] = field(default_factory=dict)

    def caches(self, network: Network) -> dict[str, Any]:
        """Return the scenario's cached properties that are known before a cell is made."""
        found: dict[str, Any] = {} if self.single_flows is None else {"single_flows": self.single_flows}
        if (graph := self.graphs.get(shape_of(network))) is not None:
            found["graph"] = graph
        return found

    def keep(self, cell: Scenario) -> None:
        """Keep what a cell has made."""
        self.single_flows = cell.single_flows
        self.graphs.setdefault(shape_of(cell.network), cell.graph)


class PartsOfCell(NamedTuple):
    """The parts of a cell that differ from the scenario.

    Attributes
    ----------
    parts : dict of str to Any
        Key of the scenario -> its value.
    used : dict of str to Path
        The files that they name.
    shared : SharedByFlows
        What cells with the same flows have in common.
    timed : tuple
        The combination of the values of `TIMED` parts; empty if the scenario itself has them.
    """

    parts: dict[str, Any]
    used: dict[str, Path]
    shared: SharedByFlows
    timed: Key


class CellParts:
    """Reads the parts of the cells of a scenario and its sweep.

    Attributes
    ----------
    base : Document
        The scenario's document without the sweep, plain values.
    times_suit : set of tuple
        Combinations of the values of `TIMED` parts that suit each other.
    """

    def __init__(self, scenario: Scenario, sweep: Sweep) -> None:
        self.sweep = sweep
        self.base: Document = scenario.to_dict()
        del self.base["sweep"]
        sweep.check(self.base)
        self._scenario = scenario
        paths = [*sweep.axes, *(path for case in sweep.cases for path in case)]
        self._places = {path: canonical(self.base, path) for path in paths}
        # A swept variant changes the flows that name it, and a preset has flows: no part is taken over then. An
        # unknown key has no reader.
        readable = set(type(scenario).model_fields) - {"variants", "preset"}
        self._whole = not sweep.keys <= readable
        self._units: dict[int, list[tuple[Unit, list[str]]]] = {}
        self._read: dict[Key, _Read] = {}
        self._same_value = _same_values(sweep.cases)
        graphs = {shape_of(scenario.network): scenario.graph}
        self._by_flows: dict[Key, SharedByFlows] = {}
        self._unchanged = SharedByFlows(scenario.flows, scenario.single_flows, graphs)
        self.times_suit: set[Key] = {()}

    def document(self, values: dict[str, Any]) -> Document:
        """Return the document of a cell, plain values only."""
        document: Document = copied(self.base)
        Sweep.apply(document, copied(values))
        return document

    def of(self, number: int) -> PartsOfCell | None:
        """Read the parts that a cell's values change; None if the scenario has to be read as a whole.

        Raises
        ------
        pydantic.ValidationError, ScenarioError
            A value is wrong. The document as a whole gives the message.
        """
        if self._whole:
            return None
        case, chosen = self.sweep.choice(number)
        values = self.sweep.chosen(case, chosen)
        parts: dict[str, Any] = {}
        used: dict[str, Path] = {}
        flows: dict[int, Flow] = {}
        flows_key: list[Hashable] = []
        timed: list[Hashable] = []
        for unit, paths in self._units_of(case):
            key = (unit, *[chosen[path] if path in chosen else -1 - self._same_value[case, path] for path in paths])
            read = self._read.get(key)
            if read is None:
                read = self._read_unit(unit, {path: values[path] for path in paths})
                if len(paths) < len(values) or self.sweep.cases:  # other cells have the same values
                    _keep(self._read, key, read, KEPT)
            if read.used:
                used |= read.used
            if len(unit) == 2:
                flows[unit[1]] = read.value
            else:
                parts[unit[0]] = read.value
            if unit[0] == "flows":
                flows_key.append(key)
            if unit[0] in TIMED:
                timed.append(key)
        shared = self._shared(tuple(flows_key)) if flows_key else self._unchanged
        if flows and shared.flows is None:
            shared.flows = [flows.get(n, flow) for n, flow in enumerate(self._scenario.flows)]
        if flows:
            parts["flows"] = shared.flows
        return PartsOfCell(parts, used, shared, tuple(timed))

    def keep(self, cell: Scenario, found: PartsOfCell) -> None:
        """Keep for other cells what a cell has made and checked."""
        found.shared.keep(cell)
        if len(self.times_suit) < KEPT:
            self.times_suit.add(found.timed)

    def _units_of(self, case: int) -> list[tuple[Unit, list[str]]]:
        """Return the units that a cell's values change, each with its paths, in the order in which they are read."""
        if (known := self._units.get(case)) is not None:
            return known
        found: dict[Unit, list[str]] = {}
        for path in [*(self.sweep.cases[case] if self.sweep.cases else ()), *self.sweep.axes]:
            place = self._places[path]
            flow = whole(place[1]) if place[0] == "flows" and len(place) > 1 else None
            found.setdefault((place[0],) if flow is None else ("flows", flow), []).append(path)
        units = sorted(found.items())
        _keep(self._units, case, units, KEPT)
        return units

    def _shared(self, key: Key) -> SharedByFlows:
        """Return what cells with the same flows have in common."""
        if (known := self._by_flows.get(key)) is not None:
            return known
        made = SharedByFlows()
        _keep(self._by_flows, key, made, FLOWS_KEPT)
        return made

    def _read_unit(self, unit: Unit, values: dict[str, Any]) -> _Read:
        """Read a unit with a cell's values."""
        name = unit[0]
        document = {name: self._scenario.__dict__[name]} if name in self.base else {}
        for path in values:
            _open(document, self.base, self._places[path])
        Sweep.apply(document, copied(values))
        with files.beside(files.current().fresh()) as found:
            if len(unit) == 2:
                value = Flow.model_validate(document[name][unit[1]])
            else:
                value = read_part(type(self._scenario), name, document[name])
        return _Read(value, found.used)


def _same_values(cases: Sequence[dict[str, Any]]) -> dict[tuple[int, str], int]:
    """Return, for each case and path, the first case that sets the path to the same value."""
    first: dict[Hashable, int] = {}
    return {
        (number, path): first.setdefault((path, *identity(value)), number)
        for number, case in enumerate(cases)
        for path, value in case.items()
    }


def _keep(kept: dict[Any, Any], key: Hashable, value: object, most: int) -> None:
    """Keep a value; without room, forget all others."""
    if len(kept) >= most:
        kept.clear()
    kept[key] = value


def read_part(model: type[Part], name: str, value: object) -> Any:  # noqa: ANN401
    """Read a key of the scenario from a mixture of checked parts and plain values."""
    return _reader(model, name).validate_python(value)


@lru_cache(maxsize=64)
def _reader(model: type[Part], name: str) -> TypeAdapter[Any]:
    """Return the reader of a key, whose name is that of its field."""
    info = model.model_fields[name]
    kind: Any = Annotated[info.annotation, info]
    return TypeAdapter(kind)


def _opened(part: Part, plain: dict[str, Any]) -> dict[str, Any]:
    """Return the keys that a part was given, with their values as they were read."""
    names, values = _names(type(part)), part.__dict__
    return {key: values[names[key]] for key in plain}


@cache
def _names(model: type[Part]) -> dict[str, str]:
    """Return the fields of a part by their keys."""
    return {info.alias or name: name for name, info in model.model_fields.items()}


def _open(document: dict[str, Any], plain: Any, place: Sequence[str]) -> None:  # noqa: ANN401
    """Make tables and lists of the parts that a place lies in; nothing that other cells share is changed."""
    node: Any = document
    for name in place[:-1]:
        key: Any = int(name) if isinstance(node, list) else name
        plain = plain[key] if isinstance(plain, list) or key in plain else None
        if plain is None:
            return  # the cell's values make this table
        child = node[key]
        if type(child) in OPENED:
            child = _opened(child, plain)
        elif isinstance(child, dict | list) and child is not plain:
            child = copy.copy(child)
        else:
            child = copied(plain)
        node[key] = child
        node = child
        if not isinstance(node, dict | list):
            return
