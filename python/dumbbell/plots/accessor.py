"""Figures as methods: ``results.plot.cwnd()``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.exceptions import DumbbellError
from dumbbell.plots.catalog import KINDS, make
from dumbbell.plots.spec import Picture
from dumbbell.registry import unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from dumbbell.results import Results

__all__ = ["FORMATS", "Plot", "Plots", "write"]

FORMATS = ("png", "svg", "pdf", "html")
"""Formats of a figure; html is interactive and needs no other file."""
DPI = 150


def write(picture: Picture, path: str | os.PathLike[str]) -> Path:
    """Write a figure; the ending of the file's name selects the format.

    Raises
    ------
    DumbbellError
        For another end than png, svg, pdf or html, or a file that can't be written.
    """
    place = Path(path)
    ending = place.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise DumbbellError(f"{place}: the name must end in one of {', '.join('.' + f for f in FORMATS)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if ending == "html":
            from dumbbell.plots.interactive import page  # noqa: PLC0415 - needs plotly

            place.write_text(page([picture]), encoding="utf-8")
        else:
            from dumbbell.plots.draw import draw, settings  # noqa: PLC0415 - slow to import

            with settings({"svg.hashsalt": picture.name}):
                draw(picture).savefig(place, dpi=DPI)
    except OSError as e:
        raise DumbbellError(f"{place}: can't be written: {e.strerror or e}") from None
    return place


class Plot:
    """A picture made of results: shown in a notebook, written with `save`, drawn as a Matplotlib figure."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as .png, .svg, .pdf or .html."""
        return write(self.picture, path)

    def figure(self) -> Figure:
        """Draw it with Matplotlib."""
        from dumbbell.plots.draw import draw  # noqa: PLC0415

        return draw(self.picture)

    def _repr_svg_(self) -> str:
        import io  # noqa: PLC0415

        text = io.StringIO()
        self.figure().savefig(text, format="svg")
        return text.getvalue()


class Plots:
    """``results.plot``: a method for each kind of picture; see `dumbbell.plots.catalog`."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *KINDS]

    def __getattr__(self, kind: str) -> Callable[..., Plot]:
        if kind.startswith("_"):
            raise AttributeError(kind)
        if kind not in KINDS:
            raise DumbbellError(unknown("kind of plot", kind, list(KINDS)))

        def draw(**options: Any) -> Plot:  # noqa: ANN401
            return Plot(make(self._results, kind, **options))

        draw.__doc__ = KINDS[kind].draw.__doc__
        return draw
