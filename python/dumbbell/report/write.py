"""The files of a report: tables, figures, the document for programs, the page or the Markdown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.common.processors import cores
from dumbbell.exceptions import ResultsError
from dumbbell.plots import save_all
from dumbbell.report.content import Content
from dumbbell.report.html_page import page
from dumbbell.report.markdown import markdown
from dumbbell.report.results_report import of_results
from dumbbell.results import Results
from dumbbell.results.frames.export import write_csv
from dumbbell.results.running.runner import Progress

__all__ = ["Format", "write_content", "write_results_report", "write_tables", "write_text"]

Format = Literal["html", "md"]


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
    refuse_links(place)
    drawn = save_all(content.pictures, place.parent / "figures", jobs=jobs or cores(), progress=progress)
    write_tables(content, place.parent)
    write_text(place, page(content, drawn) if form == "html" else markdown(content, drawn, place.parent))
    return place


def write_content(content: Content, folder: Path, *, progress: Progress | None = None) -> Path:
    """Write ``report.html``, figures and tables of any content into a directory."""
    source = f"{content.title} · Dumbbell {content.version}"
    content = replace(content, pictures=[replace(p, source=p.source or source) for p in content.pictures])
    place = folder / "report.html"
    refuse_links(place)
    drawn = save_all(content.pictures, folder / "figures", jobs=cores(), progress=progress)
    write_tables(content, folder)
    write_text(place, page(content, drawn))
    return place


def refuse_links(report: Path) -> None:
    """Refuse a directory, perhaps of others, in which the files of a report would be written through a link."""
    LinkFreeFolder(report.parent).check(report.name, "figures", "tables")


def write_tables(content: Content, place: Path) -> None:
    """Write the rows behind every figure, and the tables."""
    tables = place / "tables"
    try:
        tables.mkdir(parents=True, exist_ok=True)
        for picture in content.pictures:
            write_text(tables / f"{picture.name}.csv", write_csv(picture.rows()))
        for table in content.tables:
            write_text(tables / f"{table.name}.csv", write_csv(table.frame))
    except OSError as e:
        raise ResultsError(f"{tables}: can't be written: {e.strerror or e}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file of a report; `ResultsError` if it can't be written."""
    try:
        folder = LinkFreeFolder(path.parent)
        folder.check(path.name)
        folder.write_text(path.name, text)
    except OSError as e:
        raise ResultsError(f"{path}: can't be written: {e.strerror or e}") from None
