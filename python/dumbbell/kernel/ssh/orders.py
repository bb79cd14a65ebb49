"""A plan as orders: which machines serve each flow, over which addresses and port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell import _core
from dumbbell.exceptions import BackendError
from dumbbell.kernel.ssh.agent import Agent
from dumbbell.kernel.ssh.connection import named
from dumbbell.kernel.ssh.team import Team, traffic_address

__all__ = ["Pair", "order", "pairs", "to_load"]


@dataclass(frozen=True)
class Pair:
    """The machines of a flow."""

    client: Agent
    server: Agent


def pairs(team: Team, count: int) -> list[Pair]:
    """Return the machines of so many flows: clients and servers in turn, in the order of the file."""
    clients, servers = team.of("client"), team.of("server")
    return [Pair(clients[n % len(clients)], servers[n % len(servers)]) for n in range(count)]


def to_load(plan: dict[str, Any], chosen: Sequence[Pair]) -> dict[str, list[str]]:
    """Return, by machine, the congestion control that its agent must load as BPF.

    Raises
    ------
    BackendError
        A machine can't have a flow's congestion control: the flow, the machine, the remedy.
    """
    names = _core.kernel_variants()
    found: dict[str, list[str]] = {}
    for flow, pair in zip(plan["flows"], chosen, strict=True):
        variant = flow["transport"].get("variant")
        if variant is None:
            continue
        kernel_name = names[variant["name"]]
        for agent in (pair.client, pair.server):
            if (refused := _refusal(agent, kernel_name)) is None:
                continue
            if agent.about["bpf"] and kernel_name in _core.bpf_variants():
                loaded = found.setdefault(agent.machine.name, [])
                if kernel_name not in loaded:
                    loaded.append(kernel_name)
                continue
            raise BackendError(f"flows.{flow['name']}.variant: {named(agent.machine)} {refused}")
    return found


def _refusal(agent: Agent, name: str) -> str | None:
    """Return why an agent's sockets can't have a congestion control; None if they can."""
    about = agent.about
    if name in about["allowed"] or (name in about["available"] and about["root"]):
        return None
    if name in about["available"]:
        every = " ".join([*about["allowed"], name])
        command = f"sysctl -w net.ipv4.tcp_allowed_congestion_control='{every}'"
        return f"doesn't allow '{name}' to its agent's user: `{command}` as root there"
    return f"doesn't have '{name}' (it has {', '.join(about['available'])}): `modprobe tcp_{name}` as root there"


def order(
    plan: dict[str, Any], agent: Agent, chosen: Sequence[Pair], team: Team, sample_ns: int, bpf: Sequence[str]
) -> dict[str, Any]:
    """Return the request that prepares a run on a machine."""
    first, last = team.hosts.ports
    if len(chosen) > last - first + 1:
        raise BackendError(
            f"flows: {len(chosen)} given, but {team.hosts.file} has only {last - first + 1} ports: widen `ports`"
        )
    flows = [
        {
            "addresses": [traffic_address(pair.client), traffic_address(pair.server)],
            "port": first + n,
            "local": [agent is pair.client, agent is pair.server],
        }
        for n, pair in enumerate(chosen)
    ]
    return {"do": "prepare", "plan": plan, "sample_ns": sample_ns, "bpf": list(bpf), "flows": flows}
