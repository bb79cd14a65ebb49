"""``dumbbell doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli import output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="doctor")(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say what this host can do, and how it could do what it can't."""
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
