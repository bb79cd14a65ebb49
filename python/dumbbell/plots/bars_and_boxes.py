"""Bars, boxes and grids of cells: everything that is not a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dumbbell.plots.spec import Curve, Grid, Panel
from dumbbell.plots.style import INK, Look, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["block", "cells", "hatching"]

DARK = 0.45
"""Lightness below which words in a cell are white."""


def block(ax: Axes, curve: Curve, shift: float, width: float) -> None:
    """Draw bars with their intervals, or boxes of the dots."""
    style = look(curve.look)
    color, hatch = style.color, hatching(style)
    x = curve.x + shift
    if curve.kind == "bars":
        ax.bar(x, curve.y, width, color=color, alpha=0.75, linewidth=0, hatch=hatch, edgecolor="white", zorder=2)
        if curve.low is not None and curve.high is not None:
            ax.vlines(x, curve.low, curve.high, color=INK, linewidth=1.2, zorder=4)
    elif curve.dots is not None:
        ax.boxplot(
            [row[~np.isnan(row)] for row in curve.dots],
            positions=list(x),
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
        ax.plot(across, curve.dots.ravel(), linestyle="none", marker=".", markersize=3.5, markeredgewidth=0,
                color=color if curve.kind == "box" else INK, alpha=0.6, zorder=3)  # fmt: skip


def hatching(style: Look) -> str | None:
    """Return the hatching that distinguishes areas of one color, as the dash does for lines."""
    return None if style.dash == "-" else "////"


def _spread(count: int, width: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Places side by side for dots that would cover each other."""
    return np.zeros(1) if count == 1 else np.linspace(-width / 2, width / 2, count)


def cells(ax: Axes, panel: Panel, grid: Grid) -> None:
    """Draw a grid: colors by value, words in the cells, a color scale beside it."""
    from matplotlib import colormaps  # noqa: PLC0415 - slow to import

    scale = colormaps["PuOr" if grid.diverging else "cividis"].with_extremes(bad="#EEEEEE")
    known = grid.values[~np.isnan(grid.values)]
    low = grid.low if grid.low is not None else float(known.min()) if known.size else 0.0
    high = grid.high if grid.high is not None else float(known.max()) if known.size else 1.0
    high = high if high > low else low + 1.0
    image = ax.imshow(np.ma.masked_invalid(grid.values), cmap=scale, vmin=low, vmax=high, aspect="auto")
    for r, row in enumerate(grid.texts):
        for c, text in enumerate(row):
            value = grid.values[r, c]
            red, green, blue, _ = scale((value - low) / (high - low)) if not np.isnan(value) else (1, 1, 1, 1)
            light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
            ax.text(c, r, text, ha="center", va="center", fontsize=8, color="white" if light < DARK else INK)
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
