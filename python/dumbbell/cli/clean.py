"""``dumbbell clean``: removes the remains of killed runs."""

from __future__ import annotations

import typer

from dumbbell.cli import output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="clean")(clean)


def clean() -> None:
    """Remove the folders and processes that killed runs on a real kernel have left behind, nothing else.

    Namespaces, interfaces and queue disciplines of a run have no name outside of it: the kernel removes them when its
    process ends, also when it is killed.
    """
    from dumbbell.kernel.folders import clean as clean_up  # noqa: PLC0415

    for left in clean_up():
        output.note(f"removed {left.place}" + (f", ended {len(left.processes)} processes" if left.processes else ""))
