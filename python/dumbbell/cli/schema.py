"""``dumbbell schema``: prints the JSON Schema of scenarios."""

from __future__ import annotations

import json

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="schema", epilog="[bold]Example[/bold]\n\ndumbbell schema > scenario.schema.json")(schema)


def schema() -> None:
    """Print the JSON Schema of scenario files, with every variant, discipline and parameter."""
    from dumbbell.scenario import json_schema  # noqa: PLC0415

    typer.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
