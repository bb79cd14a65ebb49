"""``dumbbell run``: runs a scenario."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dumbbell.cli import backend_options, code, front, output, scenario_file, summaries

if TYPE_CHECKING:
    from dumbbell.backends import Backend
    from dumbbell.scenario import Scenario

__all__ = ["run"]


LARGE = "Large sweeps"
OUTPUT = "Output"


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
    removed={"--plan": "`dumbbell kernel plan FILE`"},
)
@scenario_file.file_argument
@scenario_file.changes()
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
@click.option("--trace", is_flag=True, help="Keep the series of flows and queues (needs --out).")
@backend_options.backend()
@code.option()
@front.json(heading=OUTPUT)
@front.tables(OUTPUT)
@front.every_row(OUTPUT)
@front.option(
    "--qlog",
    type=click.Choice(["draft", "0.3"]),
    help="Keep qlog files of QUIC flows (needs --out): by the IETF's current drafts, or 0.3 for today's viewers.",
    heading=OUTPUT,
)
@front.option("--yes", is_flag=True, help="Start very large sweeps without asking.", heading=LARGE)
@front.option(
    "--cluster",
    metavar="WORKERS",
    help="The workers that make the runs in the simulator: local:N (processes of this machine), dask://HOST:PORT or "
    "tls://HOST:PORT (a scheduler of dask, without or with TLS), slurm:N or pbs:N (jobs of a batch system). Results "
    "are the same. Default: the processors of this machine.",
    heading=LARGE,
)
@backend_options.options()
@front.option(
    "--order",
    type=click.Choice(["cells", "random"]),
    default="cells",
    show_default=True,
    help="The order of the runs on a kernel: cell by cell, or drawn from the seed, so that a host that changes over "
    "time disturbs all cells alike. The place of each run is in facts.order.",
    heading=backend_options.KERNEL,
)
@backend_options.flags()
def run(
    file: Path,
    changes: tuple[str, ...],
    repetitions: int | None,
    until: str | None,
    seed: int | None,
    jobs: int | None,
    out: Path | None,
    trace: bool,
    backend: str,
    no_code: bool,
    as_json: bool,
    every_row: bool,
    qlog: str | None,
    yes: bool,
    cluster: str | None,
    options: tuple[str, ...],
    order: Literal["cells", "random"],
) -> None:
    """Run a scenario: every cell of its sweep, every repetition, in parallel."""
    from dumbbell.backends import backend as find_backend
    from dumbbell.cli.announce import announce
    from dumbbell.common.processors import cores
    from dumbbell.exceptions import DumbbellError
    from dumbbell.results import run as run_scenario
    from dumbbell.scenario import Scenario
    from dumbbell.scenario.reading_modes import announce_before_cells
    from dumbbell.workers import at_most

    if qlog is not None and out is None:
        raise DumbbellError("--qlog: the files need a place: give --out DIR too")
    if trace and out is None:
        raise DumbbellError("--trace: the series need a place: give --out DIR too")
    every = scenario_file.changes_of(changes)
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
    announced = partial(announce, backend=backend, jobs=jobs or cores(), keeps=out is not None, yes=yes)
    with output.reserved(as_json), code.announced(refuse=no_code), announce_before_cells(announced), at_most(jobs):
        scenario = Scenario.load(file, every)
    if no_code:
        code.refuse_commands(scenario)
    given = backend_options.options_of(backend, options, scenario)
    chosen = find_backend(backend, given)
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
    with _held(chosen, out, hold=given.get("hold") == "on"):
        with output.reserved(as_json), output.progress(scenario.name) as moved:
            results = run_scenario(
                scenario, jobs=jobs, out=out, backend=chosen, order=order, cluster=cluster, progress=moved
            )
        if as_json:
            output.document(results.document())
        else:
            summaries.print_results(results, every_row=every_row)
        for warned in results.warnings:
            output.note(f"warning: {warned}")
        if out is not None:
            output.note(f"kept in {out}")


def _note_starts(scenario: Scenario) -> None:
    """State the start jitter that the scenario doesn't set."""
    from dumbbell.scenario.flow.default_jitter import sentence

    if text := sentence(scenario.cells[0].scenario):
        output.note(text)


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


def _note_kernel(backend: Backend, scenario: Scenario) -> None:
    """Print the kernel that runs a scenario."""
    from dumbbell.backends import Chooser
    from dumbbell.results.runs.record import jobs_of

    if isinstance(backend, Chooser):
        output.note(backend.choose(jobs_of(scenario))[1])
