"""Fairness: the shares of flows at one bottleneck."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["jain", "rtt_slope", "share_ratios", "shares"]


def jain(rates: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Jain's index of fairness over the last axis.

    Parameters
    ----------
    rates : (..., k) float64, any unit
        Rates of k flows.

    Returns
    -------
    (...) float64, no unit
        (sum x)^2 / (k sum x^2): 1 if all are equal, 1/k if one flow has everything; NaN where all are zero.

    References
    ----------
    Jain, R., Chiu, D. M., Hawe, W., DEC-TR-301 (1984).
    """
    x = np.asarray(rates, dtype=np.float64)
    squares = x.shape[-1] * (x**2).sum(axis=-1)
    total = x.sum(axis=-1) ** 2
    return np.asarray(np.divide(total, squares, out=np.full(np.shape(total), np.nan), where=squares > 0))


def shares(rates: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return each flow's part of the sum over the last axis.

    Parameters
    ----------
    rates : (..., k) float64, any unit
        Rates of k flows.

    Returns
    -------
    (..., k) float64, no unit
        From 0 to 1; NaN where all are zero.
    """
    x = np.asarray(rates, dtype=np.float64)
    total = np.broadcast_to(x.sum(axis=-1, keepdims=True), x.shape)
    return np.asarray(np.divide(x, total, out=np.full_like(x, np.nan), where=total > 0))


def share_ratios(rates: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the rate of each flow divided by the fair share, over the last axis.

    Parameters
    ----------
    rates : (..., k) float64, any unit

    Returns
    -------
    (..., k) float64, no unit
        1 is the fair share, k is everything; NaN where all are zero.
    """
    x = np.asarray(rates, dtype=np.float64)
    return np.asarray(shares(x) * x.shape[-1])


def rtt_slope(rtt: npt.ArrayLike, rates: npt.ArrayLike) -> float:
    """Return the RTT unfairness as a power: the slope of rate over RTT, both logarithmic, by least squares.

    Parameters
    ----------
    rtt : (k,) float64, any unit
        Round-trip times without load.
    rates : (k,) float64, any unit
        Rates of the flows.

    Returns
    -------
    float, no unit
        0: RTT doesn't matter; -1: inversely proportional to it; NaN with fewer than two different RTTs among flows
        that got something.
    """
    x, y = np.asarray(rtt, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    valid = (x > 0) & (y > 0)
    if np.unique(x[valid]).size < 2:
        return float("nan")
    across = np.log(x[valid]) - np.log(x[valid]).mean()
    return float((across * np.log(y[valid])).sum() / (across**2).sum())
