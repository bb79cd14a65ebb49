"""``dumbbell study``: list, show and run the studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.studies import Done, Finding

__all__ = ["register"]

COLORS = {"agrees": "green", "differs": "dark_orange3", "not measured": "bright_black"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    studies = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    studies.command(name="list")(list_)
    studies.command(name="show", epilog="[bold]Example[/bold]\n\ndumbbell study show ns2-cbr")(show)
    studies.command(name="run", epilog=EXAMPLES)(run)
    app.add_typer(
        studies, name="study", help="Repeat published experiments, and compare the results with their claims."
    )


EXAMPLES = """
[bold]Examples[/bold]

dumbbell study run ns2-cbr --quick

dumbbell study run ns2-cbr --out results/ns2-cbr    (a further call runs only the missing runs)

dumbbell study run netem-iperf --backend uml    (on the real Linux kernel)

dumbbell study run ns2-cbr --json | jq '.claims\\[] | {id, verdict}'
"""

Name = Annotated[str, typer.Argument(help="The study; `dumbbell study list` lists them.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def list_(as_json: Json = False) -> None:
    """List the studies."""
    from dumbbell.studies import studies  # noqa: PLC0415

    found = list(studies().values())
    if as_json:
        keys = ("name", "title", "what")
        output.document([{**{k: getattr(s, k) for k in keys}, "claims": len(s.paper.claims)} for s in found])
        return
    rows = [(s.name, s.title, len(s.experiments), len(s.paper.claims)) for s in found]
    output.print_table("Studies", ["name", "title", "experiments", "claims"], rows)


def show(name: Name, as_json: Json = False) -> None:
    """Show a study: its source, its experiments with their scenario files, the claims."""
    from rich.padding import Padding  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from dumbbell.studies import study  # noqa: PLC0415

    s = study(name)
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
        size = f"{len(scenario.cells)} cells x {scenario.repetitions} repetitions"
        figures = f"; figures {e.figures}" if e.figures else ""
        console.print(Padding(Text(f"{e.name}: {e.what} ({size}{figures})"), (0, 0, 0, 2), expand=False))
        console.print(
            Padding(Text(str(s.scenario_file(e)), style="cyan", no_wrap=True, overflow="ignore"), (0, 0, 0, 4))
        )
    console.print("\n[bold]Claims[/bold]")
    claims = Table.grid(padding=(0, 2))
    claims.add_column(style="cyan", no_wrap=True)
    for c in s.paper.claims:
        claims.add_row(f"  {c.id}", Text(c.text))
    console.print(claims)


def run(
    name: Name,
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for runs, figures and report (default: results/NAME).", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions and points, for a look.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Runs at a time (default: one for each core).", show_default=False),
    ] = None,
    backend: Annotated[
        str, typer.Option(metavar="NAME", help="The back end, as with `dumbbell run`: sim or uml.")
    ] = "sim",
    as_json: Json = False,
) -> None:
    """Run a study: all its experiments, a verdict for each claim, figures and a report."""
    from dumbbell.backends import backend as find_backend  # noqa: PLC0415
    from dumbbell.report import document  # noqa: PLC0415
    from dumbbell.studies import run_study, study  # noqa: PLC0415

    found = study(name)
    chosen = find_backend(backend)
    made_by = "" if backend == "sim" else f"-{backend}"
    place = out if out is not None else Path("results") / (name + made_by + ("-quick" if quick else ""))
    done = run_study(found, place, quick=quick, jobs=jobs, backend=chosen, watch=output.progress, note=output.note)
    if as_json:
        output.document(document(done))
    else:
        _print(done)


def _print(done: Done) -> None:
    """Print the claims with their verdicts, then the files, the page last."""
    from dumbbell.report import files  # noqa: PLC0415

    texts = {c.id: c.text for c in done.study.paper.claims}
    if done.analysis.findings:
        _print_claims(done.analysis.findings, texts)
    for table in done.analysis.tables if not done.analysis.findings else ():
        output.print_frame(table.title, table.frame)
    for sentence in done.analysis.summary[:1]:
        output.stdout().print(sentence, soft_wrap=True)
    typer.echo(
        f"{done.runs} runs in {done.seconds:.1f} s{' (quick: fewer repetitions and points)' if done.quick else ''}"
    )
    typer.echo("")
    named = files(done)
    typer.echo(f"numbers   {done.out / 'study.json'}, {done.out / 'tables'}/*.csv")
    typer.echo(f"runs      {done.out / 'runs'}/*")
    for path in named:
        if path.suffix == ".png":
            typer.echo(f"figure    {path} (.svg)")
    typer.echo(f"report    {done.report}")


def _print_claims(findings: Sequence[Finding], texts: dict[str, str]) -> None:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(title="Claims", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim and result", overflow="fold")
    for f in findings:
        found = Text(texts[f.claim], style="bold").append(f"\n{f.why}", style="not bold")
        table.add_row(Text(f.verdict.value, style=COLORS[f.verdict.value]), found)
    output.stdout(width=120).print(table)
