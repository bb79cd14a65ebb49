"""Figures: their content as data (`spec`), colors and markers (`style`), drawing and saving."""

from dumbbell.plots.files import Drawn, save, save_all
from dumbbell.plots.spec import Curve, Mark, Panel, Picture, curve_of, sampled
from dumbbell.plots.style import Look, look

__all__ = ["Curve", "Drawn", "Look", "Mark", "Panel", "Picture", "curve_of", "look", "sampled", "save", "save_all"]
