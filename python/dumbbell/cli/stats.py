"""``dumbbell stats``: prints statistics over repetitions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from dumbbell.cli import front, output
from dumbbell.cli.reading import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from dumbbell.metrics import Compared
    from dumbbell.plots.axis_labels import Quantity
    from dumbbell.results import Results

__all__ = ["stats"]

SPREAD = ("mean", "median", "sd")
"""Columns whose extremes are shown where the cells are too many to read."""
INTERVALS = {
    "order": "of the median (between ordered values)",
    "bca": "of the median (BCa bootstrap)",
    "student": "of the mean (Student's t)",
}
"""The intervals of ``--ci`` in words."""
F = TypeVar("F", bound="Callable[..., Any]")
MEASURED = ("alone", "contested", "harm")
"""Columns of `Results.harm` that are summarized."""


directory_argument = click.argument("directory", type=front.directory(), metavar="DIR", help="Results that --out kept.")


def _metric(what: str) -> Callable[[F], F]:
    """Return the option ``--metric``."""
    return click.option("--metric", default="goodput_bps", show_default=True, metavar="COLUMN", help=what)


def _flows(what: str) -> Callable[[F], F]:
    """Return the option ``--flow``."""
    return click.option("--flow", multiple=True, metavar="NAME", help=f"{what} Repeatable.")


@front.command(
    "harm",
    "dumbbell stats harm results/first                       # the loss of each flow by the others",
    "dumbbell stats harm results/first --metric rtt_p95_ms --json",
)
@directory_argument
@_metric("A column of the flows.")
@_flows("Only this flow and the others that are given.")
@front.tables()
@front.every_row()
@front.json()
def harm(directory: Path, metric: str, flow: tuple[str, ...], every_row: bool, as_json: bool) -> None:
    """Run each flow alone too, and print the share of a metric that the others cost it."""
    import polars as pl

    from dumbbell.backends import backend
    from dumbbell.metrics import summarize
    from dumbbell.plots.axis_labels import quantity
    from dumbbell.results.frames.extremes import READABLE
    from dumbbell.results.frames.summary import Summary, short_names
    from dumbbell.results.store.directory import Store

    results = load(directory)
    made_by = backend(Store(directory).manifest().get("backend", "sim"))
    with output.progress("alone") as moved:
        table = results.harm(metric, flows=list(flow) or None, backend=made_by, progress=moved)
    if as_json:
        output.document({"metric": metric, "runs": table.to_dicts()})
        return
    shown = quantity(metric)
    cell = table.columns[: table.columns.index("run")]
    factors = {"alone": shown.factor, "contested": shown.factor, "harm": 1.0}
    rows: list[list[Any]] = []
    medians: list[tuple[Any, ...]] = []
    for key, part in table.partition_by([*cell, "name"], maintain_order=True, as_dict=True).items():
        values = {c: part[c].cast(pl.Float64).fill_null(float("nan")).to_numpy() for c in MEASURED}
        found = [summarize(factors[c] * values[c]) for c in MEASURED]
        rows.append([*key, *(s.text() for s in found)])
        medians.append((*key, *(s.median for s in found)))
    short = short_names(cell)
    keys = (*(short[c] for c in cell), "name")
    title = f"Harm: {shown.label}, alone and contested; median"
    if every_row or len(rows) <= READABLE:
        output.print_table(f"{title} [95 % interval]", [*keys, *MEASURED], rows)
    else:
        output.print_summary(title, Summary(keys, MEASURED, medians), every_row=False)


@front.command(
    "stats",
    "dumbbell stats results/sweep                                  # n, mean, median, sd and interval by cell",
    "dumbbell stats results/sweep --metric rtt_p95_ms --by variant # which variants differ, on the same seeds",
    "dumbbell stats results/sweep --metric utilization --queue 'r1->r2' --ci student --json",
    modes=[harm],
    removed={"--harm": "`dumbbell stats harm DIR`", "--name": "--flow or --queue", "--interval": "--ci"},
)
@click.argument("directory", type=front.directory(), cls=front.Argument, metavar="DIR", help="Results that --out kept.")
@_metric("A column of the flows, queues or transfers.")
@click.option("--by", metavar="PATH", help="Compare the values of this swept path with each other, on the same seeds.")
@_flows("Only this flow. With --by its comparisons alone are the family that is corrected for.")
@click.option("--queue", multiple=True, metavar="NAME", help="Only this queue. Repeatable.")
@front.margin()
@click.option(
    "--ci",
    "interval",
    type=click.Choice(list(INTERVALS)),
    default="order",
    show_default=True,
    help="Confidence interval. order: of the median, between ordered values, at the level of the column level; "
    "bca: bootstrap of the median; student: Student's t about the mean.",
)
@click.option(
    "--level",
    type=click.FloatRange(0.5, 0.999),
    default=0.95,
    show_default=True,
    metavar="LEVEL",
    help="Confidence level.",
)
@front.tables()
@front.every_row()
@front.json()
def stats(
    directory: Path,
    metric: str,
    by: str | None,
    flow: tuple[str, ...],
    queue: tuple[str, ...],
    margin: str | None,
    interval: Literal["order", "bca", "student"],
    level: float,
    every_row: bool,
    as_json: bool,
) -> None:
    """Print a metric's statistics over repetitions, and its significant differences."""
    import polars as pl

    from dumbbell.plots.axis_labels import quantity
    from dumbbell.results.frames.extremes import READABLE
    from dumbbell.results.statistics.cell_statistics import spread
    from dumbbell.results.statistics.difference_that_matters import margin_of

    results = load(directory)
    matters = margin_of(metric, margin)
    if margin is not None and by is None:
        raise click.UsageError("--margin: only with --by, which compares")
    # Of a large table only extremes are printed, of nothing but these columns.
    table = None if every_row or as_json else spread(results, metric)
    if table is None or table.height <= READABLE:
        table = results.statistics(metric, interval=interval, level=level)
    names: tuple[str, ...] = ()
    if flow or queue:
        who = "flow" if "flow" in table.columns else "name"
        names = _chosen(results, metric, table[who].unique().to_list(), flow, queue)
        table = table.filter(pl.col(who).is_in(names))
    compared = results.comparisons(metric, by, level=level, margin=margin, names=names) if by is not None else []
    compared.sort(key=lambda one: (not one[1].significant, bool(one[1].refused)))  # the order of the sweep stays
    if as_json:
        table = table.with_columns(pl.col("values").list.eval(pl.element().fill_nan(None)))
        document = {"metric": metric, "interval": interval, "level": level, "cells": table.to_dicts()}
        document["margin"] = None if matters is None else {"size": matters.size, "relative": matters.relative}
        output.document({**document, "comparisons": [_plain(cell, c) for cell, c in compared]})
        return
    shown = quantity(metric)
    words = f"{100 * level:g} % interval {INTERVALS[interval]}"
    _print_cells(table, shown, words, every_row=every_row)
    if compared and matters is not None:
        output.line(f"Differences from {matters.text(shown.unit, shown.factor)} on matter (--margin):")
    _print_comparisons(compared, shown, every_row=every_row)


def _chosen(
    results: Results, metric: str, known: list[str], flow: tuple[str, ...], queue: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the flows or queues to print; ResultsError for a name that the metric doesn't have."""
    from dumbbell.exceptions import ResultsError
    from dumbbell.registry import unknown

    of_flows = metric in results.flows.columns or metric not in results.queues.columns
    what, names, others = ("flow", flow, queue) if of_flows else ("queue", queue, flow)
    if others:
        raise ResultsError(f"--{'queue' if of_flows else 'flow'}: '{metric}' is a metric of {what}s: use --{what}")
    for name in names:
        if name not in known:
            raise ResultsError(f"--{what}: {unknown(what, name, known)}")
    return names


def _print_cells(table: pl.DataFrame, shown: Quantity, interval: str, *, every_row: bool) -> None:
    """Print the statistics of every cell, or the extremes where the cells are too many to read.

    `interval` describes the columns low and high.
    """
    import polars as pl

    from dumbbell.results.frames.extremes import READABLE
    from dumbbell.results.frames.summary import Summary, short_names

    who = "flow" if "flow" in table.columns else "name"
    cell = table.columns[: table.columns.index(who)]
    scaled = table.with_columns(pl.selectors.float() * shown.factor).rename(short_names(cell))
    measured = dict.fromkeys((*SPREAD, "min", "max", "low", "high"), shown.unit)
    if every_row or table.height <= READABLE:
        columns = scaled.drop("values", "refused").with_columns(level=100 * table["level"])
        output.print_frame(f"{shown.label}; low, high: {interval}", columns, {**measured, "level": "%"})
        for reason in table["refused"].drop_nulls().unique(maintain_order=True):
            output.line(f"no interval: {reason}")
        return
    scaled = scaled.rename({who: "name"})  # transfers have the name of their flow
    keys = tuple(scaled.columns[: scaled.columns.index("name") + 1])
    output.print_summary(shown.label, Summary(keys, SPREAD, scaled.select(*keys, *SPREAD).rows()), every_row=False)


def _print_comparisons(
    compared: Sequence[tuple[dict[str, object], Compared]], shown: Quantity, *, every_row: bool
) -> None:
    """Print a sentence for each comparison, or for the extremes where they are too many to read."""
    from dumbbell.results.frames.extremes import READABLE
    from dumbbell.results.frames.summary import short_names

    short = short_names(list(dict.fromkeys(p for rest, _ in compared for p in rest if p not in {"name", "flow"})))
    if len(compared) > READABLE and not every_row:
        differ = sum(c.significant for _, c in compared)
        output.line(f"{len(compared)} comparisons: {differ} differ. The extremes (--all prints every comparison):")
        ranked = sorted((c for c in compared if c[1].difference.n), key=lambda c: c[1].difference.mean)
        compared = [ranked[0], ranked[len(ranked) // 2], ranked[-1]] if ranked else []
    for rest, c in compared:
        where = ", ".join(f"{short.get(path, path)} {value}" for path, value in rest.items())
        output.line(f"{where}: {c.scaled(shown.factor).sentence(shown.unit)}")


def _plain(cell: dict[str, object], c: Compared) -> dict[str, object]:
    """Return a comparison as plain values; None for a number that doesn't exist."""
    d = c.difference
    values = {
        "cell": cell,
        "a": c.a,
        "b": c.b,
        "shown": c.significant,
        "verdict": c.verdict,
        "margin": c.margin_size,
        "claim_p": c.claim_p,
        "refused": c.refused or None,
        "p": c.p,
        "holm": c.adjusted,
        **{name: getattr(d, name) for name in ("n", "mean", "low", "high", "median", "cliffs_delta")},
        "sentence": c.sentence(),
    }
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
