"""Colors of curves on a dark page: the hue stays, the lightness changes until the contrast suffices.

References
----------
Web Content Accessibility Guidelines 2.2: relative luminance, contrast ratio (text 4.5 : 1, graphics 3 : 1).
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from functools import cache

__all__ = ["DARK_PAPER", "contrast", "dark_colors", "luminance", "on_dark"]

DARK_PAPER = "#16191d"
"""Background of a dark page, `--paper` in figure.css."""
ENOUGH = 4.5
"""Contrast of a curve against the background: that of text, since thin lines need more than areas."""
STEP = 0.01
GRAY = 0.05
"""Saturation below which a color is a gray."""


def _channels(color: str) -> tuple[float, float, float]:
    return int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255


def luminance(red: float, green: float, blue: float) -> float:
    """Return the relative luminance of a color in sRGB, 0 to 1 [WCAG 2, definition of relative luminance].

    Parameters
    ----------
    red, green, blue : float
        0 to 1.
    """
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colors, 1 to 21.

    Parameters
    ----------
    a, b : str
        As ``#rrggbb``.
    """
    low, high = sorted((luminance(*_channels(a)), luminance(*_channels(b))))
    return (high + 0.05) / (low + 0.05)


@cache
def on_dark(color: str) -> str:
    """Return the color of a curve on a dark page: as light as its contrast needs, of the same hue.

    Parameters
    ----------
    color : str
        As ``#rrggbb``.
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(color))
    if saturation < GRAY:  # black is the strongest on white, white on black
        lightness = 1.0 - lightness
    while True:
        found = "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue, lightness, saturation))
        if contrast(found, DARK_PAPER) >= ENOUGH:
            return found
        lightness = min(1.0, lightness + STEP)


def dark_colors(colors: Iterable[str]) -> str:
    """Return CSS that sets the variable ``--crrggbb`` of each color on a dark page."""
    values = "".join(f"--c{color[1:].lower()}:{on_dark(color)};" for color in sorted(set(colors)))
    return f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {values} }} }}\n" if values else ""
