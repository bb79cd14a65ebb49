"""One processor for each virtual machine.

The kernel of User-mode Linux and its guest processes take turns, so a second processor brings no gain, and waking the
other one at each turn costs time: 60 s of simulated time took 15 s on two processors and 3 s on one.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["claimed", "pinned"]


@contextmanager
def claimed() -> Iterator[int | None]:
    """Claim a processor that no other run on this machine has claimed.

    Yields
    ------
    int or None
        The processor's number, claimed as long as the context lasts; None if all are claimed.
    """
    for number in sorted(os.sched_getaffinity(0)):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            # An abstract socket address [unix(7)]: the kernel releases it when the process ends.
            claim.bind(f"\0dumbbell-processor-{number}")
        except OSError:
            claim.close()
            continue
        with claim:
            yield number
        return
    yield None


@contextmanager
def pinned(number: int | None) -> Iterator[None]:
    """Pin this thread, and the processes that it starts, to a processor; None leaves it as it is."""
    if number is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
