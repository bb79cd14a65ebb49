"""Figures that a browser draws: JavaScript and CSS of this project, and the numbers that they draw.

`interactive.figure` describes a figure in JSON; the scripts in this folder draw it as SVG. The studio draws with the
same scripts. A page needs no library and no network.
"""

from dumbbell.plots.web.assets import CHARTS, bundle, script, style
from dumbbell.plots.web.colors import DARK_PAPER, contrast, dark_colors, on_dark
from dumbbell.plots.web.packing import pack
from dumbbell.plots.web.security_policy import policy

__all__ = ["CHARTS", "DARK_PAPER", "bundle", "contrast", "dark_colors", "on_dark", "pack", "policy", "script", "style"]
