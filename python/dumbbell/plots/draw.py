"""Figures drawn with Matplotlib. Margins are set by hand in inches: an automatic layout takes too long."""

from __future__ import annotations

import math
import textwrap
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.plots.bars_and_boxes import block, cells, hatching
from dumbbell.plots.downsample import thin
from dumbbell.plots.spec import Curve, Panel, Picture
from dumbbell.plots.style import INK, MUTED, RC, SHADE, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["draw", "settings"]

# Inches.
LEFT, RIGHT, BOTTOM, ACROSS, DOWN = 0.72, 0.18, 0.55, 0.75, 0.8
TITLE, LEGEND_ROW, PANEL_TITLE = 0.38, 0.24, 0.26
WIDTHS = {1: 7.4, 2: 9.6, 3: 11.0}
HEIGHTS = {1: 3.5, 2: 3.1, 3: 2.5}
"""Height of one row of panels, by the number side by side."""
MANY = 7
"""Number of category labels from which they are wrapped at a smaller width."""
DENSE = 1.8
"""Number of decades on an axis from which each decade has fewer tick labels."""
LEGEND_ENTRY = 1.75
"""Width that an entry of the legend takes at most."""


def settings(more: dict[str, Any] | None = None) -> AbstractContextManager[None]:
    """Apply the settings of all figures, and further ones if given, within the block."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    rc: Any = {**RC, **(more or {})}
    return mpl.rc_context(rc)


def draw(picture: Picture) -> Figure:
    """Draw a figure; the caller saves and closes it."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    with settings():
        columns = min(picture.columns, len(picture.panels))
        rows = math.ceil(len(picture.panels) / columns)
        labels = _legend(picture)
        width = WIDTHS[columns]
        longest = max((len(label) for label in labels), default=0)
        per_row = max(1, min(len(labels), int((width - 0.4) // min(LEGEND_ENTRY * 2, 0.5 + 0.078 * longest))))
        legend_rows = math.ceil(len(labels) / per_row) if len(labels) > 1 else 0
        top = TITLE + legend_rows * LEGEND_ROW + PANEL_TITLE
        height = top + rows * HEIGHTS[columns] + (rows - 1) * DOWN + BOTTOM
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(rows, columns, squeeze=False, sharey=picture.share_y)
        right = RIGHT + (0.35 if any(p.grid for p in picture.panels) else 0.0)
        left = LEFT + 0.075 * max((len(r) for p in picture.panels if p.grid for r in p.grid.rows), default=0)
        across = ACROSS + (left - LEFT) + (right - RIGHT)
        panel_width = (width - left - right - (columns - 1) * across) / columns
        figure.subplots_adjust(
            left=left / width,
            right=1 - right / width,
            bottom=BOTTOM / height,
            top=1 - top / height,
            wspace=across / panel_width,
            hspace=DOWN / HEIGHTS[columns],
        )
        for number, ax in enumerate(axes.flat):
            if number < len(picture.panels):
                _panel(ax, picture.panels[number], markers=picture.markers)
            else:
                ax.set_axis_off()
        # Axes may be shared, so their limits are set after all curves are drawn.
        for ax, panel in zip(axes.flat, picture.panels, strict=False):
            _limits(ax, panel)
        figure.text(0.12 / width, 1 - 0.12 / height, picture.title, fontsize=11, fontweight="bold", va="top")
        if legend_rows:
            figure.legend(
                handles=list(labels.values()),
                labels=list(labels),
                loc="upper left",
                bbox_to_anchor=(0.16 / width, 1 - (TITLE - 0.02) / height),
                ncols=per_row,
                borderaxespad=0.0,
                borderpad=0.0,
                handlelength=2.4,
                columnspacing=1.4,
            )
        return figure


def _legend(picture: Picture) -> dict[str, object]:
    from matplotlib.lines import Line2D  # noqa: PLC0415
    from matplotlib.patches import Patch  # noqa: PLC0415

    handles: dict[str, object] = {}
    for panel in picture.panels:
        for curve in panel.curves:
            if panel.categories and curve.kind in {"bars", "box"}:
                style = look(curve.look)
                patch = Patch(facecolor=style.color, hatch=hatching(style), edgecolor="white", linewidth=0)
                handles.setdefault(curve.label, patch)
            else:
                handles.setdefault(curve.label, Line2D([], [], **_line(curve, markers=picture.markers)))
    for panel in picture.panels:
        for span in panel.spans:
            handles.setdefault(span.label, Patch(facecolor=look(span.look).color, alpha=SHADE))
    return handles


def _line(curve: Curve, *, markers: bool) -> dict[str, Any]:
    """Matplotlib's keywords for the look of a curve."""
    style = look(curve.look)
    return {
        "color": style.color,
        "linestyle": "none" if curve.kind in {"points", "dots", "events"} else style.dash,
        "marker": _marker(curve, style.marker, markers=markers),
        "markerfacecolor": "white" if style.hollow else style.color,
        "markeredgecolor": style.color,
    }


def _marker(curve: Curve, usual: str, *, markers: bool) -> str:
    if curve.kind in {"events", "dots"}:
        return "x" if curve.kind == "events" else "."
    return usual if markers or curve.kind == "points" else ""


def _panel(ax: Axes, panel: Panel, *, markers: bool) -> None:
    if panel.grid is not None:
        cells(ax, panel, panel.grid)
        return
    for span in panel.spans:
        ax.axvspan(span.begin, span.end, facecolor=look(span.look).color, alpha=SHADE, linewidth=0, zorder=0.5)
    beside = len(panel.curves)
    for number, curve in enumerate(panel.curves):
        # Bars of the same category are drawn side by side.
        wide = curve.kind in {"bars", "box"}
        step = 0.8 / beside if wide else min(0.11, 0.8 / beside)
        shift = step * (number - (beside - 1) / 2) if panel.categories else 0.0
        if wide:
            block(ax, curve, shift, step * 0.9)
        else:
            _curve(ax, curve, shift, markers=markers)
    if len(panel.title) > 0:
        ax.set_title(panel.title, color=INK)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    if panel.categories:
        width = 10 if len(panel.categories) <= MANY else 7
        words = ["\n".join(textwrap.wrap(word, width, break_long_words=False)) for word in panel.categories]
        ax.set_xticks(range(len(words)), words, fontsize=8)
        ax.set_xlim(-0.5, len(words) - 0.5)
        ax.grid(visible=False, axis="x")
    else:
        ax.margins(x=0.02)
    for mark in panel.marks:
        ax.axvline(mark.x, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        if mark.text:
            place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            y = 0.02 if mark.at == "bottom" else 0.98
            ax.annotate(mark.text, (mark.x, y), xytext=(-4, 0), ha="right", va=mark.at, rotation=90,
                        fontsize=8, color=MUTED, **place)  # fmt: skip


def _limits(ax: Axes, panel: Panel) -> None:
    ax.tick_params(labelleft=True)
    if panel.grid is not None:
        return
    if panel.x_log:
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        _log(ax.xaxis, (1, 2, 5) if high > 3 * low else (1, 1.5, 2, 3, 5, 7))
    if panel.y_log:
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        decades = math.log10(high / low)
        _log(ax.yaxis, (1, 1.5, 2, 3, 5, 7) if decades <= DENSE else (1, 2, 5) if decades <= 2 * DENSE else (1,))
    elif panel.y_from_zero:
        ax.set_ylim(bottom=0)
    if panel.y_top is not None:
        ax.set_ylim(top=panel.y_top)


def _log(axis: Axis, steps: tuple[float, ...]) -> None:
    """Label a logarithmic axis with plain numbers at some steps of each decade."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter  # noqa: PLC0415

    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _curve(ax: Axes, curve: Curve, shift: float, *, markers: bool) -> None:
    style = look(curve.look)
    x = curve.x + shift
    if curve.dots is not None:
        across = np.repeat(x, curve.dots.shape[1])
        ax.plot(across, curve.dots.ravel(), linestyle="none", marker=".", markersize=5, markeredgewidth=0,
                color=style.color, alpha=0.5, zorder=2)  # fmt: skip
    if curve.low is not None and curve.high is not None:
        low, high = (
            np.where(np.isnan(curve.low), curve.y, curve.low),
            np.where(np.isnan(curve.high), curve.y, curve.high),
        )
        if curve.kind == "points":
            ax.vlines(x, low, high, color=style.color, linewidth=1.6, zorder=2)
        else:
            ax.fill_between(x, low, high, color=style.color, alpha=0.16, linewidth=0, zorder=1.5)
    drawstyle = "steps-post" if curve.kind == "steps" else "default"
    size: dict[str, Any] = {"markersize": 7, "zorder": 4} if curve.kind == "events" else {"zorder": 3}
    if curve.kind == "dots":
        size = {"markersize": 5, "markeredgewidth": 0, "markerfacecolor": style.color, "alpha": 0.5, "zorder": 2}
    across, up = thin(x, curve.y)
    ax.plot(across, up, drawstyle=drawstyle, **{**_line(curve, markers=markers), **size})
