"""The offset of a machine's steady clock from ours, from an exchange of timestamps over its connection.

A request sent at t0 and answered at t1 (both ours) gets the machine's time T, read in between. T - (t0 + t1) / 2 is
the offset, wrong by at most (t1 - t0) / 2 [RFC 5905 §8]. The fastest exchange gives the least bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from dumbbell.kernel.ssh.agent import Agent

__all__ = ["Offset", "best", "offset"]

EXCHANGES = 20


@dataclass(frozen=True)
class Offset:
    """An offset between two clocks.

    Attributes
    ----------
    ns : int
        The machine's clock minus ours.
    bound_ns : int
        The largest error of it.
    """

    ns: int
    bound_ns: int


def best(exchanges: list[tuple[int, int, int]]) -> Offset:
    """Return the offset with the least bound from exchanges (t0, the machine's time, t1), ns.

    Examples
    --------
    >>> best([(0, 5_000, 200), (1_000, 6_030, 1_020)])
    Offset(ns=5020, bound_ns=10)
    """
    t0, there, t1 = min(exchanges, key=lambda e: e[2] - e[0])
    return Offset(there - (t0 + t1) // 2, (t1 - t0 + 1) // 2)


async def offset(agent: Agent) -> Offset:
    """Measure the offset of an agent's clock."""
    exchanges = []
    for _ in range(EXCHANGES):
        t0 = time.monotonic_ns()
        answer = await agent.ask({"do": "clock"})
        exchanges.append((t0, int(answer.document["steady"]), time.monotonic_ns()))
    return best(exchanges)
