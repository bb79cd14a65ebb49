"""Figures of measured workloads, drawn from the scenarios in ``examples`` when the docs are built."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import dumbbell

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FIGURES = {
    "voice": ("voice.toml", "voice"),
    "rrul": ("rrul.toml", "load"),
    "responsiveness": ("responsiveness.toml", "responsiveness"),
}
"""By name: the example, and the kind of figure. The figure shows the first cell."""


def all_figures() -> dict[str, Callable[[], bytes]]:
    """Return the drawing function of every figure by the figure's path in the docs."""
    return {f"how-to/img/{name}.png": partial(drawn, *of) for name, of in FIGURES.items()}


def drawn(example: str, kind: str) -> bytes:
    """Run the first cell of an example with series, and draw it."""
    from dumbbell.plots.catalog import make  # noqa: PLC0415
    from dumbbell.plots.draw import draw  # noqa: PLC0415

    scenario = dumbbell.load(EXAMPLES / example).cells[0].scenario.with_changes({"trace.series": ["flows"]})
    into = io.BytesIO()
    draw(make(dumbbell.run(scenario), kind)).savefig(into, format="png", dpi=150)
    return into.getvalue()
