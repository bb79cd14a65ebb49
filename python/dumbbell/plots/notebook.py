"""HTML for Jupyter notebooks: the tables and one figure of `Results` or a `Capture` (their `_repr_html_`)."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.exceptions import DumbbellError
from dumbbell.plots.catalog import make
from dumbbell.results.frames.summary import flow_summary, queue_summary

if TYPE_CHECKING:
    from dumbbell.plots.spec import Picture
    from dumbbell.results import Results

__all__ = ["of_results", "page_of"]

DPI = 80
"""Resolution, dots per inch: one panel is about 600 pixels wide, as wide as a notebook's cell."""
ROWS = 50
"""Rows shown of a table."""


def of_results(results: Results) -> str:
    """Return HTML with means over repetitions, warnings and one figure."""
    means = [flow_summary(results).frame(), queue_summary(results).frame()]
    warnings = [str(warned) for warned in results.warnings]
    return page_of(f"{results!r}; means over repetitions", means, lambda: _first_picture(results), warnings)


def _first_picture(results: Results) -> Picture:
    """Make the first figure: congestion windows over time, or else goodput by cell or flow."""
    if results.runs and any(name.startswith("flow/") for name in results.tables(0)):
        return make(results, "cwnd")
    if len(results.by_cell()) > 1:
        return make(results, "lines", metric="goodput_bps")
    return make(results, "bars", metric="goodput_bps", by="name")


def page_of(
    title: str, tables: Sequence[pl.DataFrame], picture: Callable[[], Picture], warnings: Sequence[str] = ()
) -> str:
    """Return HTML with a title, tables, warnings and one figure.

    Parameters
    ----------
    title : str
        Plain text; it is escaped.
    tables : sequence of DataFrame
        Empty ones are left out.
    picture : callable
        Makes the figure; a `DumbbellError` leaves it out. Without Matplotlib, one line names the missing extra.
    warnings : sequence of str
        Plain text, as the title.
    """
    parts = [f"<p>{html.escape(title)}</p>"]
    with pl.Config(tbl_rows=ROWS, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
        parts += [table._repr_html_() for table in tables if table.height]
    parts += [f"<p>Warning: {html.escape(text)}</p>" for text in warnings]
    if find_spec("matplotlib") is None:
        return "".join([*parts, "<p>Figures need an extra: pip install 'dumbbell[plots]'.</p>"])
    with suppress(DumbbellError):  # the results hold nothing to draw, such as no finished run
        parts.append(_image(picture()))
    return "".join(parts)


def _image(picture: Picture) -> str:
    """Draw a figure as an inline PNG."""
    from dumbbell.plots.draw import draw  # needs Matplotlib, which is slow to import

    png = io.BytesIO()
    draw(picture).savefig(png, format="png", dpi=DPI, metadata={"Software": None})
    data = base64.b64encode(png.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{html.escape(picture.title, quote=True)}">'
