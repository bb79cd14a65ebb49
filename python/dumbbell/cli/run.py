"""``dumbbell run``: runs a scenario."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from dumbbell.cli import code, front, output, summaries

if TYPE_CHECKING:
    from dumbbell.backends import Backend
    from dumbbell.scenario import Scenario

__all__ = ["changes_of", "run"]


def _backends() -> list[str]:
    from dumbbell.backends import names

    return names()


@front.command(
    "run",
    "dumbbell run first.toml",
    'dumbbell run first.toml --set flows.a.variant=vegas --set "network.bottleneck.rate=5 Mbit/s"',
    "dumbbell run first.toml --out results/first         # keeps everything; runs only what is missing",
    "dumbbell run first.toml --backend kernel            # the same on the real kernel",
    "dumbbell run first.toml --backend kernel -o sample_ms=1 -o calibration=mark",
    "dumbbell run first.toml --backend kernel --hold     # then commands in its hosts: a.from ping -c 3 a.to",
    "dumbbell run first.toml --backend ssh --hosts hosts.toml",
    "dumbbell run first.toml --cluster local:2",
    "dumbbell run sweep.toml --out results/sweep --cluster dask://head:8786",
    "dumbbell run first.toml --json | jq '.runs[].flows[0].goodput_bps'",
)
@click.argument("file", type=front.file(), metavar="FILE", help="The scenario, a TOML file.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change a value of the scenario: a dotted path, and the value as in TOML (the quotes of a text may be left "
    "out). Repeatable. A swept path keeps only this value.",
)
@click.option("--repetitions", type=int, metavar="N", help="Repetitions of each cell.")
@click.option(
    "--until",
    metavar="PERCENT",
    help="Repeat each cell until the 95 % confidence interval of the goodput of its flows is this narrow to either "
    "side, such as '5 %'. In the scenario, until.metric and until.at_most set another metric and the maximum.",
)
@click.option("--seed", type=int, metavar="N", help="The seed of the scenario.")
@front.jobs()
@click.option(
    "--out",
    type=front.directory(),
    metavar="DIR",
    help="Keep everything in this directory. Finished runs in it are not run again.",
)
@front.tables()
@front.every_row()
@front.json()
@click.option(
    "--qlog",
    type=click.Choice(["draft", "0.3"]),
    help="Keep qlog files of QUIC flows (needs --out): by the IETF's current drafts, or 0.3 for today's viewers.",
)
@click.option("--trace", is_flag=True, help="Keep the series of flows and queues (needs --out).")
@click.option(
    "--backend",
    metavar="NAME",
    default="sim",
    show_default=True,
    shell_complete=front.names(_backends),
    help="The back end. sim: the simulator. kernel: real Linux, with the best link emulation that this host "
    "supports (`dumbbell doctor`). uml: Linux in virtual time (`dumbbell kernel build` builds it once). ssh: the "
    "machines of --hosts.",
)
@front.hosts()
@front.options()
@click.option(
    "--order",
    type=click.Choice(["cells", "random"]),
    default="cells",
    show_default=True,
    help="The order of the runs on a kernel: cell by cell, or drawn from the seed, so that a host that changes over "
    "time disturbs all cells alike. The place of each run is in facts.order.",
)
@click.option(
    "--allow-programs",
    is_flag=True,
    help="Let the scenario start programs of its own choice on this host (applications of kind command, args of "
    "iperf3), isolated and without rights. Without this option, a question at the terminal.",
)
@code.option()
@click.option(
    "--hold",
    is_flag=True,
    help="Keep the network after the run (--backend kernel, one run). Commands for its hosts are typed at a prompt "
    "or read from stdin, until `exit` or the end of the input. Other terminals enter it with `dumbbell shell`.",
)
@click.option(
    "--cluster",
    metavar="WORKERS",
    help="The workers that make the runs in the simulator: local:N (processes of this machine), dask://HOST:PORT (a "
    "scheduler of dask), slurm:N or pbs:N (jobs of a batch system). Results are the same. Default: the processors of "
    "this machine.",
)
@click.option("--yes", is_flag=True, help="Begin very large sweeps without a question.")
@click.option(
    "--plan", is_flag=True, help="Print the steps of a kernel back end for the first cell, and run nothing."
)
def run(
    file: Path,
    changes: tuple[str, ...],
    repetitions: int | None,
    until: str | None,
    seed: int | None,
    jobs: int | None,
    out: Path | None,
    every_row: bool,
    as_json: bool,
    qlog: str | None,
    trace: bool,
    backend: str,
    hosts: Path | None,
    keep_agent: bool,
    options: tuple[str, ...],
    order: Literal["cells", "random"],
    allow_programs: bool,
    no_code: bool,
    hold: bool,
    cluster: str | None,
    yes: bool,
    plan: bool,
) -> None:
    """Run a scenario: every cell of its sweep, every repetition, in parallel."""
    from dumbbell.backends import backend as find_backend
    from dumbbell.cli.announce import announce
    from dumbbell.common.processors import cores
    from dumbbell.exceptions import DumbbellError
    from dumbbell.results import run as run_scenario
    from dumbbell.results.statistics.lint import lint
    from dumbbell.scenario import Scenario
    from dumbbell.scenario.reading_modes import announce_before_cells
    from dumbbell.workers import at_most

    if qlog is not None and out is None:
        raise DumbbellError("--qlog: the files need a place: give --out DIR too")
    if trace and out is None:
        raise DumbbellError("--trace: the series need a place: give --out DIR too")
    every = changes_of(changes)
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
    announced = partial(announce, backend=backend, jobs=jobs or cores(), keeps=out is not None, yes=yes or plan)
    with output.reserved(as_json), code.announced(refuse=no_code), announce_before_cells(announced), at_most(jobs):
        scenario = Scenario.load(file, every)
    if no_code:
        code.refuse_commands(scenario)
    given = {**front.options_of(options), **front.of_hosts(backend, hosts, keep_agent)}
    if allow_programs or _consents(scenario, backend, given, plan=plan):
        given["allow_programs"] = "on"
    given |= _hold_option(backend) if hold else {}
    chosen = find_backend(backend, given)
    if plan:
        _print_plan(chosen, scenario)
        return
    evaluated = scenario.preset is not None and scenario.preset.is_evaluated
    if out is None and (scenario.trace.series or scenario.trace.packets) and not evaluated:
        output.note("the scenario's series are not kept: give --out DIR to keep them")
        scenario = scenario.with_changes({"trace": {}})
    if qlog is not None:
        scenario = scenario.with_changes({"capture": {**scenario.to_dict().get("capture", {}), "qlog": qlog}})
    if out is None and scenario.capture.keeps:
        output.note("the scenario's captures are not kept: give --out DIR to keep them")
        scenario = scenario.with_changes({"capture": []})
    _note_kernel(chosen, scenario)
    _note_starts(scenario)
    with _held(chosen, out, hold=hold):
        with output.reserved(as_json), output.progress(scenario.name) as moved:
            results = run_scenario(
                scenario, jobs=jobs, out=out, backend=chosen, order=order, cluster=cluster, progress=moved
            )
        if as_json:
            output.document(results.document())
        else:
            summaries.print_results(results, every_row=every_row)
        for warned in lint(results):
            output.note(f"warning: {warned}")
        if out is not None:
            output.note(f"kept in {out}")


def _note_starts(scenario: Scenario) -> None:
    """State the start jitter that the scenario doesn't set."""
    from dumbbell.scenario.flow.default_jitter import sentence

    if text := sentence(scenario.cells[0].scenario):
        output.note(text)


def _hold_option(backend: str) -> dict[str, Any]:
    """Return the option of the back end for ``--hold``."""
    from dumbbell.exceptions import DumbbellError

    if backend != "kernel":
        raise DumbbellError(f"--hold: back end '{backend}' has no network to keep: give --backend kernel")
    return {"hold": "on"}


@contextmanager
def _held(backend: Backend, out: Path | None, *, hold: bool) -> Iterator[None]:
    """Run the commands of stdin in the network of the run that the block makes, if it is to be held; then end it."""
    from dumbbell.backends import Holder
    from dumbbell.exceptions import DumbbellError

    if not hold or not isinstance(backend, Holder):
        yield
        return
    try:
        yield
        sys.stdout.flush()
        if not backend.converse():
            raise DumbbellError(f"--hold: no run was made: {out} already has it: give another --out, or none")
    finally:
        backend.release()


def _consents(scenario: Scenario, backend: str, options: dict[str, Any], *, plan: bool) -> bool:
    """Ask at the terminal whether the scenario may start programs of its own choice; without one, False."""
    if backend not in ("kernel", "uml") or "allow_programs" in options:
        return False
    from dumbbell.scenario.flow.programs import own_commands

    asked = {place: command for cell in scenario.cells for place, command in own_commands(cell.scenario).items()}
    if not asked or plan:
        return bool(asked)  # a plan starts nothing
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    output.note("the scenario starts programs on this host, isolated and without rights:")
    for place, command in asked.items():
        output.note(f"  {place}: {command}")
    return click.confirm("Start them?", err=True)


def _note_kernel(backend: Backend, scenario: Scenario) -> None:
    """Print the kernel that runs a scenario."""
    from dumbbell.backends import Chooser
    from dumbbell.results.runs.record import jobs_of

    if isinstance(backend, Chooser):
        output.note(backend.choose(jobs_of(scenario))[1])


def _print_plan(backend: Backend, scenario: Scenario) -> None:
    """Print the steps that a kernel back end would execute."""
    from dumbbell.backends import Stepwise
    from dumbbell.exceptions import DumbbellError
    from dumbbell.results.runs.record import jobs_of

    if not isinstance(backend, Stepwise):
        raise DumbbellError(f"--plan: back end '{backend.name}' has no steps to print: give --backend kernel or uml")
    for step in backend.steps(jobs_of(scenario)[0]):
        click.echo(step)


def changes_of(given: tuple[str, ...]) -> dict[str, Any]:
    """Read the changes of ``--set``."""
    from dumbbell.exceptions import DumbbellError
    from dumbbell.scenario import toml

    changes: dict[str, Any] = {}
    for text in given:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise DumbbellError(f"--set: '{text}' given: PATH=VALUE is needed, such as flows.tcp.variant=vegas")
        if path.strip() in changes:
            raise DumbbellError(f"--set: '{path.strip()}' is set twice")
        changes[path.strip()] = toml.value(value.strip())
    return changes
