"""Numbers for a page: short lists as they are, long ones as 32-bit floats in base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["pack"]

SHORT = 12
"""Numbers up to which a list is as short as its base64."""


def pack(values: npt.ArrayLike) -> list[float | None] | dict[str, Any]:
    """Return an array for JSON.

    Parameters
    ----------
    values : (n,) float64, any unit
        NaN and infinities are gaps.

    Returns
    -------
    list or dict
        A list with None for gaps; or ``float32``, little-endian 32-bit floats in base64 with NaN for gaps, and
        ``offset``, which is added to each. The offset is the smallest value, so a difference between neighbors keeps
        seven digits of the range, even if the values themselves are large (sequence numbers, times of a day).
    """
    array = np.asarray(values, dtype=np.float64)
    array = np.where(np.isfinite(array), array, np.nan)
    if array.size <= SHORT:
        return [None if np.isnan(v) else float(f"{v:.7g}") for v in array.tolist()]
    offset = 0.0 if np.isnan(array).all() else float(np.nanmin(array))
    data = base64.b64encode((array - offset).astype("<f4").tobytes()).decode()
    return {"offset": offset, "float32": data}
