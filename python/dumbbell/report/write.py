"""The files of a report: tables, figures, the document for programs, the page or the Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dumbbell.exceptions import ResultsError
from dumbbell.plots import Drawn, save_all
from dumbbell.processors import cores
from dumbbell.report.capture_pair_report import of_pair
from dumbbell.report.capture_report import of_capture
from dumbbell.report.content import Content
from dumbbell.report.html_page import page
from dumbbell.report.json_document import document
from dumbbell.report.markdown import markdown
from dumbbell.report.results_report import of_results
from dumbbell.report.study_report import of_study
from dumbbell.results import Results
from dumbbell.results.export import write_csv
from dumbbell.results.runner import Progress

if TYPE_CHECKING:
    from dumbbell.capture import Capture, Pair
    from dumbbell.studies import Done

__all__ = [
    "Format",
    "files",
    "write_capture_report",
    "write_content",
    "write_markdown",
    "write_pair_report",
    "write_report",
    "write_results_report",
]

Format = Literal["html", "md"]


def write_report(done: Done) -> None:
    """Write ``tables/*.csv``, ``study.json`` and ``report.html`` into the study's directory.

    Raises
    ------
    ResultsError
        If a file can't be written.
    """
    content = of_study(done)
    _write_tables(content, done.out)
    text = json.dumps(document(done), indent=2, ensure_ascii=False, allow_nan=False)
    _write(done.out / "study.json", f"{text}\n")
    _write(done.report, page(content, done.drawn))


def write_results_report(
    folder: Path,
    out: Path | None = None,
    *,
    form: Format = "html",
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write the report of a results directory of ``dumbbell run --out``.

    Parameters
    ----------
    folder : Path
        The results directory.
    out : Path, optional
        The file; default: ``report.html`` (or ``.md``) in that directory. Figures and tables lie beside it.
    form : {"html", "md"}
    jobs : int, optional
        Figures drawn at a time; default: one for each core.
    progress : callable, optional

    Raises
    ------
    ResultsError
        If the directory holds no results, or a file can't be written.
    """
    content = of_results(Results.load(folder), folder)
    place = out or folder / f"report.{form}"
    drawn = save_all(content.pictures, place.parent / "figures", jobs=jobs or cores(), progress=progress)
    _write_tables(content, place.parent)
    _write(place, page(content, drawn) if form == "html" else markdown(content, drawn, place.parent))
    return place


def write_capture_report(capture: Capture, folder: Path, command: str, *, progress: Progress | None = None) -> Path:
    """Write ``report.html``, figures and tables of a capture into a directory."""
    return write_content(of_capture(capture, [command]), folder, progress=progress)


def write_pair_report(pair: Pair, folder: Path, command: str, *, progress: Progress | None = None) -> Path:
    """Write ``report.html``, figures and tables of a pair of captures into a directory."""
    return write_content(of_pair(pair, [command]), folder, progress=progress)


def write_content(content: Content, folder: Path, *, progress: Progress | None = None) -> Path:
    """Write ``report.html``, figures and tables of any content into a directory."""
    source = f"{content.title} · Dumbbell {content.version}"
    content = replace(content, pictures=[replace(p, source=p.source or source) for p in content.pictures])
    drawn = save_all(content.pictures, folder / "figures", jobs=cores(), progress=progress)
    _write_tables(content, folder)
    place = folder / "report.html"
    _write(place, page(content, drawn))
    return place


def write_markdown(done: Done, place: Path) -> Path:
    """Write a study's report as Markdown."""
    _write(place, markdown(of_study(done), done.drawn, place.parent))
    return place


def _write_tables(content: Content, place: Path) -> None:
    """Write the rows behind every figure, and the tables."""
    tables = place / "tables"
    try:
        tables.mkdir(parents=True, exist_ok=True)
        for picture in content.pictures:
            _write(tables / f"{picture.name}.csv", write_csv(picture.rows()))
        for table in content.tables:
            _write(tables / f"{table.name}.csv", write_csv(table.frame))
    except OSError as e:
        raise ResultsError(f"{tables}: can't be written: {e.strerror or e}") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as e:
        raise ResultsError(f"{path}: can't be written: {e.strerror or e}") from None


def files(done: Done) -> list[Path]:
    """List the files for the reader: numbers first, then figures, the page last."""
    drawn: Sequence[Drawn] = done.drawn
    pictures = [path for d in drawn for path in (d.svg, d.png)]
    return [done.out / "study.json", *sorted((done.out / "tables").glob("*.csv")), *pictures, done.report]
