"""The grid of verdicts: one square for each statement of a report, with a color and a sign for its verdict."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

from dumbbell.plots.style import INK, MUTED, RC

__all__ = ["FORMS", "SIGNS", "draw"]

Form = Literal["png", "svg"]
FORMS: tuple[Form, ...] = get_args(Form)

SIGNS = {
    "agrees": ("#0072B2", "white", "\N{CHECK MARK}"),
    "depends": ("#56B4E9", "black", "\N{PLUS-MINUS SIGN}"),
    "differs": ("#D55E00", "white", "\N{MULTIPLICATION SIGN}"),
    "undecided at this budget": ("#F0E442", "black", "?"),
    "the model can't show it": ("#CCBB44", "black", "\N{WHITE CIRCLE}"),
    "not measured": ("#FFFFFF", "black", "."),
    "not testable": ("#DDDDDD", "black", "\N{EN DASH}"),
}
"""Verdict -> color (Okabe and Ito), color of the sign, sign."""
ACROSS = 20
"""Squares in a line."""
TITLE = "The statements of five reports: one square each"
WIDTH = 6.4
"""Inches."""


def draw(reports: Mapping[str, Mapping[str, int]], source: str, form: Form) -> bytes:
    """Draw the counts by report and verdict; ``source`` is the small print."""
    import matplotlib as mpl  # slow to import
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    rc: Any = {**RC, "font.size": 10, "svg.hashsalt": "verdicts", "svg.fonttype": "path"}
    with mpl.rc_context(rc):
        y = 1.5
        place: list[tuple[str, float, Mapping[str, int]]] = []
        squares: list[tuple[float, float, str]] = []
        for name, counts in reports.items():
            place.append((name, y, counts))
            y += 1.9
            order = [v for v in SIGNS for _ in range(counts.get(v, 0))]
            squares += [(k % ACROSS, y + k // ACROSS, v) for k, v in enumerate(order)]
            y += math.ceil(len(order) / ACROSS) + 0.6
        height = y + 2.0
        figure = Figure(figsize=(WIDTH, WIDTH * height / ACROSS))
        ax: Any = figure.add_axes((0.01, 0.0, 0.98, 1.0))
        ax.set_xlim(0, ACROSS)
        ax.set_ylim(height, 0)
        ax.axis("off")
        for x, top, verdict in squares:
            _square(ax, Rectangle, x, top, verdict)
        for name, top, counts in place:
            ax.text(0, top + 0.5, name, fontweight="bold", color=INK, va="center")
            words = ", ".join(f"{counts[v]} {v}" for v in SIGNS if counts.get(v, 0))
            ax.text(0, top + 1.3, words, color=INK, va="center")
        ax.text(0, 0.6, TITLE, fontsize=12, fontweight="bold", color=INK, va="center")
        ax.text(0, y + 1.5, source, fontsize=7, color=MUTED, va="center")
        x = 0.0
        for verdict in (v for v in SIGNS if any(c.get(v, 0) for c in reports.values())):
            _square(ax, Rectangle, x, y, verdict)
            ax.text(x + 1.2, y + 0.5, verdict, color=INK, va="center")
            x += 1.8 + 0.3 * len(verdict)
        target = io.BytesIO()
        nothing = {"Software": None} if form == "png" else {"Date": None}
        figure.savefig(target, format=form, dpi=150, metadata=nothing)
        return target.getvalue()


def _square(ax: Any, shape: Any, x: float, top: float, verdict: str) -> None:
    color, sign_color, sign = SIGNS[verdict]
    ax.add_patch(shape((x + 0.05, top + 0.05), 0.9, 0.9, facecolor=color, edgecolor="#767676", linewidth=0.6))
    ax.text(x + 0.5, top + 0.52, sign, color=sign_color, ha="center", va="center", fontsize=11)
