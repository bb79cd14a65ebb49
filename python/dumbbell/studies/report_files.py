"""The files of a study's report: tables, the document for programs, the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.plots import Drawn
from dumbbell.report.html_page import page
from dumbbell.report.write import write_tables, write_text
from dumbbell.studies.json_document import document
from dumbbell.studies.report import of_study

if TYPE_CHECKING:
    from dumbbell.studies.done import Done

__all__ = ["files", "write_report"]


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


def files(done: Done) -> list[Path]:
    """List the files for the reader: numbers first, then figures, the page last."""
    drawn: Sequence[Drawn] = done.drawn
    pictures = [path for d in drawn for path in (d.svg, d.png)]
    return [done.out / "study.json", *sorted((done.out / "tables").glob("*.csv")), *pictures, done.report]
