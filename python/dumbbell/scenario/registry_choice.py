"""Registry names with parameters: a variant, a stack preset, a queue discipline.

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
from dumbbell.registry import Parameter, unknown
from dumbbell.scenario import own_variants
from dumbbell.scenario.base import problem
from dumbbell.scenario.own_variants import OwnVariant

__all__ = ["Named", "Queue", "Stack", "Variant"]

Scalar = bool | int | float | str
Value = Scalar | dict[str, Any]
"""Value of a parameter: one value, or a table where it is an entry of another registry."""


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
            raise problem(f"{data!r} given: a name, or a table with '{cls.key}' and parameters, is needed")
        given.update(_plain_params(given))
        if (own := cls._own(given)) is not None:
            for param, value in given.items():
                _check_finite(value, param)
            return {"name": own.name, "params": given, "own": own}
        name = given.pop(cls.key, given.pop("name", cls.default_name))
        if name is None:
            raise problem(f"needed: the name of a {cls.family}", cls.key)
        if not isinstance(name, str):
            raise problem(f"{name!r} given: the name of a {cls.family} is needed", cls.key)
        for param, value in given.items():
            _check_finite(value, param)
        try:
            _core.check(cls.family, name, given)
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
    def _own(cls, given: dict[str, Any]) -> OwnVariant | None:  # noqa: ARG003
        """Remove the keys of an own variant from a long form and return the variant, if it is one."""
        return None

    @classmethod
    def _better(cls, name: str, where: str, message: str) -> tuple[str, str]:  # noqa: ARG003
        """Improve a message of a registry, where more is known here."""
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
                {
                    "type": "object",
                    "properties": properties,
                    "required": required,
                    "additionalProperties": False,
                }
            )
        return {"anyOf": forms, "description": (cls.__doc__ or "").strip()}


def _check_finite(value: object, place: str) -> None:
    """Refuse what no registry reads: lists, dates, numbers that aren't."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_finite(inner, f"{place}.{key}")
    elif not isinstance(value, Scalar) or (isinstance(value, float) and not math.isfinite(value)):
        raise problem(f"{value!r} given: a single finite value is needed", place)


def _plain_params(given: dict[str, Any]) -> dict[str, Any]:
    """Unpack ``params = {...}``, the form that Python callers may use."""
    params = given.pop("params", {})
    if not isinstance(params, dict):
        raise problem(f"{params!r} given: a table of parameters is needed", "params")
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


class Variant(Named):
    """A congestion control variant (``dumbbell variants`` lists them), or an own variant."""

    family = "variant"
    key = "name"

    own: Any = None
    """The `OwnVariant`, unless it is in the registry."""

    @classmethod
    def _own(cls, given: dict[str, Any]) -> OwnVariant | None:
        places = [key for key in own_variants.KEYS if key in given]
        if not places:
            name = given.get("name")
            own = own_variants.named(name) if isinstance(name, str) else None
            if own is not None:
                del given["name"]
            return own
        key = places[0]
        for other in ("name", *places[1:]):
            if other in given:
                raise problem(f"'{key}' already gives the variant", other)
        text = given.pop(key)
        if not isinstance(text, str):
            raise problem(f"{text!r} given: a text is needed", key)
        try:
            return own_variants.load(key, text)
        except ValueError as e:
            raise problem(str(e), key) from None

    @classmethod
    def _better(cls, name: str, where: str, message: str) -> tuple[str, str]:
        own = own_variants.current()
        if where == "name" and own and name not in cls._rows():
            return where, unknown("variant", name, [*cls._rows(), *own])
        return where, message

    @model_serializer
    def _write(self) -> str | dict[str, Value]:
        """Return the shortest form."""
        if self.own is not None and self.own.in_place:
            return {self.own.key: self.own.text, **self.params}
        return {self.key: self.name, **self.params} if self.params else self.name

    @classmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        return {name: v.params for v in registry.variants().values() for name in (v.name, *v.aliases)}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Besides the registry's names: names of ``[variants]``, and sources in place."""
        forms = super().__get_pydantic_json_schema__(schema, handler)
        forms["anyOf"] += [
            {"type": "string", "description": "A name in [variants], or one that the program has registered."},
            *(
                {"type": "object", "properties": {k: {"type": "string"}}, "required": [k]}
                for k in ("name", *own_variants.KEYS)
            ),
        ]
        return forms


class Stack(Named):
    """A preset of the TCP endpoint and the changes to it (``dumbbell stacks`` lists them)."""

    family = "stack"
    key = "preset"
    default_name = "rfc"

    @classmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        return {s.name: s.params for s in registry.stacks().values()}


class Queue(Named):
    """A queue discipline (``dumbbell disciplines`` lists them)."""

    family = "discipline"
    key = "discipline"
    default_name = "droptail"

    @classmethod
    def _rows(cls) -> dict[str, tuple[Parameter, ...]]:
        return {d.name: d.params for d in registry.disciplines().values()}
