"""``dumbbell validate``: compares the simulator with the real kernel."""

from __future__ import annotations

import fnmatch
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dumbbell.cli import code, front, output
from dumbbell.kernel.commands import validate_random

if TYPE_CHECKING:
    from dumbbell.kernel.validate import Case, Comparison, Measured

__all__ = ["validate"]


@front.command(
    "validate",
    "dumbbell validate --only 'single/reno/*'",
    "dumbbell validate my-scenario.toml --out results/validate",
    "dumbbell validate --stored validation/linux    # with the stored measurements of the kernel",
    "dumbbell validate --random 60 --seed 7 --shrink 5 --out results/random",
)
@click.argument(
    "scenarios",
    nargs=-1,
    type=front.file(),
    metavar="[FILE]...",
    help="Scenario files; each cell is a case. Default: the built-in cases.",
)
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Cases whose name matches, such as 'loss/*'. Repeatable."
)
@click.option(
    "--out",
    type=front.directory(),
    metavar="DIR",
    help="Directory for the page, figures and tables, and for the runs of the kernel.",
)
@click.option(
    "--stored",
    type=front.directory(),
    metavar="DIR",
    help="Take the measurements of the kernel from this directory; no kernel is needed.",
)
@click.option(
    "--store", type=front.directory(), metavar="DIR", help="Store the measurements of the kernel in this directory."
)
@click.option(
    "--random",
    "number",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compare N scenarios that are drawn from stated ranges.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="S", help="Seed of the draws. Default: 1.")
@click.option(
    "--repetitions",
    type=click.IntRange(min=2),
    metavar="R",
    help="Runs of the kernel, and four times as many of the simulator. Default: 3.",
)
@click.option(
    "--shrink",
    type=click.IntRange(min=0),
    metavar="K",
    help="Make the K worst cases smaller while they still differ, at most 24 runs each. Default: 0.",
)
@front.jobs()
@code.option()
@click.option("--list", "listed", is_flag=True, help="List the cases and do nothing else.")
@front.json()
def validate(
    scenarios: tuple[Path, ...],
    only: tuple[str, ...],
    out: Path | None,
    stored: Path | None,
    store: Path | None,
    number: int | None,
    seed: int | None,
    repetitions: int | None,
    shrink: int | None,
    jobs: int | None,
    no_code: bool,
    listed: bool,
    as_json: bool,
) -> None:
    """Compare the simulator with the real kernel: the same scenarios on both.

    Exit code 1: a flow is outside of the tolerances.
    """
    from dumbbell.backends import Simulator
    from dumbbell.common.processors import cores
    from dumbbell.exceptions import DumbbellError
    from dumbbell.kernel import find
    from dumbbell.kernel.uml.backend import Uml
    from dumbbell.kernel.validate import built_in, compare, load, measure
    from dumbbell.kernel.validate import store as store_cases

    options = {"seed": seed, "repetitions": repetitions, "shrink": shrink}
    if number is not None or any(value is not None for value in options.values()):
        others = scenarios or only or stored is not None or store is not None
        validate_random.run(
            number, options, bool(others), out=out, jobs=jobs or cores(), listed=listed, as_json=as_json
        )
        return
    if stored is not None and (scenarios or store is not None):
        raise DumbbellError("--stored: the scenarios are the stored ones; leave out SCENARIO and --store")
    held = {case.name: (case, measured) for case, measured in load(stored)} if stored is not None else {}
    cases: list[Case] = [case for case, _ in held.values()]
    if stored is None:
        with output.reserved(as_json):
            cases = _given(scenarios, no_code=no_code) or list(built_in())
    cases = _chosen(cases, only)
    if listed:
        for case in cases:
            click.echo(case.name)
        return
    at_a_time = jobs or cores()
    if stored is not None:
        kernel = {name: measured for name, (_, measured) in held.items()}
        version = "as stored"
    else:
        version = find().version
        with output.progress("kernel") as moved:
            kernel = measure(cases, Uml(), jobs=at_a_time, keep=out, progress=moved)
    with output.progress("simulator") as moved:
        sim = measure(cases, Simulator(), jobs=at_a_time, progress=moved)
    comparisons = [c for case in cases for c in compare(case.name, sim[case.name], kernel[case.name])]
    if store is not None:
        store_cases(store, cases, kernel, version)
    if as_json:
        output.document([_row(c) for c in comparisons])
    else:
        _print(comparisons)
    if out is not None:
        _write(out, cases, sim, kernel, comparisons, version)
    if any(c.outside for c in comparisons):
        sys.exit(1)


def _given(files: tuple[Path, ...], *, no_code: bool) -> list[Case]:
    """Read the cases of scenario files; code that they run is named, or refused."""
    from dumbbell.kernel.validate import of_file

    with code.announced(refuse=no_code):
        cases = [case for path in files for case in of_file(path)]
    for case in cases if no_code else ():
        code.refuse_commands(case.scenario)
    return cases


def _chosen(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """Return the cases whose names match; DumbbellError if none does."""
    from dumbbell.exceptions import DumbbellError

    chosen = [c for c in cases if not only or any(fnmatch.fnmatch(c.name, pattern) for pattern in only)]
    if not chosen:
        raise DumbbellError(f"--only: no case matches {', '.join(only)} (`--list` lists them)")
    return chosen


def _row(c: Comparison) -> dict[str, object]:
    return {**asdict(c), "outside": c.outside}


def _print(comparisons: Sequence[Comparison]) -> None:
    from dumbbell.kernel.validate.page import summary, table
    from dumbbell.kernel.validate.words import sentences, tolerances

    output.print_frame("Every flow: simulator, kernel, difference", table(comparisons))
    output.print_frame("By variant", summary(comparisons))
    for sentence in [tolerances(), *sentences(comparisons)]:
        click.echo(sentence)


def _write(
    out: Path,
    cases: Sequence[Case],
    sim: dict[str, Measured],
    kernel: dict[str, Measured],
    comparisons: Sequence[Comparison],
    version: str,
) -> None:
    from dumbbell.kernel.validate.page import content
    from dumbbell.report.write import write_content

    command = shlex.join(["dumbbell", *sys.argv[1:]])
    with output.progress("figures") as moved:
        page = write_content(content(cases, sim, kernel, comparisons, version, command), out, progress=moved)
    output.note(f"page      {page}")
