"""Follows a capture that is being written: running lines on stderr, and an orderly end after Ctrl-C.

The core waits for the next frame without Python. So that Ctrl-C ends this wait, a thread passes stdin on through a
pipe, and ends the pipe when a signal comes. The core sees an end of the pipe in each case: the reason is kept here.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.cli import output

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.capture import Capture

__all__ = ["Input", "following", "stopping"]

SECOND = 1.0
"""Least time between two blocks of lines, s: a stored capture that is piped in has many seconds in one."""
CHUNK = 1 << 20
"""Bytes that are passed on at once, at most: the largest pipe that Linux gives without rights [pipe(7)]."""
NO_SPLICE = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of a source that can be read but not spliced [splice(2)]."""


@dataclass
class Input:
    """The end of an input.

    Attributes
    ----------
    stopped : bool
        Ctrl-C ended it.
    error : OSError or None
        The error that ended stdin.
    passed : int, bytes
        Bytes of stdin before this error.
    """

    stopped: bool = False
    error: OSError | None = None
    passed: int = 0

    def go_on(self, *_: object) -> bool:
        """Return True until Ctrl-C; a function for progress."""
        return not self.stopped

    def analyze(self, run: Callable[[], Capture]) -> Capture:
        """Analyze the input; its damage has the reason of the end. CaptureError if an error came before any frame."""
        from dumbbell.exceptions import CaptureError

        try:
            capture = run()
        except CaptureError:
            if self.error is not None:
                raise CaptureError(f"standard input: {self.error.strerror}") from None
            raise
        if self.stopped:
            capture.damage = []  # maybe inside a frame
        elif self.error is not None:
            frames = sum(p["packets"] for p in capture.properties)
            place = {"file": "standard input", "offset": self.passed, "frames": frames}
            capture.damage = [{**place, "text": f"reading stopped: {self.error.strerror}"}]
        return capture


@contextmanager
def stopping(names: list[str]) -> Iterator[Input]:
    """Turn Ctrl-C into the end of the input.

    A program that ignores Ctrl-C, such as a background job, goes on.
    """
    state = Input()

    def stop(*_: object) -> None:
        state.stopped = True

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield state
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        if "-" in names and os.name == "posix" and not stat.S_ISREG(os.fstat(0).st_mode):
            with _ending_stdin(state):
                yield state
        else:
            yield state
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _ending_stdin(state: Input) -> Iterator[None]:
    """Replace descriptor 0 by a pipe with the same bytes that ends with SIGINT or SIGTERM."""
    source = os.dup(0)
    reader, writer = os.pipe()
    with suppress(ImportError, AttributeError, OSError):
        import fcntl  # not on every system

        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, CHUNK)
    signaled, signals = os.pipe()
    os.set_blocking(signals, False)
    os.dup2(reader, 0)
    os.close(reader)
    # Python's handlers run in the main thread, which waits in the core; this descriptor gets the signal at once.
    before = signal.set_wakeup_fd(signals, warn_on_full_buffer=False)
    relay = threading.Thread(target=_relay, args=(source, writer, signaled, state), daemon=True)
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


def _relay(source: int, sink: int, signaled: int, state: Input) -> None:
    """Pass bytes on until the source ends or fails, the sink is closed or a signal comes."""
    move = getattr(os, "splice", None)
    try:
        while True:
            ready = select.select([source, signaled], [], [])[0]
            if signaled in ready and {signal.SIGINT, signal.SIGTERM} & set(os.read(signaled, 64)):
                break
            if source not in ready:
                continue
            try:
                count = move(source, sink, CHUNK) if move else _copy(source, sink)
            except OSError as e:
                if move is None or e.errno not in NO_SPLICE:
                    raise
                move = None
                continue
            if not count:
                break
            state.passed += count
    except BrokenPipeError:
        pass  # the sink is closed
    except OSError as e:
        state.error = e
    # The core sees the end only now, after the reason is known.
    os.close(sink)


def _copy(source: int, sink: int) -> int:
    data = memoryview(os.read(source, 1 << 16))
    count = len(data)
    while data:
        data = data[os.write(sink, data) :]
    return count


@contextmanager
def following(names: list[str]) -> Iterator[tuple[Input, Callable[[pl.DataFrame], None]]]:
    """Give the input, and the function for the flows of a second."""
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

    with stopping(names) as state:
        yield state, show
