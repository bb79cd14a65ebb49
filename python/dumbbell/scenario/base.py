"""The base of every part of a scenario: unknown keys are errors with the nearest known key, values never change."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, Strict, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from dumbbell.registry import unknown
from dumbbell.scenario.descriptions import descriptions

__all__ = ["Flag", "Fraction", "Part", "Text", "Whole", "problem"]

Flag = Annotated[bool, Strict()]
Fraction = Annotated[float, Strict()]
Text = Annotated[str, Strict()]
Whole = Annotated[int, Strict()]

LONGEST_NAME = 80
"""Characters of a name: files of results have it, with other parts, and most file systems allow 255 bytes."""


def problem(message: str, key: str = "") -> PydanticCustomError:
    """Make an error that `errors.translate` words as it is, placed at ``key`` under the current place."""
    return PydanticCustomError("problem", "{message}", {"message": message, "key": key})


class Part(BaseModel):
    """A table of a scenario."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        validate_default=True,
        allow_inf_nan=False,
        defer_build=True,  # the parts are built within Scenario, not one by one: less time to import
    )

    elsewhere: ClassVar[dict[str, str]] = {}
    """Keys that belong to another place, with a hint where."""

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:  # noqa: ANN401
        """Refuse the first unknown key by name."""
        if not isinstance(data, dict):
            return data
        names, accepted = _accepted(cls)
        for key in data:
            if key in accepted:
                continue
            if key in cls.elsewhere:
                raise problem(cls.elsewhere[key], str(key))
            raise problem(unknown("key", str(key), names), str(key))
        return data

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Add the descriptions of the keys."""
        written = handler(schema)
        properties = handler.resolve_ref_schema(written).get("properties", {})
        texts = descriptions(cls)
        for name, info in cls.model_fields.items():
            key = info.alias or name
            if name in texts and key in properties:
                properties[key].setdefault("description", texts[name])
        return written


@cache
def _accepted(model: type[Part]) -> tuple[list[str], frozenset[str]]:
    """Return the keys of a part, and all names that it accepts."""
    names = [f.alias or name for name, f in model.model_fields.items()]
    return names, frozenset(names) | frozenset(model.model_fields)
