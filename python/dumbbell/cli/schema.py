"""``dumbbell schema``: prints the JSON Schema of scenarios, of plans, or of qlog files."""

from __future__ import annotations

import json

import click

from dumbbell.cli import front

__all__ = ["schema"]


@front.command("schema", "dumbbell schema > scenario.schema.json", "dumbbell schema --plan")
@click.option("--plan", "of", flag_value="plan", help="Print that of plans, which back ends read: runs in base units.")
@click.option("--qlog", "of", flag_value="qlog", help="Print that of a record of the qlog files that runs write.")
def schema(of: str | None) -> None:
    """Print the JSON Schema of scenario files.

    It has every variant, queue discipline and parameter. Editors use it to complete and check scenario files.
    """
    from dumbbell._core import plan_schema
    from dumbbell.plan.qlog import qlog_schema
    from dumbbell.scenario import json_schema

    schemas = {None: json_schema, "plan": lambda: json.loads(plan_schema()), "qlog": qlog_schema}
    click.echo(json.dumps(schemas[of](), indent=2, ensure_ascii=False))
