"""Sizes of figures on paper and on slides: the width, and text that is legible at this width.

A figure for a paper is drawn at the width at which it is printed, so its text has the size that the reader sees. The
names give the widths of common templates; any other width is a length, such as ``85 mm``.
"""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown

__all__ = ["NAMED", "SCREEN", "Size", "size_of"]

PER_INCH = {"mm": 25.4, "cm": 2.54, "in": 1.0, "pt": 72.27}
"""Lengths in one inch; ``pt`` is TeX's point, as ``\\the\\columnwidth`` prints it."""
NARROWEST, WIDEST = 2.0, 48.0
"""Inches. A narrower figure has no space for its axes."""
PAPER_TEXT = 7.5
"""Size of a paper figure's text, points: journals ask for 6 to 8 at least."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a figure.

    Attributes
    ----------
    width : float or None, inches
        Default: chosen by the number of panels, for a screen.
    text : float, points
        Size of the axes' text; margins and lines follow it.
    ratio : float or None
        Height over width of the whole figure; default: it follows the panels.
    """

    width: float | None = None
    text: float = 9.0
    ratio: float | None = None

    @property
    def unit(self) -> float:
        """Size of the text in that of a screen's figure."""
        return self.text / 9.0


SCREEN = Size()
NAMED = {
    "column": Size(3.5, PAPER_TEXT),  # IEEE journals; ACM's is 3.33 in
    "two-column": Size(7.16, PAPER_TEXT),  # both columns of IEEE journals
    "slide": Size(10.0, 16.0, 9 / 16),  # 16:9, as presentation programs make it
}
"""Sizes by name."""


def size_of(text: str | None) -> Size:
    """Read a width: a name of `NAMED`, or a length with its unit, such as ``85 mm`` or ``3.3 in``.

    Raises
    ------
    DumbbellError
        For an unknown name or unit, and for a length outside 2 to 48 inches.
    """
    if text is None:
        return SCREEN
    given = text.strip()
    if given in NAMED:
        return NAMED[given]
    digits = given.rstrip('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"% ')
    unit = given[len(digits) :].strip()
    try:
        number = float(digits)
    except ValueError:
        raise DumbbellError(
            f"--width: {unknown('size', given, list(NAMED))}; a length has a unit, such as '85 mm' or '3.3 in'"
        ) from None
    if unit not in PER_INCH:
        raise DumbbellError(f"--width: '{given}' given: a unit is needed ({', '.join(PER_INCH)}), such as '85 mm'")
    width = number / PER_INCH[unit]
    if not NARROWEST <= width <= WIDEST:
        raise DumbbellError(
            f"--width: '{given}' given: must be {NARROWEST:g} to {WIDEST:g} in "
            f"({NARROWEST * 25.4:.0f} to {WIDEST * 25.4:.0f} mm)"
        )
    return Size(width, PAPER_TEXT if width < 8 else 9.0)
