"""``dumbbell validate random N``: compares the simulator with the kernel in random conditions."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from dumbbell.cli import front, output

__all__ = ["random"]


@front.command("random", "dumbbell validate random 60 --seed 7 --shrink 5 --out results/random")
@click.argument("number", type=click.IntRange(min=1), metavar="N", help="The number of scenarios.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="N", help="Seed of the draws."
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=2),
    default=3,
    show_default=True,
    metavar="N",
    help="Runs of the kernel, and four times as many of the simulator.",
)
@click.option(
    "--shrink",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="K",
    help="Make the K worst cases smaller while they still differ, at most 24 runs each.",
)
@click.option(
    "--out",
    type=front.directory(),
    metavar="DIR",
    help="Directory for the page, the worst cases, and the runs of the kernel.",
)
@front.jobs()
@click.option("--list", "listed", is_flag=True, help="List the cases and do nothing else.")
@front.json()
def random(
    number: int,
    seed: int,
    repetitions: int,
    shrink: int,
    out: Path | None,
    jobs: int | None,
    listed: bool,
    as_json: bool,
) -> None:
    """Compare the simulator with the real kernel in scenarios that are drawn from stated ranges.

    Exit code 1: a figure differs.
    """
    from dumbbell.backends import Simulator
    from dumbbell.common.processors import cores
    from dumbbell.kernel import find
    from dumbbell.kernel.uml.backend import Uml
    from dumbbell.kernel.validate.random_cases import RULE, compare_at_random, content, keep_worst, table
    from dumbbell.kernel.validate.scenario_draws import drawn
    from dumbbell.kernel.validate.verdicts import distribution, groups
    from dumbbell.report.write import write_content

    cases = list(drawn(number, seed, repetitions))
    if listed:
        for case in cases:
            click.echo(f"# {case.name}\n{case.scenario.to_toml()}")
        return
    version = find().version
    with output.progress("cases") as moved:
        done = compare_at_random(
            cases, (Simulator(), Uml()), jobs=jobs or cores(), shrink=shrink, keep=out, progress=moved
        )
    if as_json:
        rows = table(done.judged).to_dicts()
        output.document({"figures": rows, "failed": [{"case": c, "reason": r} for c, r in done.failed]})
    else:
        output.print_frame("Differences", distribution(done.judged))
        output.print_frame("Figures that differ, by group", groups(cases, done.judged))
        for sentence in [RULE, *(f"{found.sentence}." for found in done.worst)]:
            click.echo(sentence)
        for name, reason in done.failed:
            click.echo(f"{name} was not run: {reason}")
    if out is not None:
        keep_worst(done, out / "worst")
        page = write_content(content(done, version, shlex.join(["dumbbell", *sys.argv[1:]])), out)
        output.note(f"page      {page}")
    if done.worst or done.failed:
        sys.exit(1)
