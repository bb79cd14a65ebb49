"""``dumbbell validate --random N``: compares the simulator with the kernel in random conditions."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from dumbbell.cli import output

__all__ = ["run"]


def run(
    number: int | None,
    options: Mapping[str, int | None],
    others: bool,
    *,
    out: Path | None,
    jobs: int,
    listed: bool,
    as_json: bool,
) -> None:
    """Compare random cases; exit code 1: a figure differs.

    Parameters
    ----------
    options : mapping
        ``seed``, ``repetitions`` and ``shrink``, None where not given.
    others : bool
        True if other cases are asked for too.
    """
    from dumbbell.backends import Simulator
    from dumbbell.exceptions import DumbbellError
    from dumbbell.kernel import find
    from dumbbell.kernel.uml.backend import Uml
    from dumbbell.kernel.validate.random_cases import RULE, compare_at_random, content, keep_worst, table
    from dumbbell.kernel.validate.scenario_draws import REPETITIONS, drawn
    from dumbbell.kernel.validate.verdicts import distribution, groups
    from dumbbell.report.write import write_content

    if number is None:
        given = ", ".join(f"--{name}" for name, value in options.items() if value is not None)
        raise DumbbellError(f"{given}: only for scenarios that are drawn, with --random N")
    if others:
        raise DumbbellError("--random: the scenarios are drawn; leave out FILE, --only, --stored and --store")
    defaults = {"seed": 1, "repetitions": REPETITIONS, "shrink": 0}
    chosen = {name: defaults[name] if value is None else value for name, value in options.items()}
    cases = list(drawn(number, chosen["seed"], chosen["repetitions"]))
    if listed:
        for case in cases:
            click.echo(f"# {case.name}\n{case.scenario.to_toml()}")
        return
    version = find().version
    with output.progress("cases") as moved:
        done = compare_at_random(
            cases, (Simulator(), Uml()), jobs=jobs, shrink=chosen["shrink"], keep=out, progress=moved
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
