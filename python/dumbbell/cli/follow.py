"""Follows a capture that is being written: running lines on stderr, and an orderly end after Ctrl-C.

The core waits for the next frame without Python. So that Ctrl-C ends this wait, a thread passes stdin on through a
pipe, and ends the pipe when a signal comes.
"""

from __future__ import annotations

import os
import select
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from dumbbell.cli import output

if TYPE_CHECKING:
    import polars as pl

__all__ = ["following", "stopping"]

SECOND = 1.0
"""Least time between two blocks of lines, s: a stored capture that is piped in has many seconds in one."""
CHUNK = 1 << 20
"""Bytes that are passed on at once, at most: the largest pipe that Linux gives without rights [pipe(7)]."""


@contextmanager
def stopping(names: list[str]) -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C into the end of the input; gives a function that is False after it.

    A program that ignores Ctrl-C, such as a background job, goes on.
    """
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield lambda: True
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        if "-" in names and os.name == "posix" and not stat.S_ISREG(os.fstat(0).st_mode):
            with _ending_stdin():
                yield lambda: not stopped
        else:
            yield lambda: not stopped
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _ending_stdin() -> Iterator[None]:
    """Replace descriptor 0 by a pipe with the same bytes that ends with SIGINT or SIGTERM."""
    source = os.dup(0)
    reader, writer = os.pipe()
    with suppress(ImportError, AttributeError, OSError):
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, CHUNK)
    signaled, signals = os.pipe()
    os.set_blocking(signals, False)
    os.dup2(reader, 0)
    os.close(reader)
    # Python's handlers run in the main thread, which waits in the core; this descriptor gets the signal at once.
    before = signal.set_wakeup_fd(signals, warn_on_full_buffer=False)
    relay = threading.Thread(target=_relay, args=(source, writer, signaled), daemon=True)
    relay.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.dup2(source, 0)  # ends a write that waits
        with suppress(BlockingIOError):
            os.write(signals, bytes([signal.SIGINT]))
        relay.join()
        for descriptor in (source, signaled, signals):
            os.close(descriptor)


def _relay(source: int, sink: int, signaled: int) -> None:
    """Pass bytes on until the source ends, the sink is closed or a signal comes."""
    move = getattr(os, "splice", None)
    with suppress(OSError):  # the sink is closed
        while True:
            ready = select.select([source, signaled], [], [])[0]
            if signaled in ready and {signal.SIGINT, signal.SIGTERM} & set(os.read(signaled, 64)):
                break
            if source not in ready:
                continue
            try:
                count = move(source, sink, CHUNK) if move else _copy(source, sink)
            except OSError as e:
                if move is None or isinstance(e, BrokenPipeError):
                    raise
                move = None  # this kind of source can't be spliced
                continue
            if not count:
                break
    os.close(sink)


def _copy(source: int, sink: int) -> int:
    data = memoryview(os.read(source, 1 << 16))
    count = len(data)
    while data:
        data = data[os.write(sink, data) :]
    return count


@contextmanager
def following(names: list[str]) -> Iterator[tuple[Callable[..., bool], Callable[[pl.DataFrame], None]]]:
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

    with stopping(names) as go_on:
        yield (lambda *_: go_on()), show
