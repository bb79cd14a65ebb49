"""``dumbbell stats``: prints statistics over repetitions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.metrics import Compared
    from dumbbell.results import Results

__all__ = ["register"]

MEASURED = ("alone", "contested", "harm")
"""Columns of `Results.harm` that are summarized."""


class Interval(StrEnum):
    """Kinds of intervals."""

    BCA = "bca"
    STUDENT = "student"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="stats", epilog=EXAMPLES)(stats)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell stats results/cbr                                 (goodput: n, mean, median, sd, 95 % interval by cell)

dumbbell stats results/cbr --metric rtt_p95_ms --by variant    (and which variants differ, on the same seeds)

dumbbell stats results/pair --harm                         (the loss of each flow by the others: runs each flow alone)

dumbbell stats results/cbr --metric utilization --name 'r1->r2' --interval student --json
"""


def stats(
    directory: Annotated[Path, typer.Argument(help="Directory of results.", show_default=False, metavar="DIR")],
    metric: Annotated[str, typer.Option(help="A column of flows, queues or transfers.")] = "goodput_bps",
    by: Annotated[
        str | None,
        typer.Option(
            help="Compare the values of this swept path with each other, on the same seeds.", metavar="PATH"
        ),
    ] = None,
    harm: Annotated[
        bool, typer.Option("--harm", help="Run each flow alone too, and give the part that the others cost it.")
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option(help="Only this flow or queue (may be repeated).", show_default=False)
    ] = None,
    interval: Annotated[
        Interval, typer.Option(help="bca: bootstrap of the median; student: Student's t about the mean.")
    ] = Interval.BCA,
    level: Annotated[float, typer.Option(help="Confidence level.", min=0.5, max=0.999)] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")] = False,
) -> None:
    """Print a metric's statistics over repetitions, and its significant differences."""
    import polars as pl  # noqa: PLC0415

    from dumbbell.exceptions import ResultsError  # noqa: PLC0415
    from dumbbell.plots.axis_labels import quantity  # noqa: PLC0415
    from dumbbell.registry import unknown  # noqa: PLC0415
    from dumbbell.results import Results  # noqa: PLC0415
    from dumbbell.results.summary import short_names  # noqa: PLC0415

    results = Results.load(directory)
    if harm:
        _harm(results, directory, metric, name, as_json=as_json)
        return
    table = results.statistics(metric, interval=interval.value, level=level)
    compared = results.comparisons(metric, by, level=level) if by is not None else []
    if name:
        who = "flow" if "flow" in table.columns else "name"
        for one in name:
            if one not in table[who].to_list():
                raise ResultsError(f"--name: {unknown('flow or queue', one, table[who].unique().to_list())}")
        table = table.filter(pl.col(who).is_in(name))
        compared = [(cell, c) for cell, c in compared if cell[who] in name]
    if as_json:
        document = {"metric": metric, "interval": interval.value, "level": level, "cells": table.to_dicts()}
        output.document({**document, "comparisons": [_plain(cell, c) for cell, c in compared]})
        return
    shown = quantity(metric)
    cell = [c for c in table.columns[: table.columns.index("n")] if c not in {"name", "flow"}]
    scaled = table.drop("values").with_columns(pl.selectors.float() * shown.factor).rename(short_names(cell))
    output.print_frame(f"{shown.label}: {100 * level:g} % intervals", scaled)
    short = short_names(list(dict.fromkeys(p for rest, _ in compared for p in rest if p not in {"name", "flow"})))
    for rest, c in compared:
        where = ", ".join(f"{short.get(path, path)} {value}" for path, value in rest.items())
        output.stdout().print(
            f"{where}: {c.scaled(shown.factor).sentence(shown.unit)}", soft_wrap=True, highlight=False
        )


def _harm(results: Results, directory: Path, metric: str, name: list[str] | None, *, as_json: bool) -> None:
    """Run the flows alone, on the back end that made the results, and print the harm of the others."""
    import polars as pl  # noqa: PLC0415

    from dumbbell.backends import backend  # noqa: PLC0415
    from dumbbell.metrics import summarize  # noqa: PLC0415
    from dumbbell.plots.axis_labels import quantity  # noqa: PLC0415
    from dumbbell.results.store import Store  # noqa: PLC0415
    from dumbbell.results.summary import short_names  # noqa: PLC0415

    made_by = backend(Store(directory).manifest().get("backend", "sim"))
    with output.progress("alone") as moved:
        table = results.harm(metric, flows=name, backend=made_by, progress=moved)
    if as_json:
        output.document({"metric": metric, "runs": table.to_dicts()})
        return
    shown = quantity(metric)
    cell = table.columns[: table.columns.index("run")]
    rows = []
    for key, part in table.partition_by([*cell, "name"], maintain_order=True, as_dict=True).items():
        values = {c: part[c].cast(pl.Float64).fill_null(float("nan")).to_numpy() for c in MEASURED}
        factors = {"alone": shown.factor, "contested": shown.factor, "harm": 1.0}
        rows.append([*key, *(summarize(factors[c] * values[c]).text() for c in MEASURED)])
    short = short_names(cell)
    headings = [*(short[c] for c in cell), "name", *MEASURED]
    output.print_table(f"Harm: {shown.label}, alone and contested; median [95 % interval]", headings, rows)


def _plain(cell: dict[str, object], c: Compared) -> dict[str, object]:
    """Return a comparison as plain values."""
    d = c.difference
    return {
        "cell": cell,
        "a": c.a,
        "b": c.b,
        "shown": c.significant,
        "p": c.p,
        "holm": c.adjusted,
        **{name: getattr(d, name) for name in ("n", "mean", "low", "high", "median", "cliffs_delta")},
        "sentence": c.sentence(),
    }
