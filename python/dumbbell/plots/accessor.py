"""Figures as methods: ``results.plot.cwnd()``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.exceptions import DumbbellError
from dumbbell.plots.catalog import make
from dumbbell.plots.spec import Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        For an ending other than png, svg, pdf or html, and for a file that can't be written.
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
    """A figure made of results: shown in a notebook, written with `save`, drawn with Matplotlib."""

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
    """``results.plot``: one method per kind of figure.

    The figures over time show one repetition of one cell, ``run`` (an index of ``results.runs``); the others show all
    cells. ``flow`` and ``queue`` select by name.

    Raises
    ------
    DumbbellError
        For results that lack what a figure needs, and for unknown names.
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    def _make(self, kind: str, **options: Any) -> Plot:  # noqa: ANN401
        return Plot(make(self._results, kind, **options))

    def cwnd(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the congestion window over time; for a single flow also ssthresh."""
        return self._make("cwnd", run=run, flow=flow)

    def queue(self, *, run: int = 0, queue: Sequence[str] | None = None) -> Plot:
        """Draw the backlog and the drops of queues over time."""
        return self._make("queue", run=run, queue=queue)

    def rtt(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the senders' smoothed RTT over time."""
        return self._make("rtt", run=run, flow=flow)

    def goodput(self, *, run: int = 0, flow: Sequence[str] | None = None, window_s: float | None = None) -> Plot:
        """Draw the goodput in windows of ``window_s`` seconds."""
        return self._make("goodput", run=run, flow=flow, window_s=window_s)

    def sequence(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the sequence numbers sent, acknowledged and delivered over time."""
        return self._make("sequence", run=run, flow=flow)

    def inflight(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the bytes in flight over time; for a single flow also phases, losses and timeouts."""
        return self._make("inflight", run=run, flow=flow)

    def iograph(self, *, run: int = 0, queue: Sequence[str] | None = None, window_s: float | None = None) -> Plot:
        """Draw packets per second that left a queue or were dropped there."""
        return self._make("iograph", run=run, queue=queue, window_s=window_s)

    def matrix(self, *, metric: str | None = None, flow: Sequence[str] | None = None) -> Plot:
        """Draw a metric of two flows whose variants are swept, as a matrix."""
        return self._make("matrix", metric=metric, flow=flow)

    def lines(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
    ) -> Plot:
        """Draw a metric over a swept value, with intervals and the repetitions as dots."""
        return self._make("lines", metric=metric, x=x, by=by, flow=flow)

    def bars(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
    ) -> Plot:
        """Draw a metric as bars with intervals and the repetitions as dots."""
        return self._make("bars", metric=metric, x=x, by=by, flow=flow)

    def box(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
    ) -> Plot:
        """Draw box plots of a metric's repetitions."""
        return self._make("box", metric=metric, x=x, by=by, flow=flow)

    def cdf(self, *, metric: str | None = None, by: str | None = None, flow: Sequence[str] | None = None) -> Plot:
        """Draw the cumulative distribution of a metric over runs, or of the packets' ``sojourn``."""
        return self._make("cdf", metric=metric, by=by, flow=flow)

    def ellipse(self, *, metric: str | None = None, by: str | None = None, flow: Sequence[str] | None = None) -> Plot:
        """Draw total goodput over queueing delay: a point per run, an ellipse of one standard deviation."""
        return self._make("ellipse", metric=metric, by=by, flow=flow)

    def heatmap(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
    ) -> Plot:
        """Draw a metric over two swept values, as colors with numbers."""
        return self._make("heatmap", metric=metric, x=x, by=by, flow=flow)
