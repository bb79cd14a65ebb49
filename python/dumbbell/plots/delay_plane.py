"""The plane of throughput and queueing delay: a point per run, an ellipse per cell, a path per variant of a sweep.

The delay decreases to the right, so up and to the right is better, as in the figures that introduced this plane. A
quantity whose medians differ by a large factor has a logarithmic axis; its ellipses are computed of the logarithms.

References
----------
Winstein, K., Balakrishnan, H., "TCP ex Machina: Computer-Generated Congestion Control", SIGCOMM 2013, §5.1.
RFC 7928 §2.7: ellipses of the maximum-likelihood two-dimensional Gaussian, the median as their middle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.by_cell import counted, looks_of
from dumbbell.plots.cell_table import CellTable, Shown
from dumbbell.plots.ellipse import FEWEST, cross_of, ellipse_of, is_slit
from dumbbell.plots.spec import Curve, Floats, Panel, Picture
from dumbbell.plots.style import Look
from dumbbell.results.frames.summary import IN_USE

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["ellipse", "plane"]

HALF = 0.5
"""Part of the runs that an ellipse of `plane` holds."""
WIDE = 10.0
"""Ratio of the largest median to the smallest from which an axis is logarithmic."""


def ellipse(results: Results, shown: Shown) -> Picture:
    """Draw the flows' total goodput over queueing delay: a point for each run, an ellipse of one standard deviation.

    References
    ----------
    RFC 7928 §2.7: ellipses of the maximum-likelihood two-dimensional Gaussian, the median as their middle.
    """
    table, y_label = _table(results, shown)
    apart = table.column(shown.by, "by") or table.free()
    looks = looks_of(table, apart)
    parts = table.panels(apart)
    clouds = [_clouds(one, looks, apart, None, {"": ""}) for one in parts]
    panels = [_panel(one.title, found, looks, y_label, shown.metric) for one, found in zip(parts, clouds, strict=True)]
    n = counted(cloud.x.size for found in clouds for cloud in found)
    title = f"{quantity(shown.metric).title} and delay{f' by {table.name(apart)}' if apart else ''}, {n}"
    note = (
        "The delay decreases to the right. Large symbol: median of the runs; dots: single runs. Ellipse: one "
        "standard deviation of the Gaussian that fits the runs best; it holds about 39 % of them. "
        f"{_CROSS} one standard deviation to either side."
    )
    return Picture("ellipse", title, "", panels, columns=min(2, len(panels)), note=note)


def plane(results: Results, shown: Shown) -> Picture:
    """Draw throughput over queueing delay for a sweep: a path per variant, an ellipse of half the runs per cell.

    `x` is the swept path along each path, whose values are written at the cells, by default the first numeric one;
    `by` distinguishes the paths.

    Raises
    ------
    ResultsError
        If nothing is swept, and as `CellTable.of`.
    """
    table, y_label = _table(results, shown)
    apart = table.column(shown.by, "by")
    along = table.column(shown.x, "x") or table.free(apart, first="numbers")
    apart = apart or table.free(along, first="words")
    if along is None:
        raise ResultsError("a plane needs a sweep: give --x a swept path")
    looks = looks_of(table, apart)
    axis = table.axis(along)
    marks = {w: f"{axis.places[w]:g}" if axis.numeric else w for w in axis.words}
    parts = table.panels(along, apart)
    clouds = [_clouds(one, looks, apart, along, marks) for one in parts]
    panels = [
        _panel(one.title, found, looks, y_label, shown.metric, share=HALF, joined=axis.numeric)
        for one, found in zip(parts, clouds, strict=True)
    ]
    n = counted(cloud.x.size for found in clouds for cloud in found)
    title = f"{quantity(shown.metric).title} and delay over {table.name(along)}"
    title += f" by {table.name(apart)}" if apart else ""
    path = axis.label(table.name(along))
    note = (
        f"The delay decreases to the right. Symbol: median of a cell's runs, with its {path}. Ellipse: of the shape "
        f"of their covariance, so large that it holds half of them. {_CROSS} from the smallest to the largest value."
    )
    return Picture("plane", f"{title}, {n}", "", panels, columns=min(2, len(panels)), note=note)


_CROSS = f"A cross where they are fewer than {FEWEST} or nearly on a line:"


@dataclass(frozen=True, slots=True)
class _Cloud:
    """The runs of one cell: `side` names its curve, `mark` is written beside it; delays in ms."""

    side: str
    mark: str
    x: Floats
    y: Floats


def _clouds(
    table: CellTable, looks: Mapping[str, Look], apart: str | None, along: str | None, marks: Mapping[str, str]
) -> list[_Cloud]:
    """Return the runs of each cell of a panel, by the order of the curves and along each."""
    delays = replace(table, frame=table.frame.with_columns(value=pl.col("delay"))).groups(apart, along, each=True)
    values = table.groups(apart, along, each=True)
    keys = [(side, step) for side in looks for step in marks if (side, step) in values]
    return [_Cloud(side, marks[step], delays[side, step], values[side, step]) for side, step in keys]


def _table(results: Results, shown: Shown) -> tuple[CellTable, str]:
    """Return one row per run, with the flows' total of a rate (mean of another metric) and the delay; the y label.

    Flows keep their own rows if `by` distinguishes them, or if nothing is swept.
    """
    metric = shown.metric
    if metric not in results.flows.columns:
        raise ResultsError(f"metric '{metric}' is no column of flows, which the delay is compared with")
    table = CellTable.of(results, shown)
    one = table.column(shown.by, "by")
    swept = any(table.frame[p].n_unique() > 1 for p in table.paths)
    kept = [one] if one is not None and one not in table.paths else [] if swept else ["name"]
    alike = [*table.paths, *kept, "run", "repetition"]
    several = table.frame.group_by(alike).len()["len"].max() != 1
    adds = metric.endswith("_bps")
    summed = _weighted(results, table.frame, alike) if adds else table.frame
    total = pl.col("value").sum() if adds else pl.col("value").mean()
    frame = summed.group_by(alike, maintain_order=True).agg(value=total)
    frame = frame.join(_delay_by_run(results), on="run", how="inner", maintain_order="left")
    if frame.is_empty():
        raise ResultsError("no queue was in use, so no delay can be drawn")
    before = ("total " if adds else "mean ") if several else ""
    return replace(table, frame=frame), f"{before}{quantity(metric).label}"


def _weighted(results: Results, frame: pl.DataFrame, alike: Sequence[str]) -> pl.DataFrame:
    """Scale each flow's rate to the time in which any flow of its group was measured, so that a sum is one rate.

    Flows that start at different times are measured over different times: the plain sum can exceed the link's rate.
    """
    if not {"start_s", "stop_s"} <= set(results.flows.columns):
        return frame
    times = results.flows.select("run", pl.col("name").cast(pl.String), "start_s", "stop_s")
    timed = frame.join(times, on=["run", "name"], how="left", maintain_order="left")
    whole = pl.col("stop_s").max().over(alike) - pl.col("start_s").min().over(alike)
    part = ((pl.col("stop_s") - pl.col("start_s")) / whole).fill_null(1.0)
    return timed.with_columns(value=pl.col("value") * pl.when(whole > 0).then(part).otherwise(1.0))


def _delay_by_run(results: Results) -> pl.DataFrame:
    """Return the largest mean sojourn of the queues in use: the delay of a packet above the smallest, ms."""
    queues = results.queues
    if not {"mean_sojourn_ms", "utilization"} <= set(queues.columns):
        return pl.DataFrame(schema={"run": pl.Int64, "delay": pl.Float64})
    delay = pl.col("mean_sojourn_ms").cast(pl.Float64)
    known = queues.filter(delay.is_finite() & (pl.col("utilization") > IN_USE))
    return known.group_by("run").agg(delay.max().alias("delay"))


def _panel(
    title: str,
    clouds: Sequence[_Cloud],
    looks: Mapping[str, Look],
    y_label: str,
    metric: str,
    *,
    share: float | None = None,
    joined: bool = False,
) -> Panel:
    """Draw the cells of one panel; with a share, a path through the medians of each curve's cells."""
    x_log, y_log = (_is_log([float(np.median(getattr(c, a))) for c in clouds], [getattr(c, a) for c in clouds])
                    for a in ("x", "y"))  # fmt: skip
    x_on, y_on = (np.log10 if log else _same for log in (x_log, y_log))
    x_off, y_off = (_power if log else _same for log in (x_log, y_log))
    every_x, every_y = (np.concatenate([getattr(c, a) for c in clouds]) for a in ("x", "y"))
    width, height = float(np.ptp(x_on(every_x))), float(np.ptp(y_on(every_y)))
    curves: list[Curve] = []
    for side, look in looks.items():
        cells = [c for c in clouds if c.side == side]
        if cells:
            x, y = (np.array([np.median(getattr(c, a)) for c in cells]) for a in ("x", "y"))
            texts = [c.mark for c in cells] if share is not None else ()
            curves.append(Curve(side or "all runs", look, x, y, kind="line" if joined else "points", texts=texts))
    for cloud in clouds:
        label, look = cloud.side or "all runs", looks[cloud.side]
        across, up = x_on(cloud.x), y_on(cloud.y)
        if cloud.x.size > 1:
            line = ellipse_of(across, up, share=share)
            if line is None or is_slit(line, width, height):
                line = cross_of(across, up, whole_range=share is not None)
            curves.append(Curve(label, look, x_off(line[0]), y_off(line[1]), kind="outline"))
        if share is None:
            curves.append(Curve(label, look, cloud.x, cloud.y, kind="dots"))
    better = metric.endswith("_bps") or metric == "power"
    return Panel(title, "mean queueing delay, ms", y_label, curves, y_from_zero=False,
                 x_log=x_log, y_log=y_log, x_reversed=True, better=better)  # fmt: skip


def _same(values: Floats) -> Floats:
    return values


def _power(values: Floats) -> Floats:
    return np.asarray(10.0**values)


def _is_log(medians: Sequence[float], samples: Sequence[Floats]) -> bool:
    """Return True if the medians differ by a large factor and no value is zero or below."""
    return min(float(s.min()) for s in samples) > 0 and max(medians) >= WIDE * min(medians)
