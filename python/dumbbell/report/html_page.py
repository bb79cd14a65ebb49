"""The page: one HTML file that needs nothing else, and works without a network.

Each figure appears twice: drawn for print and for readers without scripts, and interactive for the screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dumbbell.report.content import Content

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.plots import Drawn

__all__ = ["page"]

ROWS = 250
"""Rows of a table on the page; all of them are in the CSV file that it downloads."""
INLINE = 20_000
"""Rows that the page itself holds for download; longer tables are links to the file beside it."""


def page(content: Content, drawn: Sequence[Drawn]) -> str:
    """Write the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra

    from dumbbell.plots.interactive import figure, script  # noqa: PLC0415 - needs plotly

    surroundings = Environment(
        loader=PackageLoader("dumbbell.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    figures = [
        {
            "picture": d.picture,
            "svg": d.inline,
            "data": json.dumps(figure(d.picture), allow_nan=False).replace("</", "<\\/"),
            "table": _table(d.picture.rows(), d.picture.name),
        }
        for d in drawn
    ]
    tables = [{"title": t.title, "rows": _table(t.frame, t.name)} for t in content.tables]
    template = surroundings.get_template("report.html")
    text: str = template.render(content=content, figures=figures, tables=tables, plotly=script())
    return text


def _table(frame: pl.DataFrame, name: str) -> dict[str, Any]:
    """Prepare a frame for the page: headings, the first rows as texts, and all of them as CSV."""
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    rows = [[_cell(value) for value in row] for row in frame.head(ROWS).iter_rows()]
    csv = frame.write_csv().replace("</", "<\\/") if frame.height <= INLINE else None
    return {
        "name": name,
        "headings": frame.columns,
        "numeric": numeric,
        "rows": rows,
        "more": max(0, frame.height - ROWS),
        "csv": csv,
    }


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
