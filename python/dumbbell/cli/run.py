"""``dumbbell run``: runs a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.backends import Backend
    from dumbbell.scenario import Scenario

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="run", epilog=EXAMPLES)(run)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell run cbr.toml

dumbbell run cbr.toml --set flows.tcp.variant=vegas --set "network.bottleneck.rate=5 Mbit/s"

dumbbell run cbr.toml --out results/cbr    (keeps everything; a further call runs only the missing runs)

dumbbell run cbr.toml --backend kernel    (the same on the real kernel)

dumbbell run cbr.toml --backend kernel -o sample_ms=1 -o calibration=mark

dumbbell run cbr.toml --json | jq '.runs\\[].flows\\[0].goodput_bps'
"""


def run(
    file: Annotated[Path, typer.Argument(help="The scenario, a TOML file.", show_default=False, metavar="FILE")],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Change the scenario: a dotted path and a value as in TOML (quotes of a text may be left out). "
            "May be given several times. A swept path keeps the one value.",
            show_default=False,
        ),
    ] = None,
    repetitions: Annotated[int | None, typer.Option(help="Repetitions of each cell.", show_default=False)] = None,
    until: Annotated[
        str | None,
        typer.Option(
            help="Repeat each cell until the 95 % interval of its flows' goodput is this narrow to either side, "
            "such as '5 %' (until.metric and until.at_most in the scenario: of what, and how often at most).",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The scenario's seed.", show_default=False)] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Runs at a time (default: one for each core).", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory that keeps everything; finished runs in it are not run again.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Keep the series of flows and queues (needs --out).")
    ] = False,
    backend: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The back end. sim: the simulator. kernel: real Linux, with the best emulation that this "
            "host has (`dumbbell doctor`). uml: Linux in virtual time (`dumbbell kernel build` makes it once).",
        ),
    ] = "sim",
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="NAME=VALUE",
            help="An option of the back end, such as sample_ms=1, calibration=mark, emulation=tc, offloads=on. "
            "May be given several times.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print every step of a kernel back end for the first cell; do nothing.")
    ] = False,
) -> None:
    """Run a scenario: every cell of its sweep, every repetition, in parallel."""
    from dumbbell.backends import backend as find_backend  # noqa: PLC0415
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.results import run as run_scenario  # noqa: PLC0415
    from dumbbell.results.lint import lint  # noqa: PLC0415
    from dumbbell.results.summary import flow_summary, queue_summary  # noqa: PLC0415
    from dumbbell.scenario import Scenario  # noqa: PLC0415

    if trace and out is None:
        raise DumbbellError("--trace: the series need a place: give --out DIR too")
    every = _changes(changes or [])
    every |= {
        k: v
        for k, v in (
            ("repetitions", repetitions),
            ("until.half_width", until),
            ("seed", seed),
            ("trace.series", trace or None),
        )
        if v is not None
    }
    scenario = Scenario.load(file, every)
    chosen = find_backend(backend, _options(options or []))
    if plan:
        _print_plan(chosen, scenario)
        return
    if out is None and (scenario.trace.series or scenario.trace.packets):
        output.note("the scenario's series are not kept: give --out DIR to keep them")
        scenario = scenario.with_changes({"trace": {}})
    if out is None and scenario.capture.at:
        output.note("the scenario's captures are not kept: give --out DIR to keep them")
        scenario = scenario.with_changes({"capture": []})
    _say_way(chosen, scenario)
    with output.progress(scenario.name) as moved:
        results = run_scenario(scenario, jobs=jobs, out=out, backend=chosen, progress=moved)
    if as_json:
        output.document(results.document())
    else:
        counts = sorted({len(runs) for runs in results.by_cell()})
        n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        each = f"mean of {n} repetitions" if counts[-1] > 1 else "one repetition"
        output.print_frame(f"{results.scenario.name}: flows ({each})", flow_summary(results))
        queues = queue_summary(results)
        if queues.height:
            output.print_frame(f"{results.scenario.name}: queues ({each})", queues)
    for warned in lint(results):
        output.note(f"warning: {warned}")
    if out is not None:
        output.note(f"kept in {out}")


def _say_way(backend: Backend, scenario: Scenario) -> None:
    """Print the kernel that runs a scenario."""
    from dumbbell.backends import Kernel  # noqa: PLC0415
    from dumbbell.results.runner import jobs_of  # noqa: PLC0415

    if isinstance(backend, Kernel):
        output.note(backend.choose(jobs_of(scenario))[1])


def _print_plan(backend: Backend, scenario: Scenario) -> None:
    """Print the steps that a kernel back end would execute."""
    from dumbbell.backends import Kernel, Uml  # noqa: PLC0415
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.results.runner import jobs_of  # noqa: PLC0415

    if not isinstance(backend, Kernel | Uml):
        raise DumbbellError(f"--plan: back end '{backend.name}' has no steps to print: give --backend kernel or uml")
    for step in backend.steps(jobs_of(scenario)[0]):
        typer.echo(step)


def _options(given: list[str]) -> dict[str, Any]:
    """Read the options of a back end."""
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.scenario import toml  # noqa: PLC0415

    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise DumbbellError(f"--option: '{text}' given: NAME=VALUE is needed, such as sample_ms=1")
        if name in options:
            raise DumbbellError(f"--option: '{name}' is set twice")
        options[name] = toml.value(value)
    return options


def _changes(given: list[str]) -> dict[str, Any]:
    """Read the changes of ``--set``."""
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.scenario import toml  # noqa: PLC0415

    changes: dict[str, Any] = {}
    for text in given:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise DumbbellError(f"--set: '{text}' given: PATH=VALUE is needed, such as flows.tcp.variant=vegas")
        if path.strip() in changes:
            raise DumbbellError(f"--set: '{path.strip()}' is set twice")
        changes[path.strip()] = toml.value(value.strip())
    return changes
