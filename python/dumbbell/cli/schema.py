"""``dumbbell schema``: prints the JSON Schema of scenarios."""

from __future__ import annotations

import json

import click

from dumbbell.cli import front

__all__ = ["schema"]


@front.command("schema", "dumbbell schema > scenario.schema.json")
def schema() -> None:
    """Print the JSON Schema of scenario files.

    It has every variant, queue discipline and parameter. Editors use it to complete and check scenario files.
    """
    from dumbbell.scenario import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
