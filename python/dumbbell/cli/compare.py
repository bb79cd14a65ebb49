"""``dumbbell compare``: compares two sets of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.results.changes import Change

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="compare", epilog=EXAMPLES)(compare)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell compare results/before results/after

dumbbell compare results/before results/after --gate --metric goodput_bps    (exit code 1 if something got worse)

dumbbell compare results/sim results/kernel --all --json
"""


def compare(
    first: Annotated[Path, typer.Argument(help="Results to compare with.", show_default=False, metavar="DIR_A")],
    second: Annotated[Path, typer.Argument(help="Results to judge.", show_default=False, metavar="DIR_B")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Only this metric (may be repeated).", show_default=False)
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit with code 1 if something is significantly worse.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List all comparisons, not only significant changes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
) -> None:
    """Compare two sets of results and list the significant changes.

    Cells, flows and queues are matched by name, repetitions by seed. A change is significant if Student's t
    test on the pairs (Welch's t test where the seeds differ) is, at 95 % for all comparisons together (Holm).
    """
    from dumbbell.results import Results  # noqa: PLC0415
    from dumbbell.results.changes import compare as compare_results  # noqa: PLC0415

    changes = compare_results(Results.load(first), Results.load(second), metric)
    worse = [c for c in changes if c.worse]
    if as_json:
        output.document({"a": str(first), "b": str(second), "changes": [c.document() for c in changes]})
    else:
        _print([c for c in changes if every or c.significant], len(changes), len(worse))
    if gate and worse:
        raise typer.Exit(1)


def _print(changes: list[Change], made: int, worse: int) -> None:
    from dumbbell.plots.axis_labels import quantity  # noqa: PLC0415

    rows = []
    for c in sorted(changes, key=lambda c: (not c.worse, not c.significant, -abs(c.relative or 0))):
        shown = quantity(c.metric)
        change = f"{100 * c.relative:+.2f} %" if c.a else "-"
        rows.append(
            (c.cell or "-", c.who, shown.label, c.a * shown.factor, c.b * shown.factor, change, c.n, c.verdict)
        )
    if rows:
        output.print_table("Changes", ("cell", "of", "metric", "A", "B", "change", "n", "verdict"), rows)
    differ = sum(c.significant for c in changes)
    typer.echo(f"{made} comparisons: {differ} differ, {worse} of them for the worse")
