"""The picture of instructions by part: docs/img/instructions.png."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from dumbbell.plots.style import INK, RC

__all__ = ["draw"]

COLORS = ("#0072B2", "#56B4E9", "#009E73", "#F0E442", "#E69F00", "#D55E00", "#CC79A7", "#999999", "#555555")
"""Okabe and Ito's colors, which readers with any color vision can distinguish, and two grays."""
NARROW = 0.05
"""A part below this share of the widest bar has no number in it."""


def draw(bars: Mapping[str, Mapping[str, float]], target: Path) -> None:
    """Draw a bar for each workload, made of its parts.

    Parameters
    ----------
    bars : mapping
        Instructions per packet: workload -> part -> number. All have the same parts.
    target : path
        The file.
    """
    settings: Any = RC
    mpl.rcParams.update(settings)
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.42 * len(bars)), layout="constrained")
    widest = max(sum(parts.values()) for parts in bars.values())
    names = list(bars)
    left = [0.0] * len(names)
    for part, color in zip(next(iter(bars.values())), COLORS, strict=True):
        widths = [max(0.0, bars[name][part]) for name in names]
        axes.barh(names, widths, left=left, color=color, label=part, height=0.7)
        for row, (begin, width) in enumerate(zip(left, widths, strict=True)):
            if width >= NARROW * widest:
                axes.text(begin + width / 2, row, f"{width:.0f}", ha="center", va="center", fontsize=8, color=INK)
        left = [begin + width for begin, width in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel("instructions per delivered packet, its ACK included")
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    # Without the software's version in it the same picture is the same file.
    figure.savefig(target, format="png", dpi=150, metadata={"Software": None})
    plt.close(figure)
