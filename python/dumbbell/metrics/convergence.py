"""Convergence: the time until a flow's share has settled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["convergence_time"]


def convergence_time(
    time: npt.ArrayLike, share: npt.ArrayLike, *, target: float | None = None, within: float = 0.1, hold: float = 5.0
) -> float:
    """Return the first moment from which the share stays near its target for `hold` seconds.

    Parameters
    ----------
    time : (n,) float64, seconds
        Ends of equal windows, increasing.
    share : (n,) float64, no unit
        Share of the flow in each window; a window with NaN is not near the target.
    target : float, no unit, optional
        The value that it should settle at; default: the mean over the last third of the windows (its final share).
    within : float, no unit
        Largest distance from the target that counts as near.
    hold : float, seconds
        How long it has to stay near.

    Returns
    -------
    float, seconds
        NaN if it doesn't settle, or too late for `hold` to be seen.
    """
    t, x = np.asarray(time, dtype=np.float64), np.asarray(share, dtype=np.float64)
    if t.size < 2:
        return float("nan")
    if target is None:
        target = float(np.nanmean(x[-max(1, x.size // 3) :]))
    window = float(np.median(np.diff(t)))
    need = max(1, round(hold / window))
    near = np.abs(x - target) <= within
    run = 0
    for k in range(x.size):
        run = run + 1 if near[k] else 0
        if run == need:
            return float(t[k - need + 1] - window)
    return float("nan")
