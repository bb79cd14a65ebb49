"""``dumbbell report``: writes the report of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from dumbbell.cli import output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="report", epilog=EXAMPLES)(report)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell run pair.toml --out results/pair; dumbbell report results/pair

dumbbell report results/pair -o hand-in/report.html

dumbbell report results/ns2-cbr --format md    (a study's directory)
"""


def report(
    directory: Annotated[
        Path,
        typer.Argument(help="Results that `dumbbell run --out` or a study kept.", show_default=False, metavar="DIR"),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file (default: DIR/report.html or .md).", show_default=False),
    ] = None,
    form: Annotated[
        Literal["html", "md"], typer.Option("--format", help="One HTML file, or Markdown for a repository.")
    ] = "html",
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Figures at a time (default: one for each core).", show_default=False
        ),
    ] = None,
) -> None:
    """Write the report of results that were kept: summary, figures, tables, warnings, how to run it again."""
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.report import write_results_report  # noqa: PLC0415

    if (directory / "study.json").is_file():
        typer.echo(_of_study(directory, out, form, jobs))
        return
    if not (directory / "manifest.json").is_file():
        raise DumbbellError(f"{directory}: neither results of `dumbbell run --out` nor of a study")
    with output.progress("figures") as moved:
        typer.echo(write_results_report(directory, out, form=form, jobs=jobs, progress=moved))


def _of_study(directory: Path, out: Path | None, form: Literal["html", "md"], jobs: int | None) -> Path:
    """Draw a study again from the runs that it kept (missing ones are made)."""
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415
    from dumbbell.report import write_markdown  # noqa: PLC0415
    from dumbbell.studies import run_study, study  # noqa: PLC0415

    try:
        kept = json.loads((directory / "study.json").read_text(encoding="utf-8"))
        name, quick = str(kept["study"]), bool(kept["quick"])
    except (OSError, ValueError, KeyError) as e:
        raise DumbbellError(f"{directory / 'study.json'}: not a study's: {e}") from None
    done = run_study(study(name), directory, quick=quick, jobs=jobs, watch=output.progress, note=output.note)
    if form == "md":
        return write_markdown(done, out or directory / "report.md")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(done.report.read_bytes())
    return out or done.report
