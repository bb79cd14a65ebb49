"""Bars, boxes and grids of cells: everything that is not a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dumbbell.plots.spec import FEWEST_BOX, Curve, Floats, Grid, Panel
from dumbbell.plots.style import INK, Look, look
from dumbbell.plots.web.colors import luminance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["block", "cells", "hatching"]

MIDDLE = 0.179
"""Relative luminance (WCAG 2) below which white has more contrast to a color than black."""


def block(ax: Axes, curve: Curve, x: Floats, width: float) -> None:
    """Draw bars with their intervals, or boxes of the dots.

    Parameters
    ----------
    ax : Axes
    curve : Curve
        Of the kind ``bars`` or ``box``.
    x : (n,) float64, the unit of the x axis
        Place of each bar or box.
    width : float, the unit of the x axis
    """
    style = look(curve.look)
    color, hatch = style.color, hatching(style)
    if curve.kind == "bars":
        ax.bar(x, curve.y, width, color=color, alpha=0.75, linewidth=0, hatch=hatch, edgecolor="white", zorder=2)
        if curve.low is not None and curve.high is not None:
            ax.vlines(x, curve.low, curve.high, color=INK, linewidth=1.2, zorder=4)
    elif curve.dots is not None:
        rows = [row[~np.isnan(row)] for row in curve.dots]
        full = [k for k, row in enumerate(rows) if row.size >= FEWEST_BOX]
        few = [k for k, row in enumerate(rows) if 0 < row.size < FEWEST_BOX]
        middles = [float(np.median(rows[k])) for k in few]
        ax.hlines(middles, x[few] - width / 2, x[few] + width / 2, color=INK, linewidth=1.4, zorder=2)
        if full:
            ax.boxplot(
                [rows[k] for k in full],
                positions=list(x[full]),
                widths=width,
                manage_ticks=False,
                patch_artist=True,
                showfliers=False,
                boxprops={"facecolor": color, "alpha": 0.35, "edgecolor": color, "hatch": hatch},
                whiskerprops={"color": color},
                capprops={"color": color},
                medianprops={"color": INK, "linewidth": 1.4},
                zorder=2,
            )
    if curve.dots is not None:
        count = curve.dots.shape[1]
        across = np.repeat(x, count) + np.tile(_spread(count, width * 0.5), len(x))
        # The median is not hidden by a dot that lies on it.
        ax.plot(across, curve.dots.ravel(), linestyle="none", marker=style.marker or "o", markersize=3,
                markeredgewidth=0.5, markerfacecolor="none", color=color if curve.kind == "box" else INK, alpha=0.8,
                zorder=3)  # fmt: skip


def hatching(style: Look) -> str | None:
    """Return the hatching that distinguishes areas of one color, as the dash does for lines."""
    return None if style.dash == "-" else "////"


def _spread(count: int, width: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Places side by side for dots that would cover each other."""
    return np.zeros(1) if count == 1 else np.linspace(-width / 2, width / 2, count)


def cells(ax: Axes, panel: Panel, grid: Grid) -> None:
    """Draw a grid: colors by value, words in the cells, a color scale beside it."""
    from matplotlib import colormaps  # slow to import

    scale = colormaps["PuOr" if grid.diverging else "cividis"].with_extremes(bad="#EEEEEE")
    known = grid.values[~np.isnan(grid.values)]
    low = grid.low if grid.low is not None else float(known.min()) if known.size else 0.0
    high = grid.high if grid.high is not None else float(known.max()) if known.size else 1.0
    high = high if high > low else low + 1.0
    image = ax.imshow(np.ma.masked_invalid(grid.values), cmap=scale, vmin=low, vmax=high, aspect="auto")
    for r, row in enumerate(grid.texts):
        for c, text in enumerate(row):
            value = grid.values[r, c]
            shade = scale((value - low) / (high - low)) if not np.isnan(value) else (1.0, 1.0, 1.0, 1.0)
            light = luminance(*shade[:3])
            ax.text(
                c, r, text, ha="center", va="center", fontsize="small", color="white" if light < MIDDLE else "black"
            )
    ax.set_xticks(range(len(grid.columns)), list(grid.columns))
    ax.set_yticks(range(len(grid.rows)), list(grid.rows))
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    ax.set_title(panel.title, color=INK)
    ax.grid(visible=False)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    ax.figure.colorbar(image, ax=ax, label=grid.unit, fraction=0.05, pad=0.02)
