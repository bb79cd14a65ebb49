"""``dumbbell stacks``: lists the presets of the TCP endpoint."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dumbbell.cli import output
from dumbbell.cli.registry_entry import print_details

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="stacks", epilog="[bold]Examples[/bold]\n\ndumbbell stacks\n\ndumbbell stacks ns2")(stacks)


def stacks(
    name: Annotated[str | None, typer.Argument(help="Show one with its parameters.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the presets of the TCP endpoint, or show one."""
    from dumbbell import registry  # noqa: PLC0415

    rows = list(registry.stacks().values()) if name is None else [registry.stack(name)]
    if as_json:
        output.document([asdict(row) for row in rows])
    elif name is None:
        output.print_table("Stack presets", ["name", "description"], [(s.name, s.title) for s in rows])
    else:
        s = rows[0]
        print_details(s.name, s.title, {"description": s.doc}, s.params)
