"""One run on all machines: prepared everywhere, begun at the same instant, collected."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from dumbbell.kernel.ssh.agent import Agent, Answer
from dumbbell.kernel.ssh.clock import Offset
from dumbbell.kernel.ssh.team import Team, all_of

__all__ = ["Made", "make"]

LEAD_NS = 150_000_000
"""Time between the last request and the beginning of a run, ns, beside the time that requests take."""
LONGEST_RUN_S = 60.0
"""Time after a run's duration until which its results must be there, s."""
MS = 1e-6


@dataclass(frozen=True)
class Made:
    """The answers of a run.

    Attributes
    ----------
    ends : list of Answer
        Of clients and servers.
    router : Answer or None
        Of the router.
    before, after : dict of str to Offset
        Offsets of the machines' clocks before and after the run.
    late_ms : dict of str to float
        Lateness of the machines' first action.
    """

    ends: list[Answer]
    router: Answer | None
    before: dict[str, Offset]
    after: dict[str, Offset]
    late_ms: dict[str, float]

    def clocks(self) -> dict[str, dict[str, float]]:
        """Return, by machine, offset, its error bound, and the drift during the run, ms."""
        return {
            name: {
                "offset_ms": first.ns * MS,
                "bound_ms": first.bound_ns * MS,
                "drift_ms": (self.after[name].ns - first.ns) * MS,
                "drift_bound_ms": (self.after[name].bound_ns + first.bound_ns) * MS,
                "late_ms": self.late_ms.get(name, 0.0),
            }
            for name, first in self.before.items()
        }

    def start_spread_ms(self) -> float:
        """Return the largest possible difference between two machines' starts, ms."""
        latest = [self.late_ms.get(name, 0.0) + first.bound_ns * MS for name, first in self.before.items()]
        earliest = [self.late_ms.get(name, 0.0) - first.bound_ns * MS for name, first in self.before.items()]
        return max(latest) - min(earliest) if latest else 0.0


async def make(team: Team, orders: dict[str, dict[str, Any]], duration_s: float, timeout_s: float) -> Made:
    """Make a run; ``orders`` has each machine's request that prepares it."""
    routers, ends = team.of("router"), [*team.of("client"), *team.of("server")]
    before = await team.offsets()
    # The router first: its links carry the first packet.
    for group in (routers, ends):
        await all_of(*(agent.ask(orders[agent.machine.name]) for agent in group))
    zero = time.monotonic_ns() + LEAD_NS
    for agent in [*routers, *ends]:
        agent.send({"do": "go", "zero": zero + before[agent.machine.name].ns})
    limit_s = duration_s + timeout_s + LONGEST_RUN_S
    answers, router = await _collected(routers, ends, team, limit_s)
    after = await team.offsets()
    late = {a.machine.name: float(answer.document["late_ms"]) for a, answer in zip(ends, answers, strict=True)}
    return Made(answers, router, before, after, late)


async def _collected(
    routers: list[Agent], ends: list[Agent], team: Team, limit_s: float
) -> tuple[list[Answer], Answer | None]:
    """Wait for all answers. When all data have arrived, the senders and the router have nothing left to do."""
    receivers = [agent for agent in ends if agent in team.of("server")]
    others = [agent for agent in [*routers, *ends] if agent not in receivers]

    async def receive() -> list[Answer]:
        found = await all_of(*(agent.answer(limit_s) for agent in receivers))
        for agent in others:
            agent.send({"do": "stop"})
        return found

    async def rest(agent: Agent) -> Answer:
        found = await agent.answer(limit_s)
        await agent.answer(limit_s)  # the answer to stop
        return found

    received, remaining = await all_of(receive(), all_of(*(rest(agent) for agent in others)))
    by_agent = dict(zip([*receivers, *others], [*received, *remaining], strict=True))
    return [by_agent[agent] for agent in ends], by_agent[routers[0]] if routers else None
