"""``dumbbell validate``: compares the simulator with the real kernel."""

from __future__ import annotations

import fnmatch
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.validate import Case, Comparison, Measured

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="validate", epilog=EXAMPLES)(validate)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell validate --only 'single/reno/*'

dumbbell validate my-scenario.toml --out results/validate

dumbbell validate --stored validation/linux    (the kernel's side as it was measured: no kernel is needed)
"""


def validate(
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(help="Scenario files, each cell a case. Default: the built-in set.", show_default=False),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Cases whose name matches, such as 'loss/*'; may be given several times.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the page, figures and tables, and for the kernel's runs.", show_default=False
        ),
    ] = None,
    stored: Annotated[
        Path | None, typer.Option(help="Take the kernel's side from this directory.", show_default=False)
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Store the kernel's side in this directory.", show_default=False)
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Runs at a time (default: one for each core).", show_default=False),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the cases and do nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare the simulator with the real kernel: the same scenarios on both."""
    from dumbbell.backends import Simulator, Uml  # noqa: PLC0415
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.kernel import find  # noqa: PLC0415
    from dumbbell.results.runner import cores  # noqa: PLC0415
    from dumbbell.validate import built_in, compare, load, measure, of_file  # noqa: PLC0415
    from dumbbell.validate import store as store_cases  # noqa: PLC0415

    if stored is not None and (scenarios or store is not None):
        raise DumbbellError("--stored: the scenarios are the stored ones; leave out SCENARIO and --store")
    held = {case.name: (case, measured) for case, measured in load(stored)} if stored is not None else {}
    cases: list[Case] = [case for case, _ in held.values()]
    if stored is None:
        cases = [case for path in scenarios for case in of_file(path)] if scenarios else list(built_in())
    cases = [c for c in cases if not only or any(fnmatch.fnmatch(c.name, pattern) for pattern in only)]
    if not cases:
        raise DumbbellError(f"--only: no case matches {', '.join(only or ())} (`--list` lists them)")
    if listed:
        for case in cases:
            typer.echo(case.name)
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


def _row(c: Comparison) -> dict[str, object]:
    return {**asdict(c), "outside": c.outside}


def _print(comparisons: Sequence[Comparison]) -> None:
    from dumbbell.validate.page import summary, table  # noqa: PLC0415

    output.print_frame("Every flow: simulator, kernel, difference", table(comparisons))
    output.print_frame("By variant", summary(comparisons))


def _write(
    out: Path,
    cases: Sequence[Case],
    sim: dict[str, Measured],
    kernel: dict[str, Measured],
    comparisons: Sequence[Comparison],
    version: str,
) -> None:
    from dumbbell.report.write import write_content  # noqa: PLC0415
    from dumbbell.validate.page import content  # noqa: PLC0415

    command = shlex.join(["dumbbell", *sys.argv[1:]])
    with output.progress("figures") as moved:
        page = write_content(content(cases, sim, kernel, comparisons, version, command), out, progress=moved)
    output.note(f"page      {page}")
