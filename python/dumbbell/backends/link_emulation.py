"""The host's own kernel with emulated links: the simulator's links run in real time between real TCP stacks."""

from __future__ import annotations

import json
from typing import Any

from dumbbell import _core
from dumbbell.backends import programs
from dumbbell.backends.base import Job
from dumbbell.backends.host_kernel import Calibration, HostKernel, Requirements
from dumbbell.backends.options import cell_of, number
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host import why_not

__all__ = ["LinkEmulation"]


class LinkEmulation(HostKernel):
    """The host's kernel, with links that Dumbbell emulates between TUN devices.

    Parameters
    ----------
    sample_ms, calibration
        See `HostKernel`.
    max_late_ms : float, optional
        A run is marked invalid if more than one packet in a hundred is delivered later than this. Default: the
        transmission time of 1500 bytes on the slowest link.
    """

    emulation = "link"
    description = "kernel: this host's own, with link emulation"

    def __init__(
        self, sample_ms: float = 10.0, calibration: Calibration = "refuse", max_late_ms: float | None = None
    ) -> None:
        super().__init__(sample_ms, calibration)
        self.max_late_ms = None if max_late_ms is None else number("max_late_ms", max_late_ms, 1e-6)

    def _requirements(self, job: Job) -> Requirements:
        try:
            return Requirements(*_core.plan_link(json.dumps(programs.commands(job.plan()), allow_nan=False)))
        except _core.RunError as e:
            raise BackendError(f"back end 'kernel': {e}{cell_of(job)}") from None

    def _why_not(self) -> str | None:
        return why_not()

    def _verdict(self, facts: dict[str, Any], plan: dict[str, Any]) -> tuple[list[str], list[str]]:
        link = facts["link"]
        invalid, warnings = [], []
        allowed = self.max_late_ms or packet_ms(plan)
        if link["late_p99_ms"] > allowed:
            reason = (
                ""
                if link["real_time"]
                else "; without real-time priority (root) that is to be expected on a busy host"
            )
            invalid.append(
                f"one packet in a hundred was delivered more than {link['late_p99_ms']:.3g} ms late; "
                f"{allowed:.3g} ms are allowed (max_late_ms){reason}"
            )
        if link["missed"]:
            invalid.append(
                f"{link['missed']} packets of the hosts were dropped before they reached the emulated link"
            )
        if link["refused_by_hosts"]:
            warnings.append(f"the hosts did not accept {link['refused_by_hosts']} packets")
        return invalid, warnings


def packet_ms(plan: dict[str, Any]) -> float:
    """Return the transmission time of 1500 bytes on the slowest link, ms."""
    slowest = min((link["rate_bps"] for link in plan["links"]), default=1)
    return 1500 * 8 / slowest * 1e3
