"""The JSON Schema of a scenario, with the names and parameters of the registries."""

from __future__ import annotations

from typing import Any

from dumbbell.scenario.model import Scenario

__all__ = ["json_schema"]


def json_schema() -> dict[str, Any]:
    """Make the schema (JSON Schema 2020-12)."""
    schema = Scenario.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
