"""Figures as methods: ``results.plot.cwnd()``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.exceptions import DumbbellError
from dumbbell.plots.catalog import make
from dumbbell.plots.size import size_of
from dumbbell.plots.spec import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from dumbbell.results import Results

__all__ = ["FORMATS", "Plot", "Plots", "write"]

FORMATS = ("png", "svg", "pdf", "html")
"""Formats of a figure; html is interactive and needs no other file."""
DPI, PRINT_DPI = 150, 300
"""Dots per inch of a PNG for a screen, and of one with a printed width."""


def write(picture: Picture, path: str | os.PathLike[str], *, width: str | None = None, bare: bool = False) -> Path:
    """Write a figure; the ending of the file's name selects the format.

    Parameters
    ----------
    picture : Picture
    path : path
    width : str, optional
        ``column``, ``two-column``, ``slide`` or a length such as ``85 mm``: the printed width of a png, svg or pdf.
    bare : bool
        True to leave out the title and the small print; the file's metadata has them.

    Raises
    ------
    DumbbellError
        For an ending other than png, svg, pdf or html, a width for html, and for a file that can't be written.
    """
    size = size_of(width)
    place = Path(path)
    ending = place.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise DumbbellError(f"{place}: the name must end in one of {', '.join('.' + f for f in FORMATS)}")
    if ending == "html" and (width is not None or bare):
        raise DumbbellError(f"{place}: --width and --bare are for png, svg and pdf: an html page fits its window")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if ending == "html":
            from dumbbell.plots.interactive import page

            place.write_text(page([picture]), encoding="utf-8")
        else:
            from dumbbell.plots.draw import draw, settings  # slow to import

            with settings(size, {"svg.hashsalt": picture.name}):
                dpi = DPI if width is None else PRINT_DPI
                draw(picture, size, bare=bare).savefig(place, dpi=dpi, metadata=_facts(picture, ending))
    except OSError as e:
        raise DumbbellError(f"{place}: can't be written: {e.strerror or e}") from None
    return place


def _facts(picture: Picture, ending: str) -> dict[str, Any]:
    """Return a file's metadata: title and origin, but no time: equal figures are equal files."""
    if ending == "pdf":
        return {"Title": picture.title, "Subject": picture.small_print, "CreationDate": None, "Creator": None,
                "Producer": None}  # fmt: skip
    none = {"Software": None} if ending == "png" else {"Date": None, "Creator": None}
    return {"Title": picture.title, "Description": picture.small_print, **none}


class Plot:
    """A figure made of results: shown in a notebook, written with `save`, drawn with Matplotlib."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def save(self, path: str | os.PathLike[str], *, width: str | None = None, bare: bool = False) -> Path:
        """Write it as .png, .svg, .pdf or .html.

        Parameters
        ----------
        path : path
        width : str, optional
            ``column``, ``two-column``, ``slide`` or a length such as ``85 mm``.
        bare : bool
            True to leave out the title and the small print, for a paper that has them in the caption.
        """
        return write(self.picture, path, width=width, bare=bare)

    def figure(self) -> Figure:
        """Draw it with Matplotlib."""
        from dumbbell.plots.draw import draw

        return draw(self.picture)

    def _repr_svg_(self) -> str:
        import io

        text = io.StringIO()
        self.figure().savefig(text, format="svg")
        return text.getvalue()


class Plots:
    """``results.plot``: one method per kind of figure.

    The figures over time show one repetition of one cell, ``run`` (an index of ``results.runs``); the others show all
    cells. ``flow`` and ``queue`` select by name, ``where`` selects cells: ``{"bottleneck.rate": "10 Mbit/s"}``.

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
        """Draw the congestion window over time in segments, with the phases of each sender."""
        return self._make("cwnd", run=run, flow=flow)

    def queue(self, *, run: int = 0, queue: Sequence[str] | None = None) -> Plot:
        """Draw the backlog of queues over time, and the rates of drops and marks."""
        return self._make("queue", run=run, queue=queue)

    def rtt(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the RTT of each packet over time."""
        return self._make("rtt", run=run, flow=flow)

    def srtt(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the smoothed RTT (srtt) of the senders over time."""
        return self._make("srtt", run=run, flow=flow)

    def goodput(self, *, run: int = 0, flow: Sequence[str] | None = None, window_s: float | None = None) -> Plot:
        """Draw the goodput in windows of ``window_s`` seconds."""
        return self._make("goodput", run=run, flow=flow, window_s=window_s)

    def sequence(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the time-sequence graph of a flow: segments, ACKs and retransmissions."""
        return self._make("sequence", run=run, flow=flow)

    def inflight(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the bytes in flight over time in segments, with the phases of each sender."""
        return self._make("inflight", run=run, flow=flow)

    def fairness(self, *, run: int = 0, flow: Sequence[str] | None = None, window_s: float | None = None) -> Plot:
        """Draw each flow's share of the goodput and Jain's index, in sliding windows of ``window_s`` seconds."""
        return self._make("fairness", run=run, flow=flow, window_s=window_s)

    def iograph(self, *, run: int = 0, queue: Sequence[str] | None = None, window_s: float | None = None) -> Plot:
        """Draw packets per second that left a queue or were dropped there."""
        return self._make("iograph", run=run, queue=queue, window_s=window_s)

    def load(self, *, run: int = 0, flow: Sequence[str] | None = None, window_s: float | None = None) -> Plot:
        """Draw the goodput of downloads and uploads and the RTTs of pings on one time axis (flent's all_scaled)."""
        return self._make("load", run=run, flow=flow, window_s=window_s)

    def video(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw buffer level, bit rate, congestion window and queue of videos over time, with their stalls."""
        return self._make("video", run=run, flow=flow)

    def waterfall(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the objects of a page, or the segments of a video: requests, first bytes, last bytes."""
        return self._make("waterfall", run=run, flow=flow)

    def voice(self, *, run: int = 0, flow: Sequence[str] | None = None) -> Plot:
        """Draw the packets of voice calls: their delays, the playout delay, missing ones, and the MOS over time."""
        return self._make("voice", run=run, flow=flow)

    def responsiveness(self, *, run: int = 0) -> Plot:
        """Draw a responsiveness test: goodput, the round trips of its probes, and RPM at each interval."""
        return self._make("responsiveness", run=run)

    def timelapse(
        self,
        *,
        metric: str | None = None,
        flow: Sequence[str] | None = None,
        window_s: float | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw windows and queue over time, a row of panels for each cell, or for each flow of a single cell.

        ``metric`` is ``cwnd`` (the default), ``inflight``, ``srtt`` or ``goodput``.
        """
        return self._make("timelapse", metric=metric, flow=flow, window_s=window_s, where=where)

    def matrix(
        self, *, metric: str | None = None, flow: Sequence[str] | None = None, where: Mapping[str, object] | None = None
    ) -> Plot:
        """Draw a metric of two flows whose variants are swept, as a matrix."""
        return self._make("matrix", metric=metric, flow=flow, where=where)

    def lines(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw a metric over a swept value, with intervals and the repetitions as dots."""
        return self._make("lines", metric=metric, x=x, by=by, flow=flow, where=where)

    def bars(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw a metric as bars with intervals and the repetitions as dots."""
        return self._make("bars", metric=metric, x=x, by=by, flow=flow, where=where)

    def box(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw box plots of a metric's repetitions."""
        return self._make("box", metric=metric, x=x, by=by, flow=flow, where=where)

    def cdf(
        self,
        *,
        metric: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw the cumulative distribution of a metric over runs, or of the packets' ``sojourn``."""
        return self._make("cdf", metric=metric, by=by, flow=flow, where=where)

    def slowdown(self, *, metric: str | None = None, flow: Sequence[str] | None = None) -> Plot:
        """Draw the slowdown (or ``took_s``) of generated transfers over their size: mean, median, 99th percentile."""
        return self._make("slowdown", metric=metric, flow=flow)

    def ellipse(
        self,
        *,
        metric: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw total goodput over queueing delay: a point per run, an ellipse of one standard deviation."""
        return self._make("ellipse", metric=metric, by=by, flow=flow, where=where)

    def plane(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw throughput over queueing delay for a sweep: a path per variant, an ellipse per cell."""
        return self._make("plane", metric=metric, x=x, by=by, flow=flow, where=where)

    def heatmap(
        self,
        *,
        metric: str | None = None,
        x: str | None = None,
        by: str | None = None,
        flow: Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
    ) -> Plot:
        """Draw a metric over two swept values, as colors with numbers."""
        return self._make("heatmap", metric=metric, x=x, by=by, flow=flow, where=where)
