"""Harm: the part of its performance alone that a flow loses because of a competitor.

References
----------
Ware, R., Mukerjee, M. K., Seshan, S., Sherry, J., "Beyond Jain's Fairness Index: Setting the Bar For The
Deployment of Congestion Control Algorithms", HotNets 2019.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["harm"]


def harm(
    solo: npt.ArrayLike, contested: npt.ArrayLike, *, better: Literal["more", "less"] = "more"
) -> npt.NDArray[np.float64]:
    """Return the harm done to a flow.

    Parameters
    ----------
    solo, contested : (...) float64, any one unit
        The quantity alone on the path, and beside the other flow.
    better : {"more", "less"}
        Whether more of it is better (goodput) or less (delay, loss).

    Returns
    -------
    (...) float64, no unit
        (solo - contested) / solo, or (contested - solo) / contested where less is better: 0 is no harm, 1 is
        everything lost, below 0 the company helped; NaN where the base is zero.
    """
    alone, beside = np.asarray(solo, dtype=np.float64), np.asarray(contested, dtype=np.float64)
    lost, base = (alone - beside, alone) if better == "more" else (beside - alone, beside)
    lost, base = np.broadcast_arrays(lost, base)
    return np.asarray(np.divide(lost, base, out=np.full(lost.shape, np.nan), where=base != 0))
