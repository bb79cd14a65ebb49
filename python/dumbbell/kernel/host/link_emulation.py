"""The host's own kernel with emulated links: the simulator's links run in real time between real TCP stacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dumbbell import _core
from dumbbell.backends.base import Job
from dumbbell.backends.options import Automatic, Switch, cell_of, number, on_or_auto
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.features import why_not
from dumbbell.kernel.host.host_kernel import Calibration, HostKernel, Requirements
from dumbbell.kernel.programs import commands

__all__ = ["LinkEmulation"]

LEAST_QUEUE = 4
"""Packets: below, runs with a p99 lateness of 5 % of a packet's time have half the simulator's goodput and less."""


class LinkEmulation(HostKernel):
    """The host's kernel, with links that Dumbbell emulates between TUN devices.

    Parameters
    ----------
    sample_ms, calibration, allow_programs, hold
        See `HostKernel`.
    max_late_ms : float, optional
        A run is marked invalid if more than one packet in a hundred is delivered later than this. Default: the
        transmission time of 1500 bytes on the slowest link, with offloads at least the interval of deliveries to
        hosts; then it is also invalid if one packet is later than a quarter of the time that the shortest queue
        holds.
    offloads : "auto", "off" or "on"
        ``on``: hosts send and receive super-packets of up to 64 KiB; the links between have packets of the MTU.
        ``auto``: on if all links are faster than 200 Mbit/s.
    """

    emulation = "link"
    description = "kernel: this host's own, with link emulation"

    def __init__(
        self,
        sample_ms: float = 10.0,
        calibration: Calibration = "refuse",
        max_late_ms: float | None = None,
        allow_programs: Switch = "off",
        hold: Switch = "off",
        offloads: Automatic = "auto",
    ) -> None:
        super().__init__(sample_ms, calibration, allow_programs, hold)
        self.max_late_ms = None if max_late_ms is None else number("max_late_ms", max_late_ms, 1e-6)
        self.offloads = on_or_auto("offloads", offloads)

    def _requirements(self, job: Job) -> Requirements:
        try:
            plan = json.dumps(commands.commands(job.plan()), allow_nan=False)
            return Requirements(*_core.plan_link(plan, self.offloads))
        except _core.RunError as e:
            raise BackendError(f"back end 'kernel': {e}{cell_of(job)}") from None

    def _order(self) -> dict[str, Any]:
        """Return the part of the order that depends on the emulation."""
        return {"emulation": self.emulation, "offloads": self.offloads}

    def _why_not(self) -> str | None:
        return why_not()

    def _verdict(self, facts: dict[str, Any], plan: dict[str, Any]) -> tuple[list[str], list[str]]:
        link = facts["link"]
        invalid, warnings = [], []
        # With offloads hosts receive packets once per interval: a smaller lateness moves no packet into another one.
        allowed = self.max_late_ms or max(packet_ms(plan), link["moderation_ms"])
        if link["late_p99_ms"] > allowed:
            reason = (
                "" if link["real_time"] else "; without real-time priority (root) that is to be expected on a busy host"
            )
            invalid.append(
                f"one packet in a hundred was delivered more than {link['late_p99_ms']:.3g} ms late; "
                f"{allowed:.3g} ms are allowed (max_late_ms){reason}"
            )
        invalid += short_queues(plan)
        held = shortest_queue_ms(plan)
        if self.max_late_ms is None and held is not None and link["late_max_ms"] > held / 4:
            invalid.append(
                f"a packet was delivered {link['late_max_ms']:.3g} ms late: more than a quarter of the {held:.3g} ms "
                "that the shortest queue holds"
            )
        if link["missed"]:
            invalid.append(f"{link['missed']} packets of the hosts were dropped before they reached the emulated link")
        if link["refused_by_hosts"]:
            warnings.append(f"the hosts did not accept {link['refused_by_hosts']} packets")
        return invalid, warnings


def _limits(plan: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each link whose DropTail queue has a limit in packets, with that limit."""
    for link in plan["links"]:
        limit = str(link["queue"]["params"].get("limit", ""))
        if link["queue"]["name"] == "droptail" and limit.endswith("packets"):
            yield link, int(limit.split(maxsplit=1)[0])


def short_queues(plan: dict[str, Any]) -> list[str]:
    """Return a sentence for each queue so short that microseconds decide which packets it drops."""
    return [
        f"the queue of {link['name']} holds {limit} packets: with fewer than {LEAST_QUEUE}, microseconds decide "
        "which packets it drops, and no real clock is so exact: use the simulator, or --backend uml"
        for link, limit in _limits(plan)
        if limit < LEAST_QUEUE
    ]


def shortest_queue_ms(plan: dict[str, Any]) -> float | None:
    """Return the least time that a full DropTail queue takes to empty, ms; None without a limit in packets."""
    return min((limit * 1500 * 8 / link["rate_bps"] * 1e3 for link, limit in _limits(plan)), default=None)


def packet_ms(plan: dict[str, Any]) -> float:
    """Return the transmission time of 1500 bytes on the slowest link, ms."""
    slowest = min((link["rate_bps"] for link in plan["links"]), default=1)
    return 1500 * 8 / slowest * 1e3
