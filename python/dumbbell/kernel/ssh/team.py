"""All machines of a hosts file, with an agent on each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from dumbbell.exceptions import BackendError
from dumbbell.kernel.ssh.agent import Agent
from dumbbell.kernel.ssh.clock import Offset, offset
from dumbbell.kernel.ssh.connection import named
from dumbbell.kernel.ssh.hosts import Hosts, Machine

__all__ = ["Team", "all_of"]

T = TypeVar("T")


async def all_of(*waiting: Awaitable[T]) -> list[T]:
    """Wait for all; the first error cancels the others and is raised alone."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_awaited(one)) for one in waiting]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


async def _awaited(one: Awaitable[T]) -> T:
    return await one


class Team:
    """The machines of a hosts file.

    Parameters
    ----------
    hosts : Hosts
        The file.
    timeout_s : float
        Longest wait for a connection, and for a sign of life of a machine, s.
    keep : bool
        True if the agents' executables stay on the machines.
    """

    def __init__(self, hosts: Hosts, timeout_s: float, *, keep: bool) -> None:
        self.hosts = hosts
        self._timeout_s = timeout_s
        self._keep = keep
        self._agents: dict[str, Agent] = {}

    async def ready(self) -> None:
        """Start the agents that don't run."""

        async def start(machine: Machine) -> None:
            self._agents[machine.name] = await Agent.start(self.hosts, machine, self._timeout_s, keep=self._keep)

        await all_of(*(start(m) for m in self.hosts.machines if m.name not in self._agents))

    def of(self, role: str) -> list[Agent]:
        """Return the agents of a role, in the file's order."""
        return [self._agents[m.name] for m in self.hosts.of(role)]

    def all(self) -> list[Agent]:
        """Return all agents, in the file's order."""
        return [self._agents[m.name] for m in self.hosts.machines]

    async def offsets(self) -> dict[str, Offset]:
        """Measure the offsets of all clocks, one after the other so that the exchanges don't delay each other."""
        return {agent.machine.name: await offset(agent) for agent in self.all()}

    def abort(self) -> None:
        """End all connections now; the agents end with them."""
        for agent in self._agents.values():
            agent.abort()
        self._agents.clear()

    async def close(self) -> None:
        """End all agents and connections."""
        agents, self._agents = list(self._agents.values()), {}
        await asyncio.gather(*(agent.close() for agent in agents), return_exceptions=True)


def traffic_address(agent: Agent) -> str:
    """Return the address of the interface that carries a machine's flows.

    Raises
    ------
    BackendError
        The machine has no such interface with an IPv4 address.
    """
    interfaces: dict[str, str] = agent.about["interfaces"]
    wanted = agent.machine.interface
    if wanted is not None:
        if wanted not in interfaces:
            raise BackendError(
                f"{named(agent.machine)}: interface '{wanted}' has no IPv4 address, or is down "
                f"(with one: {', '.join(sorted(interfaces))})"
            )
        return interfaces[wanted]
    if agent.address in interfaces.values():
        return agent.address
    raise BackendError(
        f"{named(agent.machine)}: SSH has reached it at {agent.address}, which none of its interfaces has as IPv4 "
        f'address: give interface = "..." (it has {", ".join(sorted(interfaces))})'
    )


def settings_that_differ(plan: dict[str, Any], agent: Agent) -> list[str]:
    """Return a sentence for each setting of a machine's kernel that differs from the stacks of a plan.

    An ordinary user can't change them, and they hold for the machine's other connections too.
    """
    found = []
    settings: dict[str, str] = agent.about["settings"]
    for flow in plan["flows"]:
        stack = flow["transport"].get("stack")
        for parameter, name, values in SWITCHES:
            given = (stack or {}).get("params", {}).get(parameter)
            if isinstance(given, bool) and settings.get(name, values[given]) != values[given]:
                found.append(
                    f"host '{agent.machine.name}': net.ipv4.{name} is {settings[name]}, but flow '{flow['name']}' "
                    f"has stack.{parameter} = {str(given).lower()}"
                )
    return list(dict.fromkeys(found))


SWITCHES = (
    ("timestamps", "tcp_timestamps", ("0", "1")),
    ("dsack", "tcp_dsack", ("0", "1")),
    ("frto", "tcp_frto", ("0", "2")),
    ("rack", "tcp_recovery", ("0", "1")),
    ("tlp", "tcp_early_retrans", ("0", "3")),
    ("ecn", "tcp_ecn", ("0", "1")),
    ("idle_restart", "tcp_slow_start_after_idle", ("0", "1")),
)
"""Parameters of a stack, the settings under ``net.ipv4`` that have them, and the values for false and true."""
