"""A metric of one flow over a sweep, as arrays: values by cell, in the order of the repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

__all__ = ["Cells"]

Key = tuple[str | float, ...]


class Cells:
    """Rows of a results frame, grouped by some of its columns.

    Parameters
    ----------
    frame : polars.DataFrame
        `Results.flows` or `Results.queues`, narrowed to one flow or queue: one row for each run.
    keys : sequence of str
        The columns that distinguish the cells.
    """

    def __init__(self, frame: pl.DataFrame, keys: Sequence[str]) -> None:
        self._frame = frame.sort("repetition", maintain_order=True)
        self._rows: dict[Key, list[int]] = {}
        for number, key in enumerate(self._frame.select(keys).iter_rows()):
            self._rows.setdefault(key, []).append(number)
        self._columns: dict[str, npt.NDArray[np.float64]] = {}

    def keys(self) -> list[Key]:
        """List the cells, in the order of the sweep."""
        return list(self._rows)

    def get(self, metric: str, *key: str | float) -> npt.NDArray[np.float64]:
        """Return a metric by repetition.

        Returns
        -------
        (n,) float64, the unit of the metric
            NaN where a run had no value; empty if no such cell exists.
        """
        if metric not in self._columns:
            values = self._frame[metric].cast(pl.Float64).fill_null(np.nan)
            self._columns[metric] = values.to_numpy()
        return self._columns[metric][self._rows.get(key, [])]
