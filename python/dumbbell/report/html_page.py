"""The page: one HTML file that needs nothing else, and works without a network.

Each figure appears twice: drawn for print and for readers without scripts, and interactive for the screen. The size
is bounded: figures hold as many points as a screen shows, and long tables are files beside the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from dumbbell.plots.interactive import as_json, colors, figure
from dumbbell.plots.web import policy, script, style
from dumbbell.report.content import Content
from dumbbell.report.template import CONTENTS, template
from dumbbell.results.frames.export import write_csv

if TYPE_CHECKING:
    from dumbbell.plots import Drawn

__all__ = ["page"]

TABLES = files("dumbbell.report") / "templates" / "report.mjs"
"""The script that sorts tables and offers files."""
ROWS, FIGURE_ROWS = 250, 60
"""Rows of a table, and of the values of a figure, on the page; all of them are in the CSV file."""
WIDE, LOW = 14, 6
"""Columns from which a table is turned, its columns written as rows, if it has at most so many rows."""
CELL = 30
"""Bytes of a table's cell on the page."""
INLINE = 20_000
"""Characters of a CSV file that the page itself holds for download; it links longer ones beside it."""


def page(content: Content, drawn: Sequence[Drawn]) -> str:
    """Write the page."""
    described, figures, linked = _figures(drawn, content.figure_bytes)
    shown = {lesson.figure: lesson for lesson in reversed(content.lessons) if lesson.figure}
    tables = [{"title": t.title, "rows": _table(t.frame, t.name, t.title, ROWS)} for t in content.tables]
    scripts = [script(TABLES), CONTENTS.read_text(encoding="utf-8")]
    return template("report.html").render(
        content=content,
        figures={f["picture"].name: f for f in figures},
        shown=shown,
        texts={f.claim: text for f, text in content.findings},
        linked=linked,
        tables=tables,
        style=style() + colors(described),
        scripts=scripts,
        policy=policy(*scripts),
    )


def _figures(
    drawn: Sequence[Drawn], most: int | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Drawn]]:
    """Return the described figures, the same for the template, and those that don't fit into ``most`` bytes."""
    described: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    linked: list[Drawn] = []
    used = 0
    for d in drawn:
        shown = figure(d.picture)
        data, table = as_json(shown), _table(d.picture.rows(), d.picture.name, d.picture.title, FIGURE_ROWS)
        size = len(d.inline) + len(data) + len(table["csv"] or "") + CELL * sum(map(len, table["rows"]))
        if most is not None and used + size > most:
            linked.append(d)
            continue
        used += size
        described.append(shown)
        figures.append({"picture": d.picture, "svg": d.inline, "data": data, "table": table})
    return described, figures, linked


def _table(frame: pl.DataFrame, name: str, title: str, most: int) -> dict[str, Any]:
    """Prepare a frame for the page: headings, the first rows as texts, and all of them as CSV if they are few."""
    csv = write_csv(frame)
    frame = _in_seconds(frame)
    return {
        "name": name,
        "label": f"Table: {title}",
        "headings": frame.columns,
        "turned": frame.width >= WIDE and frame.height <= LOW,
        "numeric": [dtype.is_numeric() for dtype in frame.dtypes],
        "rows": [[_cell(value) for value in row] for row in frame.head(most).iter_rows()],
        "more": max(0, frame.height - most),
        "csv": as_json(csv) if len(csv) <= INLINE else None,
    }


def _in_seconds(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with its times in nanoseconds in seconds, which people can read."""
    times = {name: f"{name.removesuffix('_ns')}, s" for name in frame.columns if name.endswith("_ns")}
    return frame.with_columns(pl.col(name) / 1e9 for name in times).rename(times)


def _cell(value: object) -> str:
    """Return a value as text: four significant digits, no exponent for the usual sizes."""
    if value is None:
        return "-"
    if isinstance(value, float) and 1e4 <= abs(value) < 1e15:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
