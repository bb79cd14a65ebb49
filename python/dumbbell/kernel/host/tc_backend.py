"""The host's own kernel with links made of its own queue disciplines (tc, netem), in real time."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from dumbbell import _core
from dumbbell.backends.base import Job
from dumbbell.backends.options import Switch, cell_of, is_on
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.features import discipline_remedy, probe, why_no_veth
from dumbbell.kernel.host.host_kernel import Calibration, HostKernel, Requirements
from dumbbell.kernel.programs import commands

__all__ = ["Tc"]

CLOCK_MOVED_MS = 0.2
"""A run is invalid if the wall clock, which stamps the captured packets, was set by more than this during it."""


class Tc(HostKernel):
    """The host's kernel, with veth pairs and the host's own queue disciplines as links, as in the virtual machine.

    Parameters
    ----------
    sample_ms, calibration, allow_programs, hold
        See `HostKernel`.
    offloads : "off" or "on"
        ``on``: interfaces may segment and merge, so that hosts send super-packets of up to 64 KiB.
    """

    emulation = "tc"
    description = "kernel: this host's own, with its own queue disciplines (tc)"

    def __init__(
        self,
        sample_ms: float = 10.0,
        calibration: Calibration = "refuse",
        offloads: Switch = "off",
        allow_programs: Switch = "off",
        hold: Switch = "off",
    ) -> None:
        super().__init__(sample_ms, calibration, allow_programs, hold)
        self.offloads = is_on("offloads", offloads)

    @cached_property
    def _disciplines(self) -> dict[str, str | None]:
        """For each discipline None, or why the kernel can't have it."""
        reason = self._why_not()
        if reason is not None:
            raise BackendError(f"back end 'kernel': {reason}")
        return probe().disciplines

    def _translated(self, job: Job) -> tuple[Requirements, dict[str, str]]:
        """Translate a plan; also returns the disciplines that it needs, each with the place that asks for it."""
        try:
            *needed, disciplines = _core.plan_tc(
                json.dumps(commands.commands(job.plan()), allow_nan=False), self.offloads
            )
        except _core.RunError as e:
            raise BackendError(f"back end 'kernel': {e}{cell_of(job)}") from None
        return Requirements(*needed), disciplines

    def _requirements(self, job: Job) -> Requirements:
        needed, disciplines = self._translated(job)
        for kind, place in disciplines.items():
            if self._disciplines.get(kind) is not None:
                raise BackendError(
                    f"back end 'kernel': {place}: needs '{kind}', which this host's kernel doesn't have: "
                    f"{discipline_remedy(kind)}{cell_of(job)}"
                )
        return needed

    def steps(self, job: Job) -> list[str]:
        """Return every step of a run as a command that would do the same, even if the host lacks a discipline."""
        return self._all_steps(self._translated(job)[0])

    def _order(self) -> dict[str, Any]:
        return {"emulation": self.emulation, "offloads": self.offloads}

    def _why_not(self) -> str | None:
        return why_no_veth()

    def _verdict(self, facts: dict[str, Any], plan: dict[str, Any]) -> tuple[list[str], list[str]]:
        del plan
        link = facts["link"]
        invalid, warnings = [], []
        if link["missed"]:
            invalid.append(f"the taps missed {link['missed']} packets: the results lack them")
        if abs(link["clock_moved_ms"]) > CLOCK_MOVED_MS:
            invalid.append(f"the wall clock was set by {link['clock_moved_ms']:.3g} ms during the run")
        if link["strays"]:
            warnings.append(f"{link['strays']} packets left a link in another order than they reached it")
        return invalid, warnings
