"""``dumbbell schema``: prints the JSON Schema of scenarios, or of plans."""

from __future__ import annotations

import json

import click

from dumbbell.cli import front

__all__ = ["schema"]


@front.command("schema", "dumbbell schema > scenario.schema.json", "dumbbell schema --plan")
@click.option("--plan", is_flag=True, help="Print that of plans: runs in base units, as back ends read them.")
def schema(plan: bool) -> None:
    """Print the JSON Schema of scenario files.

    It has every variant, queue discipline and parameter. Editors use it to complete and check scenario files.
    """
    from dumbbell._core import plan_schema
    from dumbbell.scenario import json_schema

    written = json.loads(plan_schema()) if plan else json_schema()
    click.echo(json.dumps(written, indent=2, ensure_ascii=False))
