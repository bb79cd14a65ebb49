"""Figures drawn with Matplotlib."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.common.extras import require
from dumbbell.plots.bars_and_boxes import block, cells, hatching
from dumbbell.plots.dodge import dodged
from dumbbell.plots.downsample import distinct, merged, thin
from dumbbell.plots.layout import Layout
from dumbbell.plots.phase_bands import legend_patch, shade
from dumbbell.plots.size import SCREEN, Size
from dumbbell.plots.spec import MANY_EVENTS, Curve, Floats, Panel, Picture
from dumbbell.plots.style import DASHES, INK, MUTED, RC, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["draw", "settings"]

DENSE = 1.8
"""Number of decades on an axis from which each decade has fewer tick labels."""
MARKS = 400
"""Columns and rows of marks in a panel: closer marks cover each other."""


def settings(size: Size = SCREEN, more: dict[str, Any] | None = None) -> AbstractContextManager[None]:
    """Apply the settings of all figures of a size, and further ones if given, within the block."""
    require("matplotlib")
    import matplotlib as mpl  # slow to import

    thin = min(1.0, 0.25 + 0.75 * size.unit)
    lines = {
        name: RC[name] * (thin if size.unit < 1 else size.unit) for name in ("lines.linewidth", "lines.markersize")
    }
    rc: Any = {**RC, "font.size": size.text, **lines, **(more or {})}
    return mpl.rc_context(rc)


def draw(picture: Picture, size: Size = SCREEN, *, bare: bool = False) -> Figure:
    """Draw a figure; the caller saves and closes it.

    Parameters
    ----------
    size : Size
        Width and size of the text.
    bare : bool
        True to leave out the title and the small print, for a paper that has them in the caption.
    """
    require("matplotlib")
    from matplotlib.figure import Figure  # slow to import

    with settings(size):
        labels = _legend(picture)
        place = Layout.of(picture, size, labels, bare=bare)
        figure = Figure(figsize=(place.width, place.height))
        axes = figure.subplots(place.rows, place.columns, squeeze=False, sharey=picture.share_y,
                                height_ratios=place.row_heights)  # fmt: skip
        figure.subplots_adjust(**place.margins())
        for number, ax in enumerate(axes.flat):
            if number < len(picture.panels):
                _panel(ax, picture.panels[number], place, markers=picture.markers)
            else:
                ax.set_axis_off()
        # Axes may be shared, so their limits are set after all curves are drawn.
        for ax, panel in zip(axes.flat, picture.panels, strict=False):
            _limits(ax, panel)
        for text, y, options in place.texts():
            figure.text(0.12 * size.unit / place.width, y, text, **options)
        if place.legend_rows:
            figure.legend(
                handles=list(labels.values()),
                labels=list(labels),
                loc="upper left",
                bbox_to_anchor=(0.16 * size.unit / place.width, place.legend_top),
                ncols=place.per_row,
                borderaxespad=0.0,
                borderpad=0.0,
                handlelength=3.0,
                columnspacing=1.4,
            )
        return figure


def _legend(picture: Picture) -> dict[str, object]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: dict[str, object] = {}
    for panel in picture.panels:
        for curve in panel.curves:
            if curve.kind == "outline":
                continue
            if panel.categories and curve.kind in {"bars", "box"}:
                style = look(curve.look)
                patch = Patch(facecolor=style.color, hatch=hatching(style), edgecolor="white", linewidth=0)
                handles.setdefault(curve.label, patch)
            else:
                handles.setdefault(curve.label, Line2D([], [], **_line(curve, markers=picture.markers)))
    for panel in picture.panels:
        for span in panel.spans:
            handles.setdefault(span.label, legend_patch(span))
    return handles


def _line(curve: Curve, *, markers: bool) -> dict[str, Any]:
    """Matplotlib's keywords for the look of a curve."""
    style = look(curve.look)
    return {
        "color": style.color,
        "linestyle": "none" if curve.kind in {"points", "dots", "events"} else _dashes(style.dash),
        "marker": _marker(curve, style.marker, markers=markers),
        "markerfacecolor": "white" if style.hollow else style.color,
        "markeredgecolor": style.color,
    }


def _dashes(name: str) -> str | tuple[float, tuple[float, ...]]:
    return (0.0, DASHES[name]) if DASHES[name] else "-"


def _marker(curve: Curve, usual: str, *, markers: bool) -> str:
    if curve.kind == "dots":
        return "."
    return usual if markers or curve.kind in {"points", "events"} else ""


def _panel(ax: Axes, panel: Panel, place: Layout, *, markers: bool) -> None:
    if panel.grid is not None:
        cells(ax, panel, panel.grid)
        return
    shade(ax, panel)
    places, width = dodged(panel)
    for curve, x in zip(panel.curves, places, strict=True):
        if curve.kind in {"bars", "box"}:
            block(ax, curve, x, width * 0.9)
        else:
            _curve(ax, curve, x, markers=markers)
    if len(panel.title) > 0:
        ax.set_title(panel.title, color=INK)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    if panel.categories:
        words, turned = place.words(panel.categories)
        turn: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turned else {}
        ax.set_xticks(range(len(words)), words, fontsize="small", **turn)
        ax.set_xlim(-0.5, len(words) - 0.5)
        ax.grid(visible=False, axis="x")
    elif any(curve.texts for curve in panel.curves):
        ax.margins(x=0.12, y=0.1)
    else:
        ax.margins(x=0.02)
    for mark in panel.marks:
        ax.axvline(mark.x, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        if mark.text:
            at: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            y = 0.02 if mark.at == "bottom" else 0.98
            ax.annotate(mark.text, (mark.x, y), xytext=(-4, 0), ha="right", va=mark.at, rotation=90,
                        fontsize="small", color=MUTED, **at)  # fmt: skip
    if panel.better:
        # As in the figures of Winstein and Balakrishnan: less delay to the right, more throughput above. The arrow is
        # outside of the axes, because the best cells are in this corner.
        ax.set_title("better \N{NORTH EAST ARROW}", loc="right", color=MUTED, fontsize="small")


def _limits(ax: Axes, panel: Panel) -> None:
    ax.tick_params(labelleft=True)
    if panel.grid is not None:
        return
    if panel.x_log:
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        _log(ax.xaxis, (1, 2, 5) if high > 3 * low else (1, 1.5, 2, 3, 5, 7))
    if panel.x_ticks:
        from matplotlib.ticker import NullLocator

        ax.set_xticks(list(panel.x_ticks), [f"{place:g}" for place in panel.x_ticks])
        ax.xaxis.set_minor_locator(NullLocator())
    if panel.y_log:
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        decades = math.log10(high / low)
        _log(ax.yaxis, (1, 1.5, 2, 3, 5, 7) if decades <= DENSE else (1, 2, 5) if decades <= 2 * DENSE else (1,))
    elif panel.y_from_zero and not panel.strips:
        _from_zero(ax)
    if panel.y_top is not None:
        ax.set_ylim(top=panel.y_top)
    if panel.x_range is not None:
        ax.set_xlim(*panel.x_range)
    if panel.strips:
        ax.set_ylim(len(panel.strips) - 0.5, -0.5)
    if panel.x_reversed:
        ax.invert_xaxis()


MARGIN = 0.05
"""Part of an axis above its highest value, as matplotlib has it by default."""


def _from_zero(ax: Axes) -> None:
    """Begin the y axis at 0, unless a panel that shares it has values below; the margin above is a part of it all."""
    beside = ax.get_shared_y_axes().get_siblings(ax)
    lowest, highest = min(a.dataLim.ymin for a in beside), max(a.dataLim.ymax for a in beside)
    if lowest < 0:
        ax.set_ylim(top=max(0.0, ax.get_ylim()[1]))
    else:
        ax.set_ylim(bottom=0, top=1.0 if highest == 0 else highest * (1 + MARGIN))


def _log(axis: Axis, steps: tuple[float, ...]) -> None:
    """Label a logarithmic axis with plain numbers at some steps of each decade."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _curve(ax: Axes, curve: Curve, x: Floats, *, markers: bool) -> None:
    style = look(curve.look)
    if curve.kind == "outline":
        if not np.isnan(x).any():
            ax.fill(x, curve.y, color=style.color, alpha=0.1, linewidth=0, zorder=1.5)
        ax.plot(x, curve.y, color=style.color, linewidth=1.0, zorder=1.6)
        return
    if curve.kind == "segments":
        assert curve.low is not None and curve.high is not None
        ax.vlines(*merged(x, curve.low, curve.high), color=style.color, linewidth=1.1, zorder=2.5)
        return
    for word, a, b in zip(curve.texts, x, curve.y, strict=False):
        ax.annotate(word, (a, b), xytext=(5, 4), textcoords="offset points", fontsize="x-small", color=INK, zorder=5)
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
    size: dict[str, Any] = {"zorder": 3}
    if curve.kind == "events":
        size = {"markersize": 7 if len(x) <= MANY_EVENTS else 4, "zorder": 4}
    if curve.kind == "dots":
        size = {"markersize": 5, "markeredgewidth": 0, "markerfacecolor": style.color, "alpha": 0.5, "zorder": 2}
    across, up = distinct(x, curve.y, MARKS) if curve.kind == "events" else thin(x, curve.y)
    ax.plot(across, up, drawstyle=drawstyle, **{**_line(curve, markers=markers), **size})
