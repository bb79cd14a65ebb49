"""Figures as matplotlib draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.plots import Picture
from dumbbell.plots.size import SCREEN, Size
from required import require_packages

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drawn"]


def drawn(picture: Picture, size: Size = SCREEN) -> Figure:
    """Draw a picture."""
    require_packages("matplotlib")
    from dumbbell.plots.draw import draw

    return draw(picture, size)
