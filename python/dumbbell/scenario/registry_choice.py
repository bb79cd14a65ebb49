"""Registry names with parameters: a variant, a stack preset, a queue discipline, a version of TLS.

Each has a short and a long form: ``variant = "vegas"`` and ``variant = { name = "vegas", alpha = 2 }``. The Rust
registries define the names and parameters.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_serializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dumbbell import _core, registry
from dumbbell.common.synonyms import suggestions
from dumbbell.common.words import shown
from dumbbell.registry import Parameter, unknown
from dumbbell.scenario.base import problem
from dumbbell.scenario.own import disciplines as own_disciplines
from dumbbell.scenario.own import variants as own_variants
from dumbbell.scenario.own.code import KEYS, OwnCode

__all__ = ["Named", "Queue", "Stack", "Tls", "Variant"]

Scalar = bool | int | float | str
Value = Scalar | dict[str, Any]
"""Value of a parameter: one value, or a table where it is an entry of another registry."""


LARGEST = 2**64
"""Integers of parameters are smaller."""


class Named(BaseModel):
    """A name from a registry and the parameters that differ from its defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    family: ClassVar[str]
    key: ClassVar[str]
    default_name: ClassVar[str | None] = None

    name: str
    params: dict[str, Value] = {}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:  # noqa: ANN401
        """Accept the short or the long form."""
        if isinstance(data, cls):
            return data
        given: dict[str, Any]
        if isinstance(data, str):
            given, short = {cls.key: data}, True
        elif isinstance(data, dict):
            given, short = dict(data), False
        else:
            raise problem(f"{shown(data)} given: a name, or a table with '{cls.key}' and parameters, is needed")
        given.update(_plain_params(given))
        if (own := cls._own(given)) is not None:
            for param, value in given.items():
                _check_finite(value, param)
            return {"name": own.name, "params": given, "own": own}
        name = given.pop(cls.key, given.pop("name", cls.default_name))
        if name is None:
            raise problem(f"needed: the name of a {cls.family}", cls.key)
        if not isinstance(name, str):
            raise problem(f"{shown(name)} given: the name of a {cls.family} is needed", cls.key)
        for param, value in given.items():
            _check_finite(value, param)
        try:
            cls._check(name, given)
        except _core.ParamError as e:
            where, message = cls._better(name, *e.args)
            in_name = where in (cls.key, "name") and where not in given
            raise problem(message, ("" if short else cls.key) if in_name else where) from None
        return {"name": name, "params": given}

    @model_serializer
    def _write(self) -> str | dict[str, Value]:
        """Return the shortest form."""
        return {self.key: self.name, **self.params} if self.params else self.name

    @classmethod
    def _own(cls, given: dict[str, Any]) -> OwnCode | None:  # noqa: ARG003
        """Remove the keys of own code from a long form and return the code, if it is that."""
        return None

    @classmethod
    def _check(cls, name: str, params: dict[str, Any]) -> None:
        """Check the name and the parameters; raises ParamError."""
        _core.check(cls.family, name, params)

    @classmethod
    def _better(cls, name: str, where: str, message: str) -> tuple[str, str]:
        """Improve a registry's message for an unknown name: a synonym that other programs use is suggested."""
        rows = cls._rows()
        in_name = where in (cls.key, "name") and name not in rows
        given, known = (name, list(rows)) if in_name else (where, [cls.key, *(p.name for p in rows.get(name, ()))])
        what = re.match(r"unknown [a-z ]+", message)
        if what is not None and suggestions(given, known):
            return where, unknown(what[0].removeprefix("unknown ").strip(), given, known)
        return where, message

    @classmethod
    @abstractmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        """Every name with its parameters."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """List the names, and for each the parameters of its long form."""
        rows = cls._rows()
        forms: list[JsonSchemaValue] = [{"type": "string", "enum": list(rows)}]
        for name, params in rows.items():
            properties: dict[str, Any] = {cls.key: {"const": name}}
            properties.update({p.name: _parameter_schema(p) for p in params})
            required = [] if name == cls.default_name else [cls.key]
            forms.append(
                {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
            )
        return {"anyOf": forms, "description": (cls.__doc__ or "").strip()}


def _check_finite(value: object, place: str) -> None:
    """Refuse what no registry reads: lists, dates, numbers that aren't."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_finite(inner, f"{place}.{key}")
    elif not isinstance(value, Scalar) or (isinstance(value, float) and not math.isfinite(value)):
        raise problem(f"{shown(value)} given: a single finite value is needed", place)
    elif isinstance(value, int) and abs(value) >= LARGEST:
        raise problem(f"{shown(value)} given: it is too large", place)


def _plain_params(given: dict[str, Any]) -> dict[str, Any]:
    """Unpack ``params = {...}``, the form that Python callers may use."""
    params = given.pop("params", {})
    if not isinstance(params, dict):
        raise problem(f"{shown(params)} given: a table of parameters is needed", "params")
    return params


def _parameter_schema(param: Parameter) -> JsonSchemaValue:
    kind, schema = param.kind, {"description": f"{param.doc} (takes {param.kind}; default {param.default_shown})"}
    if word := re.search(r', or "([^"]*)"$', kind):
        inner = _parameter_schema(replace(param, kind=kind[: word.start()]))
        inner.pop("description")
        return {"anyOf": [inner, {"const": word[1]}], **schema}
    if kind.startswith("a whole number"):
        return {"type": "integer", **schema}
    if kind.startswith("a number"):
        return {"type": "number", **schema}
    if kind == "true or false":
        return {"type": "boolean", **schema}
    if kind == "a queue discipline":
        return {"type": ["string", "object"], **schema}
    if kind.startswith("one of "):
        return {"type": "string", "enum": kind.removeprefix("one of ").split(", "), **schema}
    return {"type": "string", **schema}


class Owned(Named):
    """A name from a registry, or own code: a name in the scenario, or a source in place."""

    own: Any = None
    """The `OwnCode`, unless it is in the registry."""

    home: ClassVar[Any]
    """The module of its own code: `own_variants` or `own_disciplines`."""
    section: ClassVar[str]
    """The section of a scenario that names own code."""

    @classmethod
    def _own(cls, given: dict[str, Any]) -> OwnCode | None:
        places = [key for key in KEYS if key in given]
        if not places:
            keys = dict.fromkeys((cls.key, "name"))
            key = next((k for k in keys if k in given), None)
            name = given.get(key) if key is not None else None
            own: OwnCode | None = cls.home.named(name) if isinstance(name, str) else None
            if own is not None and key is not None:
                del given[key]
            return own
        key = places[0]
        for other in (cls.key, "name", *places[1:]):
            if other in given:
                raise problem(f"'{key}' already gives the {cls.family}", other)
        text = given.pop(key)
        if not isinstance(text, str):
            raise problem(f"{shown(text)} given: a text is needed", key)
        try:
            loaded: OwnCode = cls.home.load(key, text)
        except ValueError as e:
            raise problem(str(e), key) from None
        return loaded

    @classmethod
    def _better(cls, name: str, where: str, message: str) -> tuple[str, str]:
        own = cls.home.current()
        if where in (cls.key, "name") and own and name not in cls._rows():
            what = "queue discipline" if cls.family == "discipline" else cls.family
            return where, unknown(what, name, [*cls._rows(), *own])
        return super()._better(name, where, message)

    @model_serializer
    def _write(self) -> str | dict[str, Value]:
        """Return the shortest form."""
        if self.own is not None and self.own.in_place:
            return {self.own.key: self.own.text, **self.params}
        return {self.key: self.name, **self.params} if self.params else self.name

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Besides the registry's names: names of the scenario's section, and sources in place."""
        forms = super().__get_pydantic_json_schema__(schema, handler)
        forms["anyOf"] += [
            {"type": "string", "description": f"A name in [{cls.section}], or one that the program has registered."},
            *({"type": "object", "properties": {k: {"type": "string"}}, "required": [k]} for k in (cls.key, *KEYS)),
        ]
        return forms


class Variant(Owned):
    """A congestion control variant (``dumbbell variants`` lists them), or an own variant."""

    family = "variant"
    key = "name"
    home: ClassVar[Any] = own_variants
    section = "variants"

    @classmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        return {name: v.params for v in registry.variants().values() for name in (v.name, *v.aliases)}


class Stack(Named):
    """A preset of the TCP or QUIC endpoint and the changes to it (``dumbbell stacks`` lists them).

    Without a preset (an empty ``name``), the preset is the default of the transport, whatever the variant.
    """

    family = "stack"
    key = "preset"
    default_name = ""

    def of(self, transport: str) -> Stack:
        """Return the stack of a flow with this transport: always with a preset."""
        return self if self.name else self.model_copy(update={"name": registry.default_stack(transport)})

    @property
    def label(self) -> str:
        """The preset with its changes, such as ``linux(ack_every=1)``."""
        changes = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.name}({changes})" if changes else self.name

    @model_serializer
    def _write(self) -> str | dict[str, Value]:
        """Return the shortest form."""
        if not self.name:
            return dict(self.params)
        return {self.key: self.name, **self.params} if self.params else self.name

    @classmethod
    def _check(cls, name: str, params: dict[str, Any]) -> None:
        # Every preset of TCP has the same parameters; a QUIC flow adds its preset before.
        super()._check(name or registry.default_stack(), params)

    @classmethod
    def _better(cls, name: str, where: str, message: str) -> tuple[str, str]:
        return super()._better(name or registry.default_stack(), where, message)

    @classmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        return {s.name: s.params for s in registry.stacks().values()}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Besides the presets: parameters alone, which change the default."""
        forms = super().__get_pydantic_json_schema__(schema, handler)
        for transport in ("tcp", "quic"):
            params = {p.name: _parameter_schema(p) for p in registry.stack(registry.default_stack(transport)).params}
            forms["anyOf"].append({"type": "object", "properties": params, "additionalProperties": False})
        return forms


class Queue(Owned):
    """A queue discipline (``dumbbell disciplines`` lists them), or an own discipline."""

    family = "discipline"
    key = "discipline"
    default_name = "droptail"
    home: ClassVar[Any] = own_disciplines
    section = "disciplines"

    @classmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        return {d.name: d.params for d in registry.disciplines().values()}


class Tls(Named):
    """A version of TLS over TCP: "1.2", "1.3", or { version = ..., parameters that differ from its defaults }."""

    family = "TLS version"
    key = "version"

    @classmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        return {name: v.params for name, v in registry.tls_versions().items()}
