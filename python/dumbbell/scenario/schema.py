"""The JSON Schema of a scenario, with the names and parameters of the registries."""

from __future__ import annotations

from typing import Any

from dumbbell.scenario.extends import KEY
from dumbbell.scenario.model import Scenario

__all__ = ["json_schema"]

EXTENDS = {
    "type": "string",
    "minLength": 1,
    "description": "A scenario file that this one extends; its path is relative to the folder of this file.",
}


def json_schema() -> dict[str, Any]:
    """Make the schema (JSON Schema 2020-12).

    A file that extends another one has any of the keys, and each may be a part of what it is in a whole scenario.
    """
    schema = Scenario.model_json_schema(by_alias=True)
    whole = {"properties": schema["properties"], "required": schema.pop("required")}
    named = {key: {"description": about["description"]} for key, about in schema["properties"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "properties": {KEY: EXTENDS, **named},
        "if": {"required": [KEY]},
        "else": whole,
    }
