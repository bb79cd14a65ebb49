"""A processor for each virtual machine: its halves take turns, and on two processors each turn wakes the other."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["claimed", "on_one"]


@contextmanager
def claimed() -> Iterator[int | None]:
    """Claim a processor that no other run on this machine has claimed.

    Yields
    ------
    The processor's number, as long as the context lasts; None if all are claimed.
    """
    for number in sorted(os.sched_getaffinity(0)):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            # A name without a file: it goes with the process that has it.
            claim.bind(f"\0dumbbell-processor-{number}")
        except OSError:
            claim.close()
            continue
        with claim:
            yield number
        return
    yield None


@contextmanager
def on_one(number: int | None) -> Iterator[None]:
    """Keep this thread, and what it starts, on the processor of that number; None: wherever it may be."""
    if number is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
