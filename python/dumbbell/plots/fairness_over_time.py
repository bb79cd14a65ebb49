"""Fairness over time: the share of each flow and Jain's index, in sliding windows.

References
----------
Jain, R., Chiu, D. M., Hawe, W., "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in
Shared Computer Systems", DEC-TR-301 (1984).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import jain, sliding_rate
from dumbbell.plots.flows_over_time import flow_label, flow_looks, flows_of, span_of, title_of
from dumbbell.plots.spec import Curve, Floats, Panel, Picture

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = ["fairness"]

WINDOW = 1 / 20
"""Default length of a window, in parts of the run."""
STEPS = 10
"""Windows that begin within the length of one."""


def fairness(
    results: Results, run: Run, *, flow: Sequence[str] | None = None, window_s: float | None = None
) -> Picture:
    """Draw each flow's share of the goodput and Jain's index, in sliding windows of time.

    Raises
    ------
    ResultsError
        For fewer than two flows with a series.
    """
    names = flows_of(results, run, flow)
    if len(names) < 2:
        raise ResultsError("fairness over time needs at least two flows with a series")
    begin, end = span_of(results, run)
    window = window_s or (end - begin) * WINDOW
    # A window is drawn at its end.
    ends = np.arange(begin + window, end + window / STEPS / 2, window / STEPS)
    rates = np.stack([_rate(results, run, name, ends, window) for name in names], axis=-1)
    active = np.stack([_is_active(run, name, ends, window) for name in names], axis=-1)
    known = np.where(active, rates, 0.0)
    count, total = active.sum(axis=-1), rates.sum(axis=-1)
    shares = np.divide(rates, total[:, None], out=np.full(rates.shape, np.nan), where=active & (total[:, None] > 0))
    fair = np.divide(1.0, count, out=np.full(count.shape, np.nan), where=count > 0)
    # Flows that are not active count as zeros, so the index over all flows is scaled to the number of active ones.
    index = np.where(count > 1, jain(known) * len(names) / np.maximum(count, 1), np.nan)
    looks = flow_looks(run, names)
    curves = [Curve(flow_label(run, name), looks[name], ends, shares[:, k] * 100.0) for k, name in enumerate(names)]
    curves.append(Curve("equal shares", "limit", ends, np.where(count > 1, fair, np.nan) * 100.0, kind="steps"))
    span = (begin, end)
    top = Panel("", "time, s", "share of the goodput, %", curves, x_range=span, y_top=102.0)
    bottom = Panel("Jain's index", "time, s", "Jain's index", [Curve("Jain's index", "total", ends, index)],
                   x_range=span, y_top=1.02, height=0.55)  # fmt: skip
    reading = f"Median of Jain's index: {np.nanmedian(index):.3g}." if not np.isnan(index).all() else ""
    note = (
        f"Windows of {window:.3g} s, drawn at their end. Shares of the goodput of all flows. A flow has a share, and "
        "Jain's index counts it, in windows in which it is active from beginning to end."
    )
    return Picture("fairness", title_of(run, "Fairness over time"), reading, [top, bottom], markers=False, note=note)


def _rate(results: Results, run: Run, name: str, ends: Floats, window: float) -> Floats:
    """Return the goodput of a flow in the windows that end at given times, bit/s."""
    table = results.table(run, f"flow/{name}")
    return np.nan_to_num(sliding_rate(table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy(), ends, window))


def _is_active(run: Run, name: str, ends: Floats, window: float) -> npt.NDArray[np.bool_]:
    """Return True for the windows in which a flow is active from beginning to end."""
    row = next(row for row in run.flows if row["name"] == name)
    return np.asarray((ends - window >= row["start_s"] - 1e-9) & (ends <= row["stop_s"] + 1e-9))
