"""The files of a study's report: tables, the document for programs, the page or the Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.common.formats import newer
from dumbbell.exceptions import DumbbellError
from dumbbell.plots import Drawn
from dumbbell.report.html_page import page
from dumbbell.report.markdown import markdown
from dumbbell.report.write import Format, write_tables, write_text
from dumbbell.studies.json_document import FORMAT, document
from dumbbell.studies.report import of_study

if TYPE_CHECKING:
    from dumbbell.studies import Done

__all__ = ["files", "redraw", "write_markdown", "write_report"]


def write_report(done: Done) -> None:
    """Write ``tables/*.csv``, ``study.json`` and ``report.html`` into the study's directory.

    Raises
    ------
    ResultsError
        If a file can't be written.
    """
    content = of_study(done)
    write_tables(content, done.out)
    text = json.dumps(document(done), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(done.out / "study.json", f"{text}\n")
    write_text(done.report, page(content, done.drawn))


def write_markdown(done: Done, place: Path) -> Path:
    """Write a study's report as Markdown."""
    write_text(place, markdown(of_study(done), done.drawn, place.parent))
    return place


def files(done: Done) -> list[Path]:
    """List the files for the reader: numbers first, then figures, the page last."""
    drawn: Sequence[Drawn] = done.drawn
    pictures = [path for d in drawn for path in (d.svg, d.png)]
    return [done.out / "study.json", *sorted((done.out / "tables").glob("*.csv")), *pictures, done.report]


def redraw(directory: Path, out: Path | None, form: Format, jobs: int | None) -> Path:
    """Draw a study again from the runs that it kept (missing ones are made)."""
    from dumbbell.cli import output
    from dumbbell.studies import run_study, study

    try:
        kept = json.loads((directory / "study.json").read_text(encoding="utf-8"))
        if (refused := newer(kept.get("format"), FORMAT)) is not None:
            raise ValueError(f"format: {refused}")
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
