"""``dumbbell compare``: compares two sets of results."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dumbbell.cli import front, output
from dumbbell.cli.reading import load
from dumbbell.common.words import counted

if TYPE_CHECKING:
    from dumbbell.results.statistics.changes import Change

__all__ = ["compare"]


@front.command(
    "compare",
    "dumbbell compare results/before results/after",
    "dumbbell compare results/before results/after --gate --metric goodput_bps",
    "dumbbell compare results/sim results/kernel --all --json",
)
@click.argument("first", type=front.directory(), metavar="DIR_A", help="Results to compare with.")
@click.argument("second", type=front.directory(), metavar="DIR_B", help="Results to judge.")
@click.option("--metric", multiple=True, metavar="COLUMN", help="Only this metric. Repeatable.")
@front.margin()
@click.option("--gate", is_flag=True, help="Exit with code 1 if something is significantly worse.")
@click.option("--all", "every", is_flag=True, help="List all comparisons, not only significant changes.")
@front.tables()
@front.json("Print one JSON document instead of a table.")
def compare(
    first: Path, second: Path, metric: tuple[str, ...], margin: str | None, gate: bool, every: bool, as_json: bool
) -> None:
    """Compare two sets of results and list the significant changes.

    Cells, flows and queues are matched by name, repetitions by seed. A change is significant if Student's t
    test on the pairs (Welch's t test where the seeds differ) is, at 95 % for all comparisons together (Holm). The
    verdict states how it compares with the margin, the difference that matters.
    """
    from dumbbell.exceptions import DumbbellError
    from dumbbell.results.statistics.changes import compare as compare_results

    changes = compare_results(load(first), load(second), list(metric) or None, margin=margin)
    worse = [c for c in changes if c.worse]
    if as_json:
        output.document({"a": str(first), "b": str(second), "changes": [c.document() for c in changes]})
    else:
        _print([c for c in changes if every or c.significant], changes)
    if gate and changes and all(c.refused for c in changes):
        raise DumbbellError(f"--gate: nothing can be judged: {changes[0].refused}")
    if gate and worse:
        raise click.exceptions.Exit(1)


def _print(changes: list[Change], made: list[Change]) -> None:
    """Print changes, and the number of all comparisons."""
    from dumbbell.plots.axis_labels import quantity

    rows = []
    for c in sorted(changes, key=_rank):
        shown = quantity(c.metric)
        change = f"{100 * c.relative:+.2f} %" if c.a else "-"
        verdict = c.sentence(shown.unit, shown.factor)
        rows.append((c.cell or "-", c.who, shown.label, c.a * shown.factor, c.b * shown.factor, change, c.n, verdict))
    if rows:
        output.print_table("Changes", ("cell", "of", "metric", "A", "B", "change", "n", "verdict"), rows)
    differ, worse = (sum(getattr(c, name) for c in made) for name in ("significant", "worse"))
    output.line(f"{counted(len(made), 'comparison')}: {differ} differ, {worse} of them for the worse")
    for reason, number in Counter(c.refused for c in made if c.refused).items():
        output.line(f"{counted(number, 'comparison')} refused, {reason}")


def _rank(change: Change) -> tuple[bool, bool, float]:
    """Return the sort key of a change: worse before significant before the others, the largest first.

    A change from zero has no relative size: it is the last of its kind. Equal keys keep the order of the sweep.
    """
    size = abs(change.relative)
    return not change.worse, not change.significant, 0.0 if math.isnan(size) else -size
