"""Phases of a sender as shaded bands: of the whole panel, or of one strip for each flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dumbbell.plots.spec import Panel, Span
from dumbbell.plots.style import SHADE, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch
    from matplotlib.path import Path

__all__ = ["HATCHES", "legend_patch", "shade"]

HATCHES = {
    "slow start": "...",
    "startup": "...",
    "recovery": "////",
    "timeout": "xxxx",
    "drain": "\\\\\\\\",
    "probe RTT": "||||",
    "receiver-limited": "----",
    "application-limited": "++",
}
"""Hatching of phases, so that they differ in gray; the others have none."""
STRIP = 0.34
"""Opacity of a strip: it has no curves above it."""
BAR = 0.8
"""Height of a strip in parts of its row."""


def _looks(span: Span) -> dict[str, Any]:
    color = look(span.look).color
    opacity = SHADE if span.strip is None else STRIP
    return {"facecolor": (color, opacity), "edgecolor": (color, opacity + 0.1), "linewidth": 0,
            "hatch": HATCHES.get(span.look)}  # fmt: skip


def legend_patch(span: Span) -> Patch:
    """Return the entry of the legend."""
    from matplotlib.patches import Patch  # slow to import

    return Patch(**_looks(span))


def shade(ax: Axes, panel: Panel) -> None:
    """Draw the spans of a panel; those of one look are one path, so that files stay small."""
    from matplotlib.patches import PathPatch  # slow to import

    groups: dict[tuple[str, int | None], list[Span]] = {}
    for span in panel.spans:
        groups.setdefault((span.look, span.strip), []).append(span)
    for (_, strip), spans in groups.items():
        if strip is None:
            band = PathPatch(_boxes(spans, 0, 1), transform=ax.get_xaxis_transform(), zorder=0.5, **_looks(spans[0]))
        else:
            low = strip - BAR / 2
            band = PathPatch(_boxes(spans, low, low + BAR), zorder=1, **_looks(spans[0]))
        ax.add_patch(band)
    if panel.strips:
        ax.set_yticks(range(len(panel.strips)), list(panel.strips), fontsize="small")
        ax.grid(visible=False, axis="y")


def _boxes(spans: Sequence[Span], low: float, high: float) -> Path:
    """Return the outline of the spans, from `low` to `high` on the y axis."""
    from matplotlib.path import Path  # slow to import

    corners = [
        corner
        for span in spans
        for corner in ((span.begin, low), (span.end, low), (span.end, high), (span.begin, high), (span.begin, low))
    ]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(spans)
    return Path(corners, codes)
