"""Follows a capture that is being written: running lines on stderr, and an orderly end after Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dumbbell.cli import output

if TYPE_CHECKING:
    import polars as pl

__all__ = ["following", "stopping"]

SECOND = 1.0
"""Least time between two blocks of lines, s: a stored capture that is piped in has many seconds in one."""


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C into the end of the input; gives a function that is False after it."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: True
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: not stopped
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def following() -> Iterator[tuple[Callable[..., bool], Callable[[pl.DataFrame], None]]]:
    """Give the functions for progress, and for the flows of a second."""
    last = -SECOND

    def show(flows: pl.DataFrame) -> None:
        nonlocal last
        if time.monotonic() - last < SECOND:
            return
        last = time.monotonic()
        for row in flows.iter_rows(named=True):
            rtt = "-" if row["rtt_mean_ms"] is None else f"{row['rtt_mean_ms']:.4g} ms"
            output.note(
                f"#{row['flow']} {row['src']}:{row['src_port']} -> {row['dst']}:{row['dst_port']}  "
                f"{row['throughput_bps'] * 1e-6:.4g} Mbit/s  {row['packets']} packets  "
                f"{row['retransmitted']} sent again  RTT {rtt}"
            )

    with stopping() as go_on:
        yield (lambda *_: go_on()), show
