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
from dumbbell.kernel.commands.validate_random import random

if TYPE_CHECKING:
    from dumbbell.kernel.validate import Case, Comparison, Measured

__all__ = ["validate"]


only_option = click.option(
    "--only", multiple=True, metavar="PATTERN", help="Cases whose name matches, such as 'loss/*'. Repeatable."
)
out_option = click.option(
    "--out",
    type=front.directory(),
    metavar="DIR",
    help="Directory for the page, figures and tables, and for the runs of the kernel.",
)
list_option = click.option("--list", "listed", is_flag=True, help="List the cases and do nothing else.")


@front.command("stored", "dumbbell validate stored validation/linux")
@click.argument("directory", type=front.directory(), metavar="DIR", help="The directory that --store wrote.")
@only_option
@out_option
@front.jobs()
@list_option
@front.json()
def stored(
    directory: Path, only: tuple[str, ...], out: Path | None, jobs: int | None, listed: bool, as_json: bool
) -> None:
    """Compare the simulator with stored measurements of the kernel; no kernel is needed.

    Exit code 1: a flow is outside of the tolerances.
    """
    from dumbbell.common.processors import cores
    from dumbbell.kernel.validate import load

    held = {case.name: (case, measured) for case, measured in load(directory)}
    cases = _chosen([case for case, _ in held.values()], only)
    if listed:
        _list(cases)
        return
    kernel = {name: measured for name, (_, measured) in held.items()}
    _compare(cases, kernel, "as stored", jobs=jobs or cores(), out=out, as_json=as_json)


@front.command(
    "validate",
    "dumbbell validate --only 'single/reno/*'",
    "dumbbell validate my-scenario.toml --out results/validate",
    modes=[stored, random],
    removed={
        "--stored": "`dumbbell validate stored DIR`",
        "--random": "`dumbbell validate random N`",
        "--seed": "`dumbbell validate random N --seed S`",
        "--repetitions": "`dumbbell validate random N --repetitions R`",
        "--shrink": "`dumbbell validate random N --shrink K`",
    },
)
@click.argument(
    "scenarios",
    nargs=-1,
    type=front.file(),
    cls=front.Argument,
    metavar="[FILE]...",
    help="Scenario files; each cell is a case. Default: the built-in cases.",
)
@only_option
@out_option
@click.option(
    "--store", type=front.directory(), metavar="DIR", help="Store the measurements of the kernel in this directory."
)
@front.jobs()
@code.option()
@list_option
@front.json()
def validate(
    scenarios: tuple[Path, ...],
    only: tuple[str, ...],
    out: Path | None,
    store: Path | None,
    jobs: int | None,
    no_code: bool,
    listed: bool,
    as_json: bool,
) -> None:
    """Compare the simulator with the real kernel: the same scenarios on both.

    Exit code 1: a flow is outside of the tolerances.
    """
    from dumbbell.common.processors import cores
    from dumbbell.kernel import find
    from dumbbell.kernel.uml.backend import Uml
    from dumbbell.kernel.validate import built_in, measure
    from dumbbell.kernel.validate import store as store_cases

    with output.reserved(as_json):
        cases = _chosen(_given(scenarios, no_code=no_code) or list(built_in()), only)
    if listed:
        _list(cases)
        return
    at_a_time = jobs or cores()
    version = find().version
    with output.progress("kernel") as moved:
        kernel = measure(cases, Uml(), jobs=at_a_time, keep=out, progress=moved)
    if store is not None:
        store_cases(store, cases, kernel, version)
    _compare(cases, kernel, version, jobs=at_a_time, out=out, as_json=as_json)


def _compare(
    cases: Sequence[Case], kernel: dict[str, Measured], version: str, *, jobs: int, out: Path | None, as_json: bool
) -> None:
    """Simulate the cases, and print and write the differences; exit code 1 if one is outside of the tolerances."""
    from dumbbell.backends import Simulator
    from dumbbell.kernel.validate import compare, measure

    with output.progress("simulator") as moved:
        sim = measure(cases, Simulator(), jobs=jobs, progress=moved)
    comparisons = [c for case in cases for c in compare(case.name, sim[case.name], kernel[case.name])]
    if as_json:
        output.document([_row(c) for c in comparisons])
    else:
        _print(comparisons)
    if out is not None:
        _write(out, cases, sim, kernel, comparisons, version)
    if any(c.outside for c in comparisons):
        sys.exit(1)


def _list(cases: Sequence[Case]) -> None:
    for case in cases:
        click.echo(case.name)


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
