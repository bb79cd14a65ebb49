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


@front.command(
    "results",
    "dumbbell results results/sweep                            # what it holds, and means over repetitions",
    "dumbbell results results/sweep --sql 'SELECT name, avg(goodput_bps) FROM flows GROUP BY name'",
    "dumbbell results results/sweep --export csv --table queues > queues.csv",
    "dumbbell results results/sweep --verify                   # make damaged and missing runs again",
    "dumbbell results results/all --merge results/a --merge results/b",
)
@click.argument("directory", type=front.directory(), metavar="DIR", help="Results that --out kept.")
@click.option("--sql", metavar="QUERY", help="Print a query over the tables flows, queues and transfers (DuckDB).")
@click.option(
    "--export",
    type=click.Choice(["csv", "json", "parquet"]),
    help="Write a table: csv and json to stdout, parquet to --to.",
)
@click.option(
    "--table",
    type=click.Choice(["flows", "queues", "transfers"]),
    default="flows",
    show_default=True,
    help="The table that --export writes.",
)
@click.option("--to", type=front.file(), metavar="FILE", help="The file that --export writes. Default: stdout.")
@click.option("--verify", is_flag=True, help="Check every run, and make damaged and missing ones again.")
@click.option(
    "--merge",
    type=front.directory(),
    multiple=True,
    metavar="DIR",
    help="Add the runs of a directory of the same scenario. Repeatable.",
)
@front.jobs()
@front.every_row()
@front.json()
def results(
    directory: Path,
    sql: str | None,
    export: Literal["csv", "json", "parquet"] | None,
    table: Literal["flows", "queues", "transfers"],
    to: Path | None,
    verify: bool,
    merge: tuple[Path, ...],
    jobs: int | None,
    every_row: bool,
    as_json: bool,
) -> None:
    """Summarize, query, export, verify or merge results that were kept with --out."""
    if sum([sql is not None, export is not None, verify, bool(merge)]) > 1:
        raise click.UsageError("--sql, --export, --verify and --merge exclude each other")
    if export == "parquet" and to is None:
        raise click.UsageError("--export parquet: give the file with --to")
    if merge:
        from dumbbell.common.words import counted
        from dumbbell.results.running.repair_and_merge import merge as merged

        found = merged(directory, merge)
        if found.damaged:
            output.note(f"{counted(found.damaged, 'damaged run')} left out: `--verify` makes missing runs again")
        _print_state(found, directory)
    elif verify:
        _verify(directory, jobs)
    elif sql is not None:
        _query(load(directory), sql, as_json=as_json)
    elif export is not None:
        _export(getattr(load(directory), table), export, to)
    elif as_json:
        output.document(load(directory).document())
    else:
        found = load(directory)
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
        "runs": f"{len(found)} of {counted(len(found.scenario.cells), 'cell')}"
        + (f", {left} missing" if left else ""),
        "size": f"{size / 1e6:.1f} MB",
    }
    for name, value in lines.items():
        output.line(f"{name:9} {value}")
    output.line("")


def _verify(directory: Path, jobs: int | None) -> None:
    from dumbbell.common.words import counted
    from dumbbell.results import Results
    from dumbbell.results.running.repair_and_merge import missing, repair

    found = Results.load(directory)
    for run in found.runs:  # reads every one
        del run
    damaged, left = found.damaged, missing(found)
    if not damaged and not left:
        output.line(f"{directory}: {counted(len(found), 'run')}, all whole")
        return
    output.note(
        f"{directory}: {counted(left, 'run')} missing or damaged: making {'it' if left == 1 else 'them'} again"
    )
    with output.progress("runs") as moved:
        made = repair(directory, jobs=jobs, progress=moved)
    output.line(f"{directory}: {counted(len(made), 'run')}, all whole")


def _query(found: Results, sql: str, *, as_json: bool) -> None:
    import polars as pl  # slow to import

    from dumbbell.exceptions import DumbbellError

    database = found.to_duckdb()
    database.execute("SET enable_external_access = false")  # a query reads the tables, and no file
    try:
        answer = database.execute(sql)
        frame = pl.DataFrame(answer.fetchall(), schema=[name for name, *_ in answer.description or ()], orient="row")
    except Exception as e:
        raise DumbbellError(f"--sql: {str(e).splitlines()[0]}") from None
    if as_json:
        output.document(frame.to_dicts())
    else:
        output.print_frame(f"{found.scenario.name}: {sql}", frame)


def _export(frame: pl.DataFrame, form: Literal["csv", "json", "parquet"], to: Path | None) -> None:
    from dumbbell.results.frames.export import write_csv

    if form == "parquet" and to is not None:
        frame.write_parquet(to)
        return
    text = write_csv(frame) if form == "csv" else frame.write_json() + "\n"
    if to is None:
        sys.stdout.write(text)
    else:
        to.write_text(text, encoding="utf-8")
