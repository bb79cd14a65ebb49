"""Time-sequence graphs in the format of xplot, with tcptrace's colors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from dumbbell.capture.capture import Capture
from dumbbell.capture.figures import talkers
from dumbbell.capture.output import name_of
from dumbbell.capture.sequence import time_sequence
from dumbbell.exceptions import CaptureError
from dumbbell.plots.time_sequence import Strokes, TimeSequence

__all__ = ["write_xplot"]


def write_xplot(capture: Capture, folder: Path) -> list[Path]:
    """Write a file for each direction with payload: of the chosen connections, or of the largest ones.

    Raises
    ------
    CaptureError
        If a file can't be written, or the capture can't be read a second time.
    """
    if capture.chosen:
        rows = pl.concat(list(capture.tables.pages("flows"))).filter(pl.col("payload_bytes") > 0)
    else:
        rows = talkers(capture)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for row in rows.iter_rows(named=True):
            place = folder / f"sequence-{row['flow']}-{row['direction']}.xpl"
            lines = _lines(time_sequence(capture, row), f"{name_of(row)} (time sequence graph)", capture.origin_ns)
            place.write_text("\n".join(lines) + "\n", encoding="utf-8")
            written.append(place)
    except OSError as e:
        raise CaptureError(f"{folder}: can't be written: {e.strerror or e}") from None
    return written


def _lines(found: TimeSequence, title: str, origin_ns: int) -> Iterator[str]:
    yield from ("timeval double", "title", title, "xlabel", "time", "ylabel", "sequence number")
    begin = origin_ns * 1e-9

    def at(t: float) -> str:
        return f"{begin + t:.6f}"

    for color, part in (("white", found.sent), ("red", found.again), ("pink", found.late), ("purple", found.selected)):
        yield from _strokes(color, part, begin)
    for color, (times, numbers) in (("green", found.acked), ("yellow", found.window)):
        if times.size:
            yield color
        for n in range(1, len(times)):
            before, now = numbers[n - 1], numbers[n]
            yield f"line {at(times[n - 1])} {before:.0f} {at(times[n])} {before:.0f}"
            if now != before:
                yield f"line {at(times[n])} {before:.0f} {at(times[n])} {now:.0f}"
    for time, number in zip(*found.closed, strict=True):
        yield f"atext {at(time)} {number:.0f} yellow"
        yield "Z"
    yield "go"


def _strokes(color: str, part: Strokes, begin: float) -> Iterator[str]:
    if part.t.size:
        yield color
    for time, low, high in zip(np.asarray(part.t) + begin, part.low, part.high, strict=True):
        yield f"darrow {time:.6f} {low:.0f}"
        yield f"uarrow {time:.6f} {high:.0f}"
        yield f"line {time:.6f} {low:.0f} {time:.6f} {high:.0f}"
