"""The report of `dumbbell doctor --hosts FILE`: each machine, and what is missing on it for ``--backend ssh``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.doctor import Finding, Report
from dumbbell.kernel.ssh.agent import Agent
from dumbbell.kernel.ssh.clock import Offset, offset
from dumbbell.kernel.ssh.hosts import Hosts, Machine, read
from dumbbell.kernel.ssh.team import traffic_address

__all__ = ["examine_hosts"]

TIMEOUT_S = 10.0
BOUND_MS = 2.5
"""Error bound of a clock's offset, ms, up to which two machines start within 5 ms of each other."""


def examine_hosts(file: Path, timeout_s: float = TIMEOUT_S) -> Report:
    """Examine every machine of a hosts file.

    Raises
    ------
    BackendError
        The file isn't valid.
    """
    hosts = read(file)
    sections = asyncio.run(_all(hosts, timeout_s))
    return Report(
        {f"{m.name} ({m.role}, {m.address})": found for m, found in zip(hosts.machines, sections, strict=True)}
    )


async def _all(hosts: Hosts, timeout_s: float) -> list[list[Finding]]:
    return await asyncio.gather(*(_machine(hosts, machine, timeout_s) for machine in hosts.machines))


async def _machine(hosts: Hosts, machine: Machine, timeout_s: float) -> list[Finding]:
    try:
        agent = await Agent.start(hosts, machine, timeout_s, keep=False)
    except BackendError as e:
        return [Finding("agent", False, "no", str(e))]
    try:
        return list(_findings(agent, await offset(agent)))
    except BackendError as e:
        return [Finding("agent", False, "no", str(e))]
    finally:
        await agent.close()


def _findings(agent: Agent, clock: Offset) -> Iterator[Finding]:
    about = agent.about
    user = "root" if about["root"] else "an ordinary user"
    yield Finding("agent", True, f"runs as {user}, Linux {about['kernel']}")
    try:
        yield Finding("address of the flows", True, traffic_address(agent))
    except BackendError as e:
        yield Finding("address of the flows", False, "no", str(e))
    bound_ms = clock.bound_ns * 1e-6
    far = f"runs start more than 5 ms apart: the round trip over SSH takes {2 * bound_ms:.3g} ms"
    yield Finding(
        "clock", bound_ms <= BOUND_MS, f"offset known to {bound_ms:.3g} ms", far if bound_ms > BOUND_MS else None
    )
    if agent.machine.role == "router":
        yield from _router(agent)
        return
    usable = about["available"] if about["root"] else about["allowed"]
    yield Finding("congestion control", True, ", ".join(usable))
    refused = [name for name in about["available"] if name not in usable]
    if refused:
        every = " ".join(about["available"])
        remedy = f'`sysctl -w net.ipv4.tcp_allowed_congestion_control="{every}"` as root'
        yield Finding("congestion control for root only", False, ", ".join(refused), remedy)


def _router(agent: Agent) -> Iterator[Finding]:
    settings = agent.about["settings"]
    forwards = settings["ip_forward"] == "1"
    yield Finding(
        "forwards packets",
        forwards,
        "yes" if forwards else "no",
        None if forwards else "`sysctl -w net.ipv4.ip_forward=1` as root",
    )
    strict = settings["conf/all/rp_filter"] == "1"
    yield Finding(
        "reverse path filter",
        not strict,
        "strict" if strict else "off or loose",
        "`sysctl -w net.ipv4.conf.all.rp_filter=2` as root" if strict else None,
    )
    tun = agent.about["tun"]
    yield Finding("TUN interfaces", tun, "yes" if tun else "no", None if tun else "`modprobe tun` as root")
