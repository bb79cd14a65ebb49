"""``dumbbell plot``: draws figures of results."""

from __future__ import annotations

from pathlib import Path

import click

from dumbbell.cli import front, output
from dumbbell.cli.reading import load
from dumbbell.cli.settings import settings

__all__ = ["plot"]

OVER_TIME = (
    "cwnd", "queue", "rtt", "srtt", "goodput", "sequence", "inflight", "fairness", "iograph", "load", "video",
    "waterfall", "voice", "responsiveness",
)  # fmt: skip
PAPER = "For print"
OVER_RUNS = ("timelapse", "matrix", "lines", "bars", "box", "cdf", "ellipse", "plane", "heatmap", "slowdown")


@front.command(
    "plot",
    "dumbbell plot results/sweep --kind bars --by variant",
    "dumbbell plot results/sweep --kind lines --metric goodput_bps --x cbr.application.rate --by tcp.variant",
    "dumbbell plot results/first --kind cwnd --flow a --out cwnd.pdf    # results of a run with --trace",
    "dumbbell plot results/sweep --kind plane --cell cbr.application.rate='2 Mbit/s' --width column --out plane.pdf",
    "dumbbell plot results/pairs --kind matrix --out matrix.html     # variants of two flows, interactive",
    removed={"-o": "--out", "--where": "--cell", "--window": "--interval"},
)
@click.argument("directory", type=front.directory(), metavar="DIR", help="Results that --out kept.")
@click.option(
    "--kind",
    "-k",
    required=True,
    metavar="KIND",
    shell_complete=front.names(lambda: [*OVER_TIME, *OVER_RUNS]),
    help=f"The kind of figure. One run over time: {', '.join(OVER_TIME)}. All runs: {', '.join(OVER_RUNS)}.",
)
@click.option(
    "--run", type=int, default=0, show_default=True, metavar="N", help="The run, from 0, for kinds over time."
)
@click.option("--metric", metavar="COLUMN", help="A column of the results. Default: goodput_bps.")
@click.option("--x", metavar="PATH", help="The swept path on the x-axis.")
@click.option("--by", metavar="COLUMN", help="The column that distinguishes curves: a swept path, name or variant.")
@click.option("--flow", multiple=True, metavar="NAME", help="Only this flow. Repeatable.")
@click.option("--queue", multiple=True, metavar="NAME", help="Only this queue. Repeatable.")
@click.option(
    "--cell",
    "cells",
    multiple=True,
    metavar="PATH=VALUE",
    help="Only the cells where a swept path has this value, for kinds over all runs. Repeatable.",
)
@click.option(
    "--interval", metavar="TIME", help="Length of the intervals over which rates are computed, such as '100 ms'."
)
@click.option(
    "--out", type=front.file(), metavar="FILE", help="The file: .png, .svg, .pdf or .html. Default: DIR/KIND.png."
)
@front.option(
    "--width",
    metavar="WIDTH",
    help="Printed width of a png, svg or pdf: column (3.5 in), two-column (7.16 in), slide, or a length such as "
    "'85 mm'. Its text keeps a legible size.",
    heading=PAPER,
)
@front.option(
    "--bare", is_flag=True, help="Omit the title and the small print. The metadata of the file has both.", heading=PAPER
)
def plot(
    directory: Path,
    kind: str,
    run: int,
    metric: str | None,
    x: str | None,
    by: str | None,
    flow: tuple[str, ...],
    queue: tuple[str, ...],
    cells: tuple[str, ...],
    interval: str | None,
    out: Path | None,
    width: str | None,
    bare: bool,
) -> None:
    """Draw a figure of results that were kept with --out."""
    from dumbbell.exceptions import DumbbellError
    from dumbbell.plots.accessor import write
    from dumbbell.plots.catalog import make
    from dumbbell.scenario.units import PositiveDuration

    try:
        window_s = PositiveDuration(interval).seconds if interval is not None else None
    except ValueError as e:
        raise DumbbellError(f"--interval: {e}") from None
    results = load(directory)
    picture = make(
        results,
        kind,
        run=run,
        metric=metric,
        x=x,
        by=by,
        flow=list(flow) or None,
        queue=list(queue) or None,
        window_s=window_s,
        where=_conditions(cells) or None,
    )
    click.echo(write(picture, out or directory / f"{kind}.png", width=width, bare=bare))
    output.note(picture.title)


def _conditions(given: tuple[str, ...]) -> dict[str, object]:
    """Read the conditions of ``--cell``."""
    return {**settings(given, "tcp.variant=vegas", option="--cell", form="PATH=VALUE")}
