"""``dumbbell results``: a results directory in short, and its upkeep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dumbbell.cli import front, output, summaries
from dumbbell.cli.reading import load

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.results import Results

__all__ = ["results"]


directory_argument = click.argument("directory", type=front.directory(), metavar="DIR", help="Results that --out kept.")


@front.command("query", "dumbbell results query results/sweep 'SELECT name, avg(goodput_bps) FROM flows GROUP BY name'")
@directory_argument
@click.argument("sql", metavar="SQL", help="A query over the tables flows, queues and transfers.")
@front.tables()
@front.json("Print one JSON document instead of a table.")
def query(directory: Path, sql: str, as_json: bool) -> None:
    """Print a query over the tables of results (DuckDB)."""
    import polars as pl  # slow to import

    from dumbbell.exceptions import DumbbellError

    found = load(directory)
    database = found.to_duckdb()
    database.execute("SET enable_external_access = false")  # a query reads the tables, and no file
    try:
        answer = database.execute(sql)
        frame = pl.DataFrame(answer.fetchall(), schema=[name for name, *_ in answer.description or ()], orient="row")
    except Exception as e:
        raise DumbbellError(f"SQL: {str(e).splitlines()[0]}") from None
    if as_json:
        output.document(frame.to_dicts())
    else:
        output.print_frame(f"{found.scenario.name}: {sql}", frame)


@front.command(
    "export",
    "dumbbell results export results/sweep > flows.csv",
    "dumbbell results export results/sweep --table queues --format parquet --out queues.parquet",
    removed={"--to": "--out FILE"},
)
@directory_argument
@click.option(
    "--table",
    type=click.Choice(["flows", "queues", "transfers"]),
    default="flows",
    show_default=True,
    help="The table.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "json", "parquet"]),
    default="csv",
    show_default=True,
    help="Format of the table. parquet: only into a file.",
)
@click.option("--out", type=front.file(), metavar="FILE", help="The file to write. Default: stdout.")
def export(
    directory: Path,
    table: Literal["flows", "queues", "transfers"],
    form: Literal["csv", "json", "parquet"],
    out: Path | None,
) -> None:
    """Write a table of results."""
    from dumbbell.results.frames.export import write_csv

    if form == "parquet" and out is None:
        raise click.UsageError("--format parquet: give the file with --out")
    frame: pl.DataFrame = getattr(load(directory), table)
    if form == "parquet" and out is not None:
        frame.write_parquet(out)
        return
    text = write_csv(frame) if form == "csv" else frame.write_json() + "\n"
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


@front.command("verify", "dumbbell results verify results/sweep", "dumbbell results verify results/sweep --repair")
@directory_argument
@click.option("--repair", "repairs", is_flag=True, help="Make damaged and missing runs again.")
@front.jobs()
@click.pass_context
def verify(ctx: click.Context, directory: Path, repairs: bool, jobs: int | None) -> None:
    """Check every run. The exit code is 1 if one is missing or damaged."""
    from dumbbell.common.words import counted
    from dumbbell.results import Results
    from dumbbell.results.running.repair_and_merge import missing, repair

    if jobs is not None and not repairs:
        raise click.UsageError("--jobs: only with --repair, which makes runs")
    found = Results.load(directory)
    for run in found.runs:  # reads every one
        del run
    damaged, left = found.damaged, missing(found)
    if not damaged and not left:
        output.line(f"{directory}: {counted(len(found), 'run')}, all whole")
        return
    them = "it" if left == 1 else "them"
    if not repairs:
        output.line(f"{directory}: {counted(left, 'run')} missing or damaged: --repair makes {them} again")
        ctx.exit(1)
    output.note(f"{directory}: {counted(left, 'run')} missing or damaged: making {them} again")
    with output.progress("runs") as moved:
        made = repair(directory, jobs=jobs, progress=moved)
    output.line(f"{directory}: {counted(len(made), 'run')}, all whole")


@front.command("merge", "dumbbell results merge results/all results/a results/b")
@click.argument("directory", type=front.directory(), metavar="DIR", help="The directory that gets the runs.")
@click.argument(
    "parts",
    type=front.directory(),
    nargs=-1,
    required=True,
    metavar="PART...",
    help="Directories of the same scenario.",
)
def merge(directory: Path, parts: tuple[Path, ...]) -> None:
    """Add the runs of other directories of the same scenario."""
    from dumbbell.common.words import counted
    from dumbbell.results.running.repair_and_merge import merge as merged

    found = merged(directory, parts)
    if found.damaged:
        output.note(
            f"{counted(found.damaged, 'damaged run')} left out: `dumbbell results verify {directory} --repair` makes "
            "missing runs again"
        )
    _print_state(found, directory)


@front.command(
    "results",
    "dumbbell results results/sweep    # what it holds, and means over repetitions",
    modes=[query, export, verify, merge],
    removed={
        "--sql": "`dumbbell results query DIR SQL`",
        "--export": "`dumbbell results export DIR --format FORMAT`",
        "--table": "`dumbbell results export DIR --table TABLE`",
        "--to": "`dumbbell results export DIR --out FILE`",
        "--verify": "`dumbbell results verify DIR`",
        "--merge": "`dumbbell results merge DIR PART...`",
        "--jobs": "`dumbbell results verify DIR --repair --jobs N`",
        "-j": "`dumbbell results verify DIR --repair --jobs N`",
    },
)
@click.argument("directory", type=front.directory(), cls=front.Argument, metavar="DIR", help="Results that --out kept.")
@front.every_row()
@front.tables()
@front.json()
def results(directory: Path, every_row: bool, as_json: bool) -> None:
    """Summarize, query, export, verify or merge results that were kept with --out."""
    found = load(directory)
    if as_json:
        output.document(found.document())
        return
    _print_state(found, directory)
    summaries.print_results(found, every_row=every_row)


def _print_state(found: Results, directory: Path) -> None:
    from dumbbell.common.words import counted
    from dumbbell.results.running.repair_and_merge import missing

    left = missing(found)
    size = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
    lines = {
        "scenario": found.scenario.name,
        "made by": found.made_by,
        "runs": f"{len(found)} of {counted(len(found.scenario.cells), 'cell')}" + (f", {left} missing" if left else ""),
        "size": f"{size / 1e6:.1f} MB",
    }
    for name, value in lines.items():
        output.line(f"{name:9} {value}")
    output.line("")
