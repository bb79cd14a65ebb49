"""Packet-delivery traces in the form of mahimahi's mm-link.

Each line is a whole number of milliseconds: one opportunity to deliver 1500 bytes at that time. The times do not
decrease, and equal lines are several opportunities. After the time of the last line the trace begins again. `read`
reads such a file for a link's ``rate = { trace = ... }``; `write` makes one from the deliveries of a link in a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dumbbell.common.numbers import whole
from dumbbell.common.reading import read_text
from dumbbell.exceptions import DumbbellError, ResultsError

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["OPPORTUNITY", "Trace", "deliveries", "read", "write"]

OPPORTUNITY = 1500
"""Bytes of one line."""


@dataclass(frozen=True)
class Trace:
    """A trace.

    Attributes
    ----------
    times : (n,) int64, ms
        The distinct times, ascending.
    counts : (n,) int64
        How many lines each has.
    """

    times: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    @property
    def period(self) -> int:
        """Period after which it starts again, ms."""
        return int(self.times[-1])

    @property
    def mean_bps(self) -> int:
        """Its mean rate, bit/s."""
        return int(self.counts.sum()) * OPPORTUNITY * 8 * 1000 // self.period

    def until(self, end_ns: int) -> list[tuple[int, int]]:
        """List the times up to ``end_ns``, each with its count: those that a run of that length needs."""
        last = int(np.searchsorted(self.times, end_ns // 1_000_000, side="right"))
        return list(zip(self.times[:last].tolist(), self.counts[:last].tolist(), strict=True))

    @classmethod
    def of(cls, lines: Iterable[int]) -> Trace:
        """Make a trace of its lines; ValueError names the wrong one."""
        found = np.fromiter(lines, dtype=np.int64)
        if found.size == 0:
            raise ValueError("it has no line: at least one time in ms is needed")
        falls = np.flatnonzero(np.diff(found) < 0)
        if falls.size:
            line = int(falls[0]) + 2
            raise ValueError(f"line {line}: {found[line - 1]} given, but the line before is {found[line - 2]}")
        if found[-1] == 0:
            raise ValueError("the last line is 0: a trace has to last longer than that")
        times, counts = np.unique(found, return_counts=True)
        return cls(times, counts.astype(np.int64))


def read(path: str | os.PathLike[str]) -> Trace:
    """Read a trace.

    Raises
    ------
    ValueError
        With the number of the invalid line.
    OSError
    """
    place = Path(path)
    status = place.stat()
    return _read(place, status.st_mtime_ns, status.st_size)


LARGEST = 256_000_000
"""Bytes of the largest trace."""
LATEST = 10**12
"""The latest time, ms: 30 years."""


@lru_cache(maxsize=64)
def _read(path: Path, _changed: int, _size: int) -> Trace:
    return Trace.of(_number(line, text) for line, text in enumerate(read_text(path, LARGEST).splitlines(), 1))


def _number(line: int, text: str) -> int:
    number = whole(text)
    if number is None:
        shown = text if len(text) <= 20 else f"{text[:20]}..."
        raise ValueError(f"line {line}: '{shown}' given: a whole number of milliseconds is needed")
    if number >= LATEST:
        raise ValueError(f"line {line}: '{text}' ms is too long")
    return number


def deliveries(
    end_ns: npt.NDArray[np.generic], sizes: npt.NDArray[np.generic], *, from_ns: int = 0
) -> npt.NDArray[np.int64]:
    """Turn the packets that a link has sent into the lines of a trace.

    Each 1500 bytes sent make a line, at the first whole millisecond after their transmission: a link that replays the
    trace delivers no byte earlier than this one did. A rest of less than 1500 bytes at the end makes no line.

    Parameters
    ----------
    end_ns : (n,) array, ns
        End of the transmission of each packet.
    sizes : (n,) array, bytes
        Their wire sizes.
    from_ns : int
        Start of the trace; earlier packets do not count.

    Returns
    -------
    (m,) int64, ms
    """
    times, size = end_ns.astype(np.int64), sizes.astype(np.int64)
    after = times > from_ns
    order = np.argsort(times[after], kind="stable")
    times, out = times[after][order] - from_ns, np.cumsum(size[after][order])
    total = int(out[-1]) // OPPORTUNITY if out.size else 0
    completing = np.searchsorted(out, OPPORTUNITY * np.arange(1, total + 1))
    return -(-times[completing] // 1_000_000)


def write(results: Results, link: str, path: str | os.PathLike[str], *, run: int = 0, from_ns: int = 0) -> int:
    """Write the deliveries of a link in a run as a trace.

    The run needs the table of the link's departures: ``trace.series = true`` (or ``["departures"]``). A packet in
    transmission when the run ends counts as delivered at the end of its transmission.

    Parameters
    ----------
    results : Results
    link : str
        A direction of a link, such as ``"r1->r2"``.
    path : path
        The file to write.
    run : int
        Which run.
    from_ns : int
        The time of the run at which the trace begins, ns.

    Returns
    -------
    int
        The number of lines.

    Raises
    ------
    ResultsError
        If the run has no such table, or the link has delivered less than a line.
    """
    table = results.arrays(run, f"departures/{link}")
    lines = deliveries(table["end_ns"], table["bytes"], from_ns=from_ns)
    if lines.size == 0:
        raise ResultsError(f"{link} has delivered less than {OPPORTUNITY} bytes: that makes no trace")
    try:
        Path(path).write_text("".join(f"{ms}\n" for ms in lines), encoding="utf-8")
    except OSError as e:
        raise DumbbellError(f"{os.fspath(path)}: can't be written: {e.strerror or e}") from None
    return int(lines.size)
