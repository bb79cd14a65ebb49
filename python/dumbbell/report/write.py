"""The files that a study leaves beside its figures: tables, the document for programs, the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.exceptions import ResultsError
from dumbbell.report.document import document
from dumbbell.report.page import page

if TYPE_CHECKING:
    from dumbbell.studies import Done

__all__ = ["files", "write_report"]


def write_report(done: Done) -> None:
    """Write ``tables/*.csv``, ``study.json`` and ``report.html`` into the study's directory.

    Raises
    ------
    ResultsError
        If a file can't be written.
    """
    tables = done.out / "tables"
    try:
        tables.mkdir(parents=True, exist_ok=True)
        for drawn in done.drawn:
            drawn.picture.rows().write_csv(tables / f"{drawn.picture.name}.csv")
        for table in done.analysis.tables:
            table.frame.write_csv(tables / f"{table.name}.csv")
        text = json.dumps(document(done), indent=2, ensure_ascii=False, allow_nan=False)
        (done.out / "study.json").write_text(f"{text}\n", encoding="utf-8")
        done.report.write_text(page(done), encoding="utf-8")
    except OSError as e:
        raise ResultsError(f"{done.out}: can't be written: {e.strerror or e}") from None


def files(done: Done) -> list[Path]:
    """List the files to look at: numbers first, then pictures, the page last."""
    pictures = [path for d in done.drawn for path in (d.svg, d.png)]
    return [done.out / "study.json", *sorted((done.out / "tables").glob("*.csv")), *pictures, done.report]
