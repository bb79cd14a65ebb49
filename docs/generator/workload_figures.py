"""Figures of measured workloads, drawn from the scenarios in ``examples`` when the docs are built."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import dumbbell

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FIGURES = {
    "voice": ("voice.toml", "voice", 0),
    "rrul": ("rrul.toml", "load", 0),
    "rtt-fair": ("rtt-fair.toml", "load", 0),
    "tcp-nup": ("tcp-nup.toml", "load", 0),
    "voip": ("voip.toml", "voice", 2),
    "responsiveness": ("responsiveness.toml", "responsiveness", 0),
    "page": ("page.toml", "waterfall", 0),
    "incast": ("incast.toml", "queue", 3),
    "many": ("many.toml", "cdf", 0),
}
"""By name: the example, the kind of figure, and the number of the cell that it shows."""


def all_figures() -> dict[str, Callable[[], bytes]]:
    """Return the drawing function of every figure by the figure's path in the docs."""
    return {f"how-to/img/{name}.png": partial(drawn, *of) for name, of in FIGURES.items()}


def drawn(example: str, kind: str, cell: int) -> bytes:
    """Run a cell of an example with series, and draw it."""
    from dumbbell.plots.catalog import make
    from dumbbell.plots.draw import draw

    scenario = dumbbell.load(EXAMPLES / example).cells[cell].scenario
    scenario = scenario.with_changes({"trace.series": ["queues" if kind == "queue" else "flows"]})
    into = io.BytesIO()
    draw(make(dumbbell.run(scenario), kind, by="variant" if kind == "cdf" else None)).savefig(
        into, format="png", dpi=150
    )
    return into.getvalue()
