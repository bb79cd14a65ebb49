"""Swept values as numbers in base units, so that they sort and plot by size.

A frame has the text of each swept value, such as ``"12 Mbit/s"``. Where all texts of a path are quantities of one
kind, a column with the path and a suffix of its unit has the numbers: ``network.bottleneck.rate_bps``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dumbbell.scenario import units

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SUFFIXES", "base_units", "paths_of"]

BDP = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*bdp\s*", re.IGNORECASE)


def _bdp(text: str) -> float:
    match = BDP.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(match[1])


_KINDS: dict[str, Callable[[str], int | float]] = {
    "bps": lambda text: units.Rate(text).bps,
    "s": lambda text: units.Duration(text).seconds,
    "bytes": lambda text: units.ByteCount(text).bytes,
    "packets": lambda text: units.MeanPackets(text).packets,
    "share": lambda text: units.Percentage(text).share,
    "bdp": _bdp,
}
SUFFIXES = tuple(_KINDS)
"""Suffixes of the columns: bit/s, seconds, bytes, packets, a share from 0 to 1, bandwidth-delay products."""


def base_units(values: Sequence[object]) -> tuple[str, list[Any]] | None:
    """Return the values of a swept path in base units.

    Parameters
    ----------
    values : sequence of object
        As a frame holds them: texts such as ``"12 Mbit/s"``; None where a cell doesn't set the path.

    Returns
    -------
    (str, list of int, float or None) or None
        The suffix of the column, and the numbers. None unless all values are quantities of one kind.

    Examples
    --------
    >>> from dumbbell.results.frames.swept_values import base_units
    >>> base_units(["12 Mbit/s", "500 kbit/s"])
    ('bps', [12000000, 500000])
    """
    texts = {value for value in values if isinstance(value, str)}
    if not texts or any(value is not None and not isinstance(value, str) for value in values):
        return None
    for suffix, read in _KINDS.items():
        try:
            known = {text: read(text) for text in texts}
        except ValueError:
            continue
        return suffix, [None if value is None else known[str(value)] for value in values]
    return None


def paths_of(frame: pl.DataFrame) -> list[str]:
    """Return the swept paths of a frame of results, without their columns in base units."""
    before = frame.columns[: frame.columns.index("run")]
    numbers = {f"{path}_{suffix}" for path in before for suffix in SUFFIXES}
    return [column for column in before if column not in numbers]
