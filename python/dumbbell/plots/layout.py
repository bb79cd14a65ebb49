"""Places of panels, title, legend and small print of a figure, in inches.

Margins are computed from the texts: Matplotlib's automatic layout takes ten times as long as the drawing, and a
figure's size would depend on the fonts of the machine. All lengths follow the size of the text.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.plots.size import Size
from dumbbell.plots.spec import Picture
from dumbbell.plots.style import INK, MUTED

__all__ = ["Layout"]

# Inches, for text of 9 points.
LEFT, RIGHT, BOTTOM, ACROSS, DOWN = 0.72, 0.18, 0.55, 0.75, 0.6
TITLE, TITLE_LINE, LEGEND_ROW, PANEL_TITLE, PAD, PRINT_LINE = 0.36, 0.19, 0.195, 0.26, 0.1, 0.13
SCALE = 0.62
"""Width of the color scale's numbers and label."""
LETTER = 0.075
"""Width of a letter."""
WIDTHS = {1: 7.4, 2: 9.6, 3: 11.0}
HEIGHTS = {1: 3.5, 2: 3.1, 3: 2.5}
"""Height of one row of panels, by the number of panels in it."""
NARROW = 2.3
"""Width that a panel needs at least to have a neighbor."""
LEGEND_ENTRY = 1.75
"""Half of the width that an entry of the legend takes at most."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of one figure; lengths in inches, `legend_top` in parts of the height."""

    unit: float
    width: float
    height: float
    rows: int
    columns: int
    left: float
    right: float
    top: float
    bottom: float
    across: float
    down: float
    panel_width: float
    panel_height: float
    row_heights: Sequence[float]
    per_row: int
    legend_rows: int
    title: Sequence[str]
    small: Sequence[str]

    @classmethod
    def of(cls, picture: Picture, size: Size, labels: Collection[str], *, bare: bool) -> Layout:
        """Compute the layout of a figure with these entries in its legend."""
        u = size.unit
        columns = max(1, min(picture.columns, len(picture.panels)))
        width = size.width or WIDTHS[columns]
        if size.width:
            columns = max(1, min(columns, int((width - LEFT * u) // (NARROW * u))))
        rows = math.ceil(len(picture.panels) / columns)
        grids = [p.grid for p in picture.panels if p.grid is not None]
        named = [r for g in grids for r in g.rows] + [s for p in picture.panels for s in p.strips]
        left = u * max(LEFT + LETTER * max((len(r) for g in grids for r in g.rows), default=0),
                       0.2 + LETTER * max(map(len, named), default=0))  # fmt: skip
        right = u * (RIGHT + (SCALE if grids else 0.0))
        across = u * ACROSS + (left - u * LEFT) + (right - u * RIGHT)
        panel_width = (width - left - right - (columns - 1) * across) / columns
        longest = max((len(label) for label in labels), default=0)
        entry = u * min(LEGEND_ENTRY * 2, 0.6 + 0.078 * longest)
        per_row = max(1, min(len(labels), int((width - 0.3 * u) // entry)))
        legend_rows = math.ceil(len(labels) / per_row) if len(labels) > 1 else 0
        title = [] if bare else textwrap.wrap(picture.title, max(10, int(width / (0.094 * u))))
        letters = max(10, int(width / (0.055 * u)))
        small = [] if bare else [s for line in picture.small_print.splitlines() for s in textwrap.wrap(line, letters)]
        titled = any(p.title or p.better for p in picture.panels[:columns])
        titled_below = any(p.title or p.better for p in picture.panels[columns:])
        top = u * (
            (TITLE + TITLE_LINE * (len(title) - 1) if title else PAD)
            + legend_rows * LEGEND_ROW
            + (PANEL_TITLE if titled else PAD)
        )
        words = max((_depth(p.categories, panel_width, u) for p in picture.panels), default=0.0)
        bottom = u * (BOTTOM + PRINT_LINE * len(small)) + words
        down = u * (DOWN + (PANEL_TITLE if titled_below else 0.0)) + words
        if size.ratio and rows == 1:
            panel_height = max(1.2 * u, width * size.ratio - top - bottom)
        elif size.width:
            panel_height = max(1.3 * u, min(0.62 * panel_width, HEIGHTS[columns if columns in HEIGHTS else 3] * u))
        else:
            panel_height = HEIGHTS[columns]
        parts = [max(p.height for p in picture.panels[k * columns : (k + 1) * columns]) for k in range(rows)]
        heights = [panel_height * part for part in parts]
        height = top + sum(heights) + (rows - 1) * down + bottom
        return cls(u, width, height, rows, columns, left, right, top, bottom, across, down, panel_width, panel_height,
                   heights, per_row, legend_rows, title, small)  # fmt: skip

    def margins(self) -> dict[str, float]:
        """Return the margins and gaps as Matplotlib's ``subplots_adjust`` takes them."""
        return {
            "left": self.left / self.width,
            "right": 1 - self.right / self.width,
            "bottom": self.bottom / self.height,
            "top": 1 - self.top / self.height,
            "wspace": self.across / self.panel_width,
            "hspace": self.down * self.rows / sum(self.row_heights),
        }

    @property
    def legend_top(self) -> float:
        """The upper end of the legend."""
        above = TITLE - 0.02 + TITLE_LINE * (len(self.title) - 1) if self.title else PAD
        return 1 - self.unit * above / self.height

    def texts(self) -> Iterator[tuple[str, float, dict[str, Any]]]:
        """Return the title and the small print with their places (parts of the height) and looks."""
        if self.title:
            place = 1 - 0.1 * self.unit / self.height
            yield "\n".join(self.title), place, {"fontsize": 11 * self.unit, "fontweight": "bold", "va": "top",
                                                 "color": INK}  # fmt: skip
        if self.small:
            yield "\n".join(self.small), 0.05 * self.unit / self.height, {
                "fontsize": 6.5 * self.unit, "va": "bottom", "color": MUTED}  # fmt: skip

    def words(self, categories: Sequence[str]) -> tuple[list[str], bool]:
        """Return the labels of categories, wrapped, and True if they have to be turned."""
        return _words(categories, self.panel_width, self.unit)


def _words(categories: Sequence[str], width: float, unit: float) -> tuple[list[str], bool]:
    fits = int(width / max(1, len(categories)) / (LETTER * 0.9 * unit))
    whole = [word.replace(" %", "\u00a0%") for word in categories]
    wrapped = [textwrap.wrap(word, max(1, fits), break_long_words=False) or [""] for word in whole]
    turned = any(len(line) > fits for lines in wrapped for line in lines) or max(map(len, wrapped), default=0) > 3
    if turned:
        return [textwrap.shorten(word, 28, placeholder="...") for word in categories], True
    return ["\n".join(lines) for lines in wrapped], False


def _depth(categories: Sequence[str], width: float, unit: float) -> float:
    """Return the space below an axis that its labels need, beyond that of one line."""
    if not categories:
        return 0.0
    words, turned = _words(categories, width, unit)
    if turned:
        return unit * LETTER * 0.62 * max(len(word) for word in words)
    return unit * 0.14 * max(word.count("\n") for word in words)
