"""Two captures of one path, matched packet by packet: one-way delays, losses, reordering."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dumbbell import _core
from dumbbell.capture.read import Name
from dumbbell.capture.tables import frame_of
from dumbbell.exceptions import CaptureError

__all__ = ["Pair", "pair"]


@dataclass
class Pair:
    """The analysis of two captures of one path.

    Attributes
    ----------
    files : (str, str)
        A and B.
    interval_s : float
        Length of the intervals of `series`, s.
    offset_ns : float
        B's clock minus A's at the first packet, ns. Without a common clock this is an estimate: the least delays of
        both directions are assumed to be equal.
    drift : float
        How much faster B's clock runs, s/s.
    both_ways : bool
        True if packets of both directions were matched. If not, the least delay counts as zero.
    round_trip_ms : float or None
        Least round-trip time between A and B, ms; it does not depend on the clocks.
    same_clock : bool
        Both captures have one clock: delays are absolute.
    packets : (int, int, int)
        TCP segments and UDP datagrams of A, of B, and those in both.
    flows : polars.DataFrame
        A row for each direction of each connection; direction 0 is from A to B.
    series : polars.DataFrame
        A row for each direction and interval.
    matches : polars.DataFrame or None
        A row for each packet in both captures, if it was asked for.
    damage : list of str
        Places where the files can't be read further.
    """

    files: tuple[str, str]
    interval_s: float
    offset_ns: float
    drift: float
    both_ways: bool
    round_trip_ms: float | None
    same_clock: bool
    packets: tuple[int, int, int]
    flows: pl.DataFrame
    series: pl.DataFrame
    matches: pl.DataFrame | None
    damage: list[str]

    def busy(self, most: int = 10) -> pl.DataFrame:
        """Return the directions that carried the most packets, without those that have no matched packet."""
        return self.flows.filter(pl.col("matched") > 0).sort("packets_first", descending=True).head(most)

    def summary(self) -> Iterator[str]:
        """Describe the result in sentences."""
        a, b, both = self.packets
        yield f"A has {a} TCP and UDP packets, B {b}; {both} are in both."
        if not both:
            yield "Nothing was matched: no captures of one path at one time, or addresses are translated."
            return
        if self.same_clock:
            yield "Both captures have one clock: delays are absolute."
        elif self.both_ways:
            yield (
                f"B's clock is {self.offset_ns * 1e-9:+.6f} s from A's and drifts by {self.drift * 1e6:+.3g} µs/s; "
                f"the least round-trip time is {self.round_trip_ms:.4g} ms, assumed to be equal in both directions."
            )
        else:
            yield "Packets of one direction only: delays are relative to the least one."
        seen, lost = (int(self.flows[c].sum()) for c in ("packets_first", "lost"))
        yield f"{lost} of {seen} packets were lost between the capture points ({100 * lost / max(seen, 1):.3g} %)."

    def document(self) -> dict[str, Any]:
        """Return everything but the matches as ``--json`` prints it; units are in the names, null is unknown."""
        return {
            "format": 1,
            "files": list(self.files),
            "summary": list(self.summary()),
            "same_clock": self.same_clock,
            "offset_ns": self.offset_ns,
            "drift": self.drift,
            "both_ways": self.both_ways,
            "round_trip_ms": self.round_trip_ms,
            "interval_s": self.interval_s,
            "packets": dict(zip(("a", "b", "both"), self.packets, strict=True)),
            "damage": self.damage,
            "flows": self.flows.to_dicts(),
            "series": self.series.to_dicts(),
        }


def pair(
    a: Name,
    b: Name,
    *,
    interval_s: float | None = None,
    same_clock: bool = False,
    matches: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Pair:
    """Match two captures of one path packet by packet.

    Parameters
    ----------
    a, b : path
        Two captures of the same traffic, A the one nearer to the sender. Both are read several times, so neither may
        be the standard input.
    interval_s : float, optional
        Length of the intervals of series, s; default: at most 2000 of them.
    same_clock : bool
        Both captures have one clock (one machine, a simulation, PTP): delays are absolute.
    matches : bool
        Keep a row for each packet in both (56 bytes each).
    progress : callable, optional
        Called with the number of bytes read from both files.

    Returns
    -------
    Pair

    Raises
    ------
    CaptureError
        If a file can't be read at all.
    """
    names = (os.fspath(a), os.fspath(b))
    for name in names:
        if name == "-" or (Path(name).exists() and not Path(name).is_file()):
            raise CaptureError(f"{name}: a pair is read more than once, so both must be files")
    if interval_s is not None and interval_s <= 0:
        raise CaptureError(f"interval: {interval_s} s given: must be above zero")
    step = None if interval_s is None else max(1, round(interval_s * 1e9))
    try:
        found: dict[str, Any] = _core.analyze_pair(
            *names, interval_ns=step, same_clock=same_clock, matches=matches, progress=progress
        )
    except _core.CaptureError as e:
        raise CaptureError(str(e)) from None
    round_trip = float(found["round_trip_ms"])
    count_a, count_b, both = found["packets"]
    return Pair(
        files=names,
        interval_s=found["interval_ns"] * 1e-9,
        offset_ns=found["offset_ns"],
        drift=found["drift"],
        both_ways=found["both_ways"],
        round_trip_ms=None if round_trip != round_trip else round_trip,  # noqa: PLR0124 - NaN
        same_clock=same_clock,
        packets=(count_a, count_b, both),
        flows=frame_of(found["flows"]),
        series=frame_of(found["series"]),
        matches=frame_of(found["matches"]) if matches else None,
        damage=found["damage"],
    )
