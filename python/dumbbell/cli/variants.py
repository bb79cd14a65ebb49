"""``dumbbell variants``: lists the congestion control variants."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dumbbell.cli import output
from dumbbell.cli.registry_entry import print_details

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="variants", epilog="[bold]Examples[/bold]\n\ndumbbell variants\n\ndumbbell variants vegas")(
        variants
    )


def variants(
    name: Annotated[str | None, typer.Argument(help="Show one with its parameters.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the congestion control variants, or show one."""
    from dumbbell import registry  # noqa: PLC0415

    rows = list(registry.variants().values()) if name is None else [registry.variant(name)]
    if as_json:
        output.document([asdict(row) for row in rows])
    elif name is None:
        cells = [
            (", ".join([v.name, *v.aliases]), v.year, v.title, ", ".join(p.name for p in v.params)) for v in rows
        ]
        output.print_table("Variants", ["name", "year", "description", "parameters"], cells)
    else:
        v = rows[0]
        facts = {
            **({"also called": ", ".join(v.aliases)} if v.aliases else {}),
            "year": v.year,
            "source": v.source,
            "recovery": v.loss_recovery or "chosen by the stack",
            "answer to loss": v.on_loss,
            "answer to delay": v.on_delay,
            "answer to ECN marks": v.on_ecn,
            "traced beside cwnd": ", ".join(v.columns) or "nothing",
        }
        print_details(v.name, v.title, facts, v.params)
