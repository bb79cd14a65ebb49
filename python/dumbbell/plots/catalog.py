"""The kinds of figures of results, by name, with the function that draws each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from dumbbell.exceptions import DumbbellError
from dumbbell.plots import (
    by_cell,
    delay_plane,
    distribution,
    fairness_over_time,
    flows_over_time,
    grids,
    load_over_time,
    queues_over_time,
    responsiveness_over_time,
    sequence,
    slowdown_by_size,
    timelapse,
    videos_over_time,
    voice_over_time,
)
from dumbbell.plots.cell_table import Shown
from dumbbell.plots.source import source_of
from dumbbell.plots.spec import Picture
from dumbbell.registry import unknown

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["KINDS", "Of", "make"]


@dataclass(frozen=True, slots=True)
class Of:
    """A kind of figure: one run over time or all cells, the function that draws it, and its options."""

    over_time: bool
    draw: Callable[..., Picture]
    options: tuple[str, ...]

    @property
    def what(self) -> str:
        """Description in one line."""
        return (self.draw.__doc__ or "").strip().splitlines()[0]


_CELLS = ("metric", "x", "by", "flow", "where")


def _cells(draw: Callable[[Results, Shown], Picture], options: tuple[str, ...] = _CELLS) -> Of:
    """Return a kind over all cells, whose function takes its options as one value."""

    @wraps(draw)
    def drawn(results: Results, **given: Any) -> Picture:  # noqa: ANN401
        return draw(results, Shown(**given))

    return Of(False, drawn, options)


KINDS: dict[str, Of] = {
    "cwnd": Of(True, flows_over_time.cwnd, ("flow",)),
    "queue": Of(True, queues_over_time.queue, ("queue",)),
    "rtt": Of(True, flows_over_time.rtt, ("flow",)),
    "srtt": Of(True, flows_over_time.srtt, ("flow",)),
    "goodput": Of(True, flows_over_time.goodput, ("flow", "window_s")),
    "sequence": Of(True, sequence.sequence, ("flow",)),
    "inflight": Of(True, flows_over_time.inflight, ("flow",)),
    "fairness": Of(True, fairness_over_time.fairness, ("flow", "window_s")),
    "iograph": Of(True, queues_over_time.iograph, ("queue", "window_s")),
    "load": Of(True, load_over_time.load, ("flow", "window_s")),
    "video": Of(True, videos_over_time.video, ("flow",)),
    "waterfall": Of(True, videos_over_time.waterfall, ("flow",)),
    "voice": Of(True, voice_over_time.voice, ("flow",)),
    "responsiveness": Of(True, responsiveness_over_time.responsiveness, ()),
    "timelapse": Of(False, timelapse.timelapse, ("metric", "flow", "window_s", "where")),
    "matrix": _cells(grids.matrix, ("metric", "flow", "where")),
    "lines": _cells(by_cell.lines),
    "bars": _cells(by_cell.bars),
    "box": _cells(by_cell.box),
    "cdf": _cells(distribution.cdf, ("metric", "by", "flow", "where")),
    "slowdown": Of(False, slowdown_by_size.slowdown, ("metric", "flow")),
    "ellipse": _cells(delay_plane.ellipse, ("metric", "by", "flow", "where")),
    "plane": _cells(delay_plane.plane),
    "heatmap": _cells(grids.heatmap),
}
"""Every kind."""


def make(
    results: Results,
    kind: str,
    *,
    run: int = 0,
    metric: str | None = None,
    x: str | None = None,
    by: str | None = None,
    flow: Sequence[str] | None = None,
    queue: Sequence[str] | None = None,
    window_s: float | None = None,
    where: Mapping[str, object] | None = None,
) -> Picture:
    """Make a figure of results; options that the kind doesn't take are errors.

    Raises
    ------
    DumbbellError
        For an unknown kind, an option that it doesn't take, or results that lack the series or columns it needs.
    """
    if kind not in KINDS:
        raise DumbbellError(unknown("kind of plot", kind, list(KINDS)))
    of = KINDS[kind]
    given: dict[str, Any] = {"metric": metric, "x": x, "by": by, "flow": flow, "queue": queue}
    given |= {"window_s": window_s, "where": where}
    given = {name: value for name, value in given.items() if value}
    for name in given:
        if name not in of.options:
            takes = ", ".join(of.options)
            raise DumbbellError(
                f"--{name.removesuffix('_s')}: a plot of kind '{kind}' doesn't take it (it takes: {takes})"
            )
    if not len(results):
        raise DumbbellError("the results hold no finished run")
    if not of.over_time:
        return replace(of.draw(results, **given), source=source_of(results))
    if not 0 <= run < len(results):
        raise DumbbellError(f"--run: {run} given: the results hold runs 0 to {len(results) - 1}")
    return replace(of.draw(results, results.runs[run], **given), source=source_of(results, results.runs[run]))
