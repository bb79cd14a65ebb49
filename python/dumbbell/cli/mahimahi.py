"""``dumbbell mahimahi``: writes a packet-delivery trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli import output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="mahimahi", epilog=EXAMPLES)(mahimahi)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell run cell.toml --out results/cell --trace

dumbbell mahimahi results/cell "r1->r2" --out down.trace

dumbbell mahimahi results/cell "r1->r2" --out down.trace --run 3 --from "5 s"
"""


def mahimahi(
    results: Annotated[Path, typer.Argument(help="A results directory.", show_default=False, metavar="DIR")],
    link: Annotated[
        str, typer.Argument(help='A direction of a link, such as "r1->r2".', show_default=False, metavar="LINK")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.", show_default=False)],
    run: Annotated[int, typer.Option(min=0, help="Which run, from 0.")] = 0,
    begin: Annotated[
        str, typer.Option("--from", help="The time of the run at which the trace begins.", metavar="TIME")
    ] = "0 s",
) -> None:
    """Write the packets that a link delivered as a packet-delivery trace for mahimahi's mm-link."""
    from dumbbell import mahimahi as traces  # noqa: PLC0415
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.results import Results  # noqa: PLC0415
    from dumbbell.scenario.units import Duration  # noqa: PLC0415

    try:
        from_ns = Duration(begin).ns
    except ValueError as e:
        raise DumbbellError(f"--from: {e}") from None
    lines = traces.write(Results.load(results), link, out, run=run, from_ns=from_ns)
    output.note(f"{lines} lines of {traces.OPPORTUNITY} bytes in {out}")
