"""A column of the results: its declaration, and how its values are shown.

`crates/plan/src/result.rs` declares the columns that a back end measures, and `dumbbell.results.runs.derived_columns`
those that are computed from them. `dumbbell.results.columns` has all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from dumbbell import _core

__all__ = ["Column", "Frame", "measured"]

Frame = Literal["flows", "queues", "transfers"]
"""The frames of results."""

_SHOWN = {
    "bit/s": ("_bps", "Mbit/s", 1e-6),
    "ms": ("_ms", "ms", 1.0),
    "s": ("_s", "s", 1.0),
    "bytes": ("_bytes", "kB", 1e-3),
    "packets": ("_packets", "packets", 1.0),
    "share": ("", "%", 100.0),
}
"""By unit: the suffix of names, the unit that tables and axes show, and the factor to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The declaration of a column.

    Attributes
    ----------
    name : str
    kind : str
        "text", "number" or "count".
    nullable : bool
        True if there may be no value.
    unit : str
        Unit of the values; "share" for a share from 0 to 1 that is shown in percent, empty without one.
    doc : str
        Definition of the values.
    better : {"more", "less"}, optional
        The better direction, where this is clear.
    margin : str, optional
        The difference that matters unless a comparison is given another: a part of the larger mean.
    bounds : (float, float), optional
        Smallest and largest possible value, where unit and type don't state them; see `range`.
    summary : dict, optional
        ``place`` (summaries have their columns in the order of these numbers), ``heading``, and ``where_any`` (True
        if it is left out where all values are zero).
    merge : (str, str), optional
        Of a flow's columns: merge over its connections, and the machine that has the value.
    """

    name: str
    kind: str
    doc: str
    nullable: bool = True
    unit: str = ""
    better: Literal["more", "less"] | None = None
    margin: str | None = None
    bounds: tuple[float, float] | None = None
    summary: dict[str, Any] | None = None
    merge: tuple[str, str] | None = None

    @property
    def stem(self) -> str:
        """The name without the suffix of its unit."""
        return self.name.removesuffix(_SHOWN[self.unit][0]) if self.unit in _SHOWN else self.name

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest possible value: of a share 0 and 1, of a count, a time, a size or a rate 0 and none."""
        if self.bounds is not None:
            return self.bounds
        if self.unit == "share":
            return 0.0, 1.0
        return (0.0 if self.unit or self.kind == "count" else -math.inf), math.inf

    @property
    def shown(self) -> tuple[str, float]:
        """The unit that tables and axes show, and the factor to it; a name that is a unit is shown as it is."""
        suffix, unit, factor = _SHOWN.get(self.unit, ("", "", 1.0))
        return (unit, factor) if self.name.endswith(suffix) else ("", 1.0)


def measured(frame: Frame) -> list[Column]:
    """Return the columns of a frame that back ends measure, in their order."""
    (found,) = (declared for declared in _core.result_columns() if declared["name"] == frame)
    return [Column(**declared) for declared in found["columns"]]
