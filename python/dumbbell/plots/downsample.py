"""Downsampling of long series to the resolution of a figure, without hiding a peak.

Time is divided into columns about as wide as a pixel. Of each column the first, the smallest, the largest and the
last value are kept (M4 aggregation): the line through them covers the same pixels as the line through all values.

References
----------
Jugel, U., Jerzak, Z., Hackenbroich, G., Markl, V., "M4: A Visualization-Oriented Time Series Data Aggregation",
VLDB 2014.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dumbbell.plots.spec import Floats

__all__ = ["COLUMNS", "distinct", "merged", "summary_of_steps", "thin"]

COLUMNS = 1200
"""Columns of a figure: more than a panel has pixels across."""


def thin(x: npt.ArrayLike, y: npt.ArrayLike, columns: int = COLUMNS) -> tuple[Floats, Floats]:
    """Keep at most four points of each column.

    Parameters
    ----------
    x : (n,) float64, any unit
        Not decreasing.
    y : (n,) float64, any unit
        NaN (a gap in the line) is kept where it begins a column only.
    columns : int

    Returns
    -------
    x, y : (k,) float64, k <= max(n, 4 * columns)
        The points kept, in order; all of them if they are few.
    """
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if xs.size <= 4 * columns or xs[-1] <= xs[0]:
        return xs, ys
    column = np.minimum(((xs - xs[0]) / (xs[-1] - xs[0]) * columns).astype(np.int64), columns - 1)
    starts = np.flatnonzero(np.concatenate(([True], np.diff(column) > 0)))
    ends = np.concatenate((starts[1:], [xs.size])) - 1
    order = np.lexsort((ys, column))  # within each column by value, NaN last
    numbers = (~np.isnan(ys)).astype(np.int64)
    known = np.add.reduceat(numbers, starts)
    largest = np.where(known > 0, order[starts + np.maximum(known, 1) - 1], starts)
    kept = np.unique(np.concatenate((starts, order[starts], largest, ends)))
    return xs[kept], ys[kept]


def merged(
    x: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, columns: int = COLUMNS
) -> tuple[Floats, Floats, Floats]:
    """Merge the vertical strokes of each column into one from the lowest to the highest end.

    Parameters
    ----------
    x : (n,) float64, any unit
        Not decreasing.
    low, high : (n,) float64, any unit
        Ends of the strokes.
    columns : int

    Returns
    -------
    x, low, high : (k,) float64, k <= columns, or k = n where n <= columns
        A merged stroke is at the first x of its column.
    """
    xs, lows, highs = (np.asarray(values, dtype=np.float64) for values in (x, low, high))
    if xs.size <= columns or xs[-1] <= xs[0]:
        return xs, lows, highs
    column = np.minimum(((xs - xs[0]) / (xs[-1] - xs[0]) * columns).astype(np.int64), columns - 1)
    starts = np.flatnonzero(np.concatenate(([True], np.diff(column) > 0)))
    return xs[starts], np.minimum.reduceat(lows, starts), np.maximum.reduceat(highs, starts)


def distinct(x: npt.ArrayLike, y: npt.ArrayLike, columns: int = COLUMNS) -> tuple[Floats, Floats]:
    """Keep one of the marks that would cover each other.

    Parameters
    ----------
    x, y : (n,) float64, any units
        Places of marks.
    columns : int
        Columns and rows of the figure; a mark is kept in each cell that has any.

    Returns
    -------
    x, y : (k,) float64, k <= n
        The first mark of each cell, in order; all marks if there are at most `columns`.
    """
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if xs.size <= columns:
        return xs, ys
    kept = np.sort(np.unique(np.stack((_cell(xs, columns), _cell(ys, columns))), axis=1, return_index=True)[1])
    return xs[kept], ys[kept]


def _cell(values: Floats, cells: int) -> npt.NDArray[np.int64]:
    """Return the cell of each value between the smallest and the largest; NaN is in cell -1."""
    known = values[np.isfinite(values)]
    if not known.size or known.max() <= known.min():
        return np.where(np.isfinite(values), 0, -1)
    share = (values - known.min()) / (known.max() - known.min()) * cells
    return np.where(np.isfinite(values), np.nan_to_num(share, posinf=0, neginf=0), -1).astype(np.int64)


def summary_of_steps(t: npt.ArrayLike, y: npt.ArrayLike, edges: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Summarize a step function in windows of time.

    Parameters
    ----------
    t : (n,) float64, seconds
        Times from which each value holds; increasing.
    y : (n,) float64, any unit
        The values.
    edges : (k + 1,) float64, seconds
        Borders of the windows.

    Returns
    -------
    mean, low, high : (k,) float64, the unit of `y`
        Mean over time, smallest and largest value in each window; NaN before the first value.
    """
    ts, ys, borders = (np.asarray(values, dtype=np.float64) for values in (t, y, edges))
    # The borders become rows of their own, so that every window begins with the value at its border.
    place = np.searchsorted(ts, borders, side="right") - 1
    held = np.where(place >= 0, ys[np.maximum(place, 0)], np.nan) if ts.size else np.full(borders.shape, np.nan)
    times = np.concatenate((borders, ts))
    order = np.argsort(times, kind="stable")
    times, values = times[order], np.concatenate((held, ys))[order]
    starts = np.flatnonzero(order < borders.size)
    lasts = np.diff(times, append=times[-1])
    area = np.add.reduceat(values * lasts, starts)[:-1]
    low = np.fmin.reduceat(values, starts)[:-1]
    high = np.fmax.reduceat(values, starts)[:-1]
    return area / np.diff(borders), low, high
