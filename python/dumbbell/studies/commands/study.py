"""``dumbbell study``: list, show and run the studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dumbbell.cli import backend_options, front, output
from dumbbell.common.words import counted

if TYPE_CHECKING:
    from dumbbell.studies import Done, Finding

__all__ = ["study"]

MOST = 100_000
"""Largest number of repetitions of a cell."""
COLORS = {
    "agrees": "green",
    "differs": "dark_orange3",
    "depends": "dark_cyan",
    "undecided at this budget": "bright_black",
    "the model can't show it": "bright_black",
    "not measured": "bright_black",
}


def _names() -> list[str]:
    from dumbbell.studies import studies

    return list(studies())


name_argument = click.argument(
    "name", metavar="NAME", shell_complete=front.names(_names), help="The study; `dumbbell study list` lists them."
)


@click.group("study", cls=front.Group)
def study() -> None:
    """Repeat published experiments, and compare the results with their claims."""


@study.command("list")
@front.json()
def list_(as_json: bool) -> None:
    """List the studies."""
    from dumbbell.studies import studies

    found = list(studies().values())
    if as_json:
        keys = ("name", "title", "what")
        numbers = [{"claims": len(s.paper.claims), "judged": len(s.paper.judged)} for s in found]
        output.document([{**{k: getattr(s, k) for k in keys}, **n} for s, n in zip(found, numbers, strict=True)])
        return
    rows = [
        (s.name, s.title, len(s.experiments), len(claims), len(s.paper.judged), len(claims) - len(s.paper.judged))
        for s in found
        for claims in [s.paper.claims]
    ]
    output.print_table("Studies", ["name", "title", "experiments", "claims", "judged", "not testable"], rows)


@study.command("show", examples=["dumbbell study show ns2-cbr"])
@name_argument
@front.json()
def show(name: str, as_json: bool) -> None:
    """Show a study: its source, its experiments with their scenario files, the claims."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from dumbbell.studies import study as find_study
    from dumbbell.studies.sequential import SEEDS
    from dumbbell.studies.shared import claims_text

    s = find_study(name)
    if as_json:
        files = [{**e.model_dump(), "file": str(s.scenario_file(e))} for e in s.experiments]
        output.document({**s.model_dump(), "experiments": files})
        return
    console = output.stdout(width=120)
    console.print(Text(s.name, style="bold").append(f": {s.title}", style="not bold"))
    console.print(f"after {', '.join(s.paper.authors)}: {s.paper.title} ({s.paper.method})", style="dim")
    console.print(f"\n{' '.join(s.what.split())}")
    console.print("\n[bold]Experiments[/bold] (plain scenarios: copy one, change it, `dumbbell run` it)")
    for e in s.experiments:
        scenario = s.scenario(e)
        size = f"{counted(len(scenario.cells), 'cell')} x {counted(scenario.repetitions, 'repetition')}"
        figures = f"; figures {e.figures}" if e.figures else ""
        console.print(Padding(Text(f"{e.name}: {e.what} ({size}{figures})"), (0, 0, 0, 2), expand=False))
        console.print(
            Padding(Text(str(s.scenario_file(e)), style="cyan", no_wrap=True, overflow="ignore"), (0, 0, 0, 4))
        )
    if s.paper.listed:
        console.print("\n[bold]Decisions[/bold]")
        times = ", ".join(str(1 << look) for look in range(s.looks))
        console.print(
            f"  {SEEDS} seeds, independently; each looks at the claims with {times} times these repetitions, as far as "
            "claims are open.",
            soft_wrap=True,
        )
        for o in s.paper.open:
            values = "; ".join(value.name for value in o.values)
            also = f"also judged with: {values}" if values else f"not varied: {o.reason}"
            console.print(Text(f"  {o.setting}: {o.used}").append(f"\n    {also}", style="dim"))
    console.print(f"\n[bold]Claims[/bold] ({claims_text(s.paper)})")
    claims = Table.grid(padding=(0, 2))
    claims.add_column(style="cyan", no_wrap=True)
    for c in s.paper.claims:
        judged = s.rule_text(c) + (f" {c.revised}" if c.revisions else "")
        claims.add_row(f"  {c.id}", Text(c.text).append(f"\n{judged}" if judged else "", style="dim"))
    console.print(claims)


@study.command(
    "run",
    examples=(
        "dumbbell study run ns2-cbr --quick",
        "dumbbell study run ns2-cbr --out results/ns2-cbr    # runs only what is missing there",
        "dumbbell study run netem-iperf --once    # one seed, one look: figures, and verdicts for a first impression",
        "dumbbell study run netem-iperf --seed 78 --budget 400    # other seeds, more repetitions for open claims",
        "dumbbell study run netem-iperf --backend uml        # on the real Linux kernel, decisive cells in the "
        "simulator too",
        "dumbbell study run ns2-cbr --quick --backend kernel -o emulation=link    # on this host's clock",
        "dumbbell study run ns2-cbr --json | jq '.claims[] | {id, verdict}'",
    ),
)
@name_argument
@click.option(
    "--out",
    type=front.directory(),
    metavar="DIR",
    help="Directory for runs, figures and report. Default: results/NAME.",
)
@click.option("--quick", is_flag=True, help="Fewer repetitions and points, for a first impression.")
@front.jobs()
@backend_options.backend()
@front.json()
@click.option(
    "--seed",
    type=click.IntRange(0, 2**48 - 1),
    metavar="N",
    help="The first seed. Default: 1; with --quick or a kernel that of the scenarios.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    metavar="K",
    help="Independent decisions, by the seeds N, N+1 and so on. Default: 5; with --quick or a kernel 1.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(2, MOST),
    metavar="R",
    help="Repetitions of each cell at the first look. Default: those of the scenarios.",
)
@click.option(
    "--budget",
    type=click.IntRange(2, MOST),
    metavar="B",
    help="Most repetitions of a cell in a decision: open claims get up to so many. Default: what "
    "`study show` states; with --quick or a kernel no more than those.",
)
@click.option(
    "--once",
    is_flag=True,
    help="Look at the claims once, by one seed, at the study's own values of open settings: minutes instead of hours.",
)
@backend_options.options()
@front.option(
    "--kernel/--no-kernel",
    default=True,
    show_default=True,
    help="With the simulator: run the decisive cells on the virtual-time kernel too, if one is there. With "
    "--backend uml they always run in the simulator too.",
    heading=backend_options.KERNEL,
)
@backend_options.flags("hosts", "keep_agent")
@click.option("--all", "all_", is_flag=True, help="Print every claim with its result, and every file.")
def run(
    name: str,
    out: Path | None,
    quick: bool,
    jobs: int | None,
    backend: str,
    as_json: bool,
    options: tuple[str, ...],
    kernel: bool,
    all_: bool,
    once: bool,
    **decisions: int | None,
) -> None:
    """Run a study: all its experiments, a verdict for each claim, figures and a report."""
    from dumbbell.backends import backend as find_backend
    from dumbbell.common.extras import require
    from dumbbell.studies import run_study
    from dumbbell.studies import study as find_study
    from dumbbell.studies.json_document import document
    from dumbbell.studies.kernel_column import why_no_kernel
    from dumbbell.studies.real_time import real_time_text

    require("jinja2", "matplotlib")  # before the runs, which may take long
    found = find_study(name)
    given = backend_options.options_of(backend, options)
    if backend == "kernel":  # one run whose link differs ends no study
        given = {"calibration": "mark", **given}
    chosen = find_backend(backend, given)
    if backend == "kernel":
        absent, real = why_no_kernel(), real_time_text(found, quick=quick)
        here = given.get("emulation", "best") in {"link", "tc"}
        if found.real_programs:
            output.note(f"The runs have real programs and are made in real time, one by one: {real}.")
        elif here:
            output.note(f"The runs are made in real time; all of the study would take {real}.")
        elif absent:
            output.note(
                f"The runs are made in real time; all of the study would take {real}. Virtual time is faster: {absent}."
            )
        else:
            chosen = find_backend("kernel", {**given, "emulation": "uml"})
            output.note(f"The runs are made in virtual time: in real time they would take {real}.")
    if backend == "ssh":
        output.note(f"The runs are made in real time, one by one: {real_time_text(found, quick=quick)}.")
    made_by = "" if backend == "sim" else f"-{backend}"
    place = out if out is not None else Path("results") / (name + made_by + ("-quick" if quick else ""))
    done = run_study(
        found,
        place,
        quick=quick,
        jobs=jobs,
        backend=chosen,
        kernel=kernel,
        watch=output.progress,
        note=output.note,
        once=once,
        **decisions,
    )
    if as_json:
        output.document(document(done))
    else:
        _print(done, all_=all_)


def _print(done: Done, *, all_: bool) -> None:
    """Print at most ten lines, the page last; everything else before them if it is asked for."""
    from dumbbell.studies.ending import ending

    if all_:
        _print_all(done)
    for name, cells in done.refused.items():
        reasons = "; ".join(dict.fromkeys(cells.values()))
        output.note(f"{name}: {counted(len(cells), 'cell')} not run on the back end {done.backend}: {reasons}")
    for head, text in ending(done, all_=all_):
        output.line(f"{head:<9} {text}")


def _print_all(done: Done) -> None:
    """Print the claims with their verdicts and results, the tables of a study without claims, and the files."""
    from dumbbell.studies.report_files import files

    if done.analysis.findings:
        _print_claims(done.analysis.findings, {c.id: c.text for c in done.study.paper.claims})
    for table in done.analysis.tables if not done.analysis.findings else ():
        output.print_frame(table.title, table.frame)
    if done.column is not None and done.column.rows:
        table = done.column.table()
        output.print_frame(table.title, table.frame)
    for path in files(done):
        if path.suffix == ".png":
            output.line(f"figure    {path} (.svg)")


def _print_claims(findings: Sequence[Finding], texts: dict[str, str]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Claims", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim and result", overflow="fold")
    for f in findings:
        found = Text(texts[f.claim], style="bold").append(f"\n{f.why}", style="not bold")
        table.add_row(Text(f.verdict.value, style=COLORS[f.verdict.value]), found)
    output.stdout(width=120).print(table)
