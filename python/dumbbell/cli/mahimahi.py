"""``dumbbell mahimahi``: writes a packet-delivery trace."""

from __future__ import annotations

from pathlib import Path

import click

from dumbbell.cli import front, output
from dumbbell.cli.reading import load

__all__ = ["mahimahi"]


@front.command(
    "mahimahi",
    "dumbbell run first.toml --repetitions 4 --out results/first --trace",
    'dumbbell mahimahi results/first "r1->r2" --out down.trace',
    'dumbbell mahimahi results/first "r1->r2" --out down.trace --run 3 --from "5 s"',
    removed={"-o": "--out"},
)
@click.argument("results", type=front.directory(), metavar="DIR", help="Results that --out and --trace kept.")
@click.argument("link", metavar="LINK", help='A direction of a link, such as "r1->r2".')
@click.option("--out", type=front.file(), required=True, metavar="FILE", help="The file to write.")
@click.option("--run", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="The run, from 0.")
@click.option(
    "--from",
    "begin",
    default="0 s",
    show_default=True,
    metavar="TIME",
    help="The time of the run at which the trace begins.",
)
def mahimahi(results: Path, link: str, out: Path, run: int, begin: str) -> None:
    """Write the packets that a link delivered as a trace for mahimahi.

    The file is a packet-delivery trace, which mahimahi's mm-link reads.
    """
    from dumbbell import mahimahi as traces
    from dumbbell.exceptions import DumbbellError
    from dumbbell.scenario.units import Duration

    try:
        from_ns = Duration(begin).ns
    except ValueError as e:
        raise DumbbellError(f"--from: {e}") from None
    lines = traces.write(load(results), link, out, run=run, from_ns=from_ns)
    output.note(f"{lines} lines of {traces.OPPORTUNITY} bytes in {out}")
