"""``dumbbell plot``: draws figures of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli import output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="plot", epilog=EXAMPLES)(plot)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell plot results/cbr --kind cwnd --flow tcp

dumbbell plot results/cbr --kind lines --metric goodput_bps --x cbr.application.rate --by tcp.variant -o goodput.pdf

dumbbell plot results/fairness --kind matrix -o matrix.html    (interactive, works offline)
"""


def _kinds() -> str:
    return "cwnd, queue, rtt, goodput, sequence, inflight, iograph (one run over time); " \
           "matrix, lines, bars, box, cdf, ellipse, heatmap (over all runs)"  # fmt: skip


def plot(
    directory: Annotated[Path, typer.Argument(help="Results that --out kept.", show_default=False, metavar="DIR")],
    kind: Annotated[str, typer.Option("--kind", "-k", help=f"The kind of figure: {_kinds()}.", show_default=False)],
    run: Annotated[int, typer.Option(help="Which run, from 0, for kinds over time.")] = 0,
    metric: Annotated[
        str | None,
        typer.Option(help="A column of the results, such as goodput_bps (default).", show_default=False),
    ] = None,
    x: Annotated[str | None, typer.Option("--x", help="The swept path across.", show_default=False)] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="The column that distinguishes curves: a swept path, name, variant.", show_default=False
        ),
    ] = None,
    flow: Annotated[
        list[str] | None, typer.Option(help="Only this flow (may be repeated).", show_default=False)
    ] = None,
    queue: Annotated[
        list[str] | None, typer.Option(help="Only this queue (may be repeated).", show_default=False)
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(help="Length of the windows that rates are shown in, such as '100 ms'.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file: .png, .svg, .pdf or .html (default: DIR/KIND.png).", show_default=False
        ),
    ] = None,
) -> None:
    """Draw a figure of results that were kept with --out."""
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.plots.accessor import write  # noqa: PLC0415
    from dumbbell.plots.catalog import make  # noqa: PLC0415
    from dumbbell.results import Results  # noqa: PLC0415
    from dumbbell.scenario.units import PositiveDuration  # noqa: PLC0415

    try:
        window_s = PositiveDuration(window).seconds if window is not None else None
    except ValueError as e:
        raise DumbbellError(f"--window: {e}") from None
    results = Results.load(directory)
    picture = make(results, kind, run=run, metric=metric, x=x, by=by, flow=flow, queue=queue, window_s=window_s)
    typer.echo(write(picture, out or directory / f"{kind}.png"))
    output.note(picture.title)
