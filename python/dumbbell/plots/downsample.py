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

__all__ = ["COLUMNS", "thin"]

Floats = npt.NDArray[np.float64]

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
