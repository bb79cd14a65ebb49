"""``dumbbell doctor``: lists the features of this host."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli import output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="doctor")(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the features that this host supports, and how to add the others."""
    from dumbbell.kernel.doctor import examine  # noqa: PLC0415

    report = examine()
    if as_json:
        output.document(report.document())
        return
    for title, findings in report.sections.items():
        output.print_table(
            title,
            ["", "state", "how to get it"],
            [(f.name, f.state, f.remedy or "") for f in findings],
        )
