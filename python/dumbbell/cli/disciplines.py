"""``dumbbell disciplines``: lists the queue disciplines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dumbbell.cli import output
from dumbbell.cli.registry_entry import print_details

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    epilog = "[bold]Examples[/bold]\n\ndumbbell disciplines\n\ndumbbell disciplines red"
    app.command(name="disciplines", epilog=epilog)(disciplines)


def disciplines(
    name: Annotated[str | None, typer.Argument(help="Show one with its parameters.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the queue disciplines, or show one."""
    from dumbbell import registry  # noqa: PLC0415

    rows = list(registry.disciplines().values()) if name is None else [registry.discipline(name)]
    if as_json:
        output.document([asdict(row) for row in rows])
    elif name is None:
        cells = [(d.name, d.year, d.title, ", ".join(p.name for p in d.params)) for d in rows]
        output.print_table("Queue disciplines", ["name", "year", "description", "parameters"], cells)
    else:
        d = rows[0]
        facts = {"year": d.year, "source": d.source, "description": d.doc}
        facts["traced beside its backlog"] = ", ".join(d.columns) or "nothing"
        print_details(d.name, d.title, facts, d.params)
