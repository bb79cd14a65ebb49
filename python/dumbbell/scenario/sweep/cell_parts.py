"""The parts of a sweep's cells that differ from the scenario.

Most parts of a scenario are the same in every cell. They were checked when the scenario was read, so a cell takes
them over, and only the parts around its values are read again.
"""

from __future__ import annotations

import copy
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import TypeAdapter

from dumbbell.scenario.base import Part
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.network.link import Direction
from dumbbell.scenario.network.model import Custom, RouterNetwork
from dumbbell.scenario.paths import Document, canonical, copied
from dumbbell.scenario.sweep.model import Sweep

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["Swept"]

OPENED = (RouterNetwork, Custom, Direction)
"""Parts that can be read from a mixture of checked parts and plain values: none of their keys changes how they read
another. Other parts, such as flows, are read again as a whole."""


class Swept:
    """A scenario and its sweep.

    Attributes
    ----------
    base : Document
        The scenario's document without the sweep, plain values.
    """

    def __init__(self, scenario: Scenario, sweep: Sweep) -> None:
        self.sweep = sweep
        self.base: Document = scenario.to_dict()
        del self.base["sweep"]
        sweep.check(self.base)
        paths = [*sweep.axes, *(path for case in sweep.cases for path in case)]
        self._scenario = scenario
        self._places = {path: canonical(self.base, path) for path in paths}
        # A swept variant changes the flows that name it, and a preset has flows: no part is taken over then. An
        # unknown key has no reader.
        readable = set(type(scenario).model_fields) - {"variants", "preset"}
        self._whole = any(place[0] not in readable for place in self._places.values())

    def document(self, values: dict[str, Any]) -> Document:
        """Return the document of a cell, plain values only."""
        document: Document = copied(self.base)
        Sweep.apply(document, copied(values))
        return document

    def parts(self, values: dict[str, Any]) -> dict[str, Any] | None:
        """Read the parts that a cell's values change; None if the scenario has to be read as a whole.

        Raises
        ------
        pydantic.ValidationError, ScenarioError
            A value is wrong. The document as a whole gives the message.
        """
        if self._whole:
            return None
        document = _opened(self._scenario, self.base)
        for path in values:
            _open(document, self.base, self._places[path])
        Sweep.apply(document, copied(values))
        changed = {self._places[path][0] for path in values}
        return {name: self._read(name, document[name]) for name in sorted(changed)}

    def _read(self, name: str, value: object) -> Any:  # noqa: ANN401
        """Read a key of the scenario."""
        if name == "flows" and isinstance(value, list):
            return [flow if isinstance(flow, Flow) else Flow.model_validate(flow) for flow in value]
        return _reader(type(self._scenario), name).validate_python(value)


@lru_cache(maxsize=64)
def _reader(model: type[Part], name: str) -> TypeAdapter[Any]:
    """Return the reader of a key, whose name is that of its field."""
    field = model.model_fields[name]
    kind: Any = Annotated[field.annotation, field]
    return TypeAdapter(kind)


def _opened(part: Part, plain: dict[str, Any]) -> dict[str, Any]:
    """Return the keys that a part was given, with their values as they were read."""
    names, values = _names(type(part)), part.__dict__
    return {key: values[names[key]] for key in plain}


@cache
def _names(model: type[Part]) -> dict[str, str]:
    """Return the fields of a part by their keys."""
    return {info.alias or name: name for name, info in model.model_fields.items()}


def _open(document: dict[str, Any], plain: Any, place: tuple[str, ...]) -> None:  # noqa: ANN401
    """Make tables and lists of the parts that a place lies in; nothing that other cells share is changed."""
    node: Any = document
    for name in place[:-1]:
        key: Any = int(name) if isinstance(node, list) else name
        plain = plain[key] if isinstance(plain, list) or key in plain else None
        if plain is None:
            return  # the cell's values make this table
        child = node[key]
        if isinstance(child, OPENED):
            child = _opened(child, plain)
        elif isinstance(child, dict | list) and child is not plain:
            child = copy.copy(child)
        else:
            child = copied(plain)
        node[key] = child
        node = child
        if not isinstance(node, dict | list):
            return
