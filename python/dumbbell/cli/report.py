"""``dumbbell report``: writes the report of results."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from dumbbell.cli import front, output
from dumbbell.satellites import load, satellites

__all__ = ["report"]


@front.command(
    "report",
    "dumbbell run first.toml --out results/first && dumbbell report results/first",
    "dumbbell report results/first --out hand-in/report.html",
    "dumbbell report results/ns2-cbr --format md    # the directory of a study",
    removed={"-o": "--out"},
)
@click.argument(
    "directory",
    type=front.directory(),
    metavar="DIR",
    help="Results that `dumbbell run --out` or `dumbbell study run` kept.",
)
@click.option("--out", type=front.file(), metavar="FILE", help="The file to write. Default: DIR/report.html or .md.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md"]),
    default="html",
    show_default=True,
    help="html: one file that works offline. md: Markdown for a repository.",
)
@front.jobs("Figures")
def report(directory: Path, out: Path | None, form: Literal["html", "md"], jobs: int | None) -> None:
    """Write the report of results that were kept with --out.

    It has a summary, figures, tables, warnings, and the command that runs the experiment again.
    """
    from dumbbell.exceptions import DumbbellError
    from dumbbell.report import write_results_report

    for one in satellites().values():
        for name, home in one.reports.items():
            if (directory / name).is_file():
                click.echo(load(home)(directory, out, form, jobs))
                return
    if not (directory / "manifest.json").is_file():
        raise DumbbellError(f"{directory}: neither results of `dumbbell run --out` nor of a study")
    with output.progress("figures") as moved:
        click.echo(write_results_report(directory, out, form=form, jobs=jobs, progress=moved))
