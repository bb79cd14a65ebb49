"""Figures as plain data: `draw` draws them, the report lists their rows.

A study makes figures from numbers without Matplotlib, so a figure can be tested, listed as a table and drawn in
another process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.metrics import Summary, summarize_all
from dumbbell.plots.style import Look

__all__ = [
    "FEWEST_BOX",
    "MANY_EVENTS",
    "Curve",
    "Floats",
    "Grid",
    "Kind",
    "Mark",
    "Panel",
    "Picture",
    "Span",
    "curve_of",
    "sampled",
]

Floats = npt.NDArray[np.float64]
Kind = Literal["line", "steps", "points", "dots", "bars", "box", "events", "outline", "segments"]
"""In this order: points joined by lines; steps that hold each value until the next; separate points; small pale
points, for single runs; bars from zero; boxes of the dots (median, quartiles, whiskers to the last dot within 1.5
times the distance of the quartiles), or a short line at the median where a box has fewer than `FEWEST_BOX` dots;
large markers, for events; thin lines without markers, filled where they are closed, such as ellipses; vertical
strokes from `Curve.low` to `Curve.high`, for the bytes of segments."""

FEWEST_BOX = 5
"""Values from which quartiles describe them better than the values themselves."""
MANY_EVENTS = 25
"""Number of events on a curve above which their markers are smaller."""


@dataclass(frozen=True)
class Curve:
    """Values over x, optionally with an interval and the single values.

    Attributes
    ----------
    label : str
        For the legend; the same label in several panels appears once.
    look : str or Look
        A name of `style.look`, or the look itself.
    x, y : (n,) float64, units of the panel's axes
    low, high : (n,) float64 or None, the unit of `y`
        Interval around y.
    dots : (n, r) float64 or None, the unit of `y`
        The repetitions behind each y.
    kind : Kind
        How it is drawn.
    texts : sequence of str
        Words beside the points; none, or one for each.
    """

    label: str
    look: str | Look
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    dots: Floats | None = None
    kind: Kind = "line"
    texts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A shaded interval of the x axis.

    Attributes
    ----------
    begin, end : float, the unit of the x axis
    label : str
        Appears in the legend once.
    look : str
        Name of its color and hatching.
    strip : int or None
        The row that it is drawn in, in a panel with `Panel.strips`; None: it is as high as the panel.
    """

    begin: float
    end: float
    label: str
    look: str
    strip: int | None = None


@dataclass(frozen=True)
class Grid:
    """Values by row and column, each a colored cell with its words.

    Attributes
    ----------
    rows, columns : sequence of str
        Names of the rows and columns.
    values : (rows, columns) float64, any unit
        Colors; NaN stays empty.
    texts : sequence of sequences of str
        Texts in the cells.
    unit : str
        Label of the color scale.
    low, high : float or None
        Ends of the color scale; default: those of the values.
    diverging : bool
        True if the middle of the scale means "no difference", with one color on either side.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats
    texts: Sequence[Sequence[str]]
    unit: str
    low: float | None = None
    high: float | None = None
    diverging: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line at x with a short label, at the ``bottom`` or the ``top``."""

    x: float
    text: str = ""
    at: Literal["bottom", "top"] = "bottom"


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    x_label, y_label : str
        With the unit.
    y_from_zero : bool
        True if the y axis starts at 0.
    categories : sequence of str
        Words for x = 0, 1, 2 ... instead of numbers.
    y_top : float or None
        Upper end of the y axis; default: fitted to the values.
    x_log, y_log : bool
        True if the axis is logarithmic.
    spans : sequence of Span
        Shaded intervals, such as a sender's phases.
    grid : Grid or None
        Cells instead of curves.
    x_reversed : bool
        True if x decreases from left to right.
    better : bool
        True if an arrow to the upper right is labeled "better".
    strips : sequence of str
        Names of rows from the top, each a strip of spans; y is then the number of the row.
    x_range : (float, float) or None
        Ends of the x axis; default: those of the data.
    height : float
        Height of the panel in parts of that of a usual one.
    x_ticks : sequence of float
        Places of the x axis's labels; default: chosen by the axis.
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    marks: Sequence[Mark] = ()
    y_from_zero: bool = True
    y_top: float | None = None
    y_log: bool = False
    categories: Sequence[str] = ()
    x_log: bool = False
    spans: Sequence[Span] = ()
    grid: Grid | None = None
    x_reversed: bool = False
    better: bool = False
    strips: Sequence[str] = ()
    x_range: tuple[float, float] | None = None
    height: float = 1.0
    x_ticks: Sequence[float] = ()


@dataclass(frozen=True)
class Picture:
    """A figure: its file name, its title, one sentence on its result, and its panels.

    Attributes
    ----------
    name : str
        File name without extension, such as ``fig03-throughput``.
    title : str
        Title of the figure.
    reading : str
        The result in one sentence, computed from the data.
    columns : int
        Panels side by side.
    markers : bool
        True if points have markers.
    share_y : bool
        True if all panels have the same y axis.
    note : str
        How the marks are to be read, for the small print; may be empty.
    source : str
        Origin of the data for the small print: scenario, seed, version; may be empty.
    """

    name: str
    title: str
    reading: str
    panels: Sequence[Panel]
    columns: int = 1
    markers: bool = True
    share_y: bool = False
    note: str = ""
    source: str = ""

    @property
    def small_print(self) -> str:
        """The note and the origin."""
        return "\n".join(part for part in (self.note, self.source) if part)

    def rows(self) -> pl.DataFrame:
        """List everything that is drawn: one row per point of each curve."""
        parts = []
        for panel in self.panels:
            if panel.grid is not None:
                parts.append(_grid_rows(panel.title, panel.grid))
            for curve in panel.curves:
                n = len(curve.x)
                x = [panel.categories[int(v)] for v in curve.x] if panel.categories else curve.x
                parts.append(
                    pl.DataFrame(
                        {
                            "panel": [panel.title] * n,
                            "curve": [curve.label] * n,
                            "x": x,
                            "value": curve.y,
                            "low": _or_nan(curve.low, n),
                            "high": _or_nan(curve.high, n),
                        },
                        schema_overrides={} if panel.categories else {"x": pl.Float64},
                    )
                )
        if not parts:
            return pl.DataFrame(schema=["panel", "curve", "x", "value", "low", "high"])
        if len({part.schema["x"] for part in parts}) > 1:  # words in some panels, numbers in others
            parts = [part.with_columns(pl.col("x").cast(pl.String)) for part in parts]
        return pl.concat(parts).with_columns(pl.col("value", "low", "high").fill_nan(None))


def _grid_rows(title: str, grid: Grid) -> pl.DataFrame:
    """One row for each cell: its row is the curve, its column x."""
    cells = [(r, c) for r in range(len(grid.rows)) for c in range(len(grid.columns))]
    nothing = np.full(len(cells), np.nan)
    return pl.DataFrame(
        {
            "panel": [title] * len(cells),
            "curve": [grid.rows[r] for r, _ in cells],
            "x": [grid.columns[c] for _, c in cells],
            "value": np.array([grid.values[r, c] for r, c in cells]),
            "low": nothing,
            "high": nothing,
        }
    )


def _or_nan(values: Floats | None, n: int) -> Floats:
    return np.full(n, np.nan) if values is None else values


def curve_of(
    label: str,
    look: str | Look,
    x: npt.ArrayLike,
    summaries: Sequence[Summary],
    *,
    dots: npt.ArrayLike | None = None,
    kind: Kind = "line",
) -> Curve:
    """Make a curve of summaries: their values with their intervals."""
    return Curve(
        label=label,
        look=look,
        x=np.asarray(x, dtype=np.float64),
        y=np.array([s.value for s in summaries]),
        low=np.array([s.low for s in summaries]),
        high=np.array([s.high for s in summaries]),
        dots=None if dots is None else np.asarray(dots, dtype=np.float64),
        kind=kind,
    )


def sampled(
    label: str,
    look: str | Look,
    samples: Iterable[npt.ArrayLike],
    x: npt.ArrayLike | None = None,
    *,
    kind: Kind = "line",
    dots: bool = True,
) -> Curve:
    """Make a curve of samples: their medians with intervals, and with `dots` the repetitions.

    Without `x` they stand at 0, 1, 2 ..., the places of categories.
    """
    rows = list(samples)
    at = np.arange(len(rows)) if x is None else x
    return curve_of(label, look, at, summarize_all(rows), dots=np.array(rows) if dots else None, kind=kind)
