"""The host's own kernel, its queue disciplines included: what `tc` and netem can do, on the real clock."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from dumbbell import _core
from dumbbell.backends import programs
from dumbbell.backends.base import Job
from dumbbell.backends.options import Switch, is_on, where
from dumbbell.backends.own_link import Calibration, OwnLink
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host import discipline_remedy, probe, why_no_veth

__all__ = ["Tc"]

CLOCK_MOVED_MS = 0.2
"""A run is doubtful if the wall clock, by which the kernel stamps packets, was set by more than this during it."""


class Tc(OwnLink):
    """The host's kernel between veth pairs: the layout of the virtual machine, made of the host's own disciplines.

    Parameters
    ----------
    sample_ms, calibration
        See `OwnLink`.
    offloads : "off" or "on"
        Whether interfaces may segment and merge: hosts then send super-packets of up to 64 KiB.
    """

    way = "tc"
    said = "kernel: this host's own, over its queue disciplines (tc)"

    def __init__(
        self, sample_ms: float = 10.0, calibration: Calibration = "refuse", offloads: Switch = "off"
    ) -> None:
        super().__init__(sample_ms, calibration)
        self.offloads = is_on("offloads", offloads)

    @cached_property
    def _found(self) -> dict[str, str | None]:
        """The disciplines that were tried: None, or why it is impossible."""
        reason = self._why_not()
        if reason is not None:
            raise BackendError(f"back end 'kernel': {reason}")
        return probe().disciplines

    def _lay_out(self, job: Job) -> tuple[list[str], list[str], list[str], dict[str, str]]:
        try:
            return _core.host_topology(json.dumps(programs.commands(job.plan()), allow_nan=False), self.offloads)
        except _core.RunError as e:
            raise BackendError(f"back end 'kernel': {e}{where(job)}") from None

    def _layout(self, job: Job) -> tuple[list[str], list[str], list[str]]:
        steps, flows, variants, disciplines = self._lay_out(job)
        self._refuse_absent(job, disciplines)
        return steps, flows, variants

    def _refuse_absent(self, job: Job, disciplines: dict[str, str]) -> None:
        """Refuse what needs a discipline that the host's kernel lacks."""
        for kind, place in disciplines.items():
            if self._found.get(kind) is not None:
                raise BackendError(
                    f"back end 'kernel': {place}: needs '{kind}', which this host's kernel doesn't have: "
                    f"{discipline_remedy(kind)}{where(job)}"
                )

    def steps(self, job: Job) -> list[str]:
        """Give every step of a run as a command that would do the same; what the host lacks is no matter here."""
        steps, flows, variants, _ = self._lay_out(job)
        return self._around(steps, flows, variants)

    def _how(self) -> dict[str, Any]:
        return {"way": "tc", "offloads": self.offloads}

    def _why_not(self) -> str | None:
        return why_no_veth()

    def _verdict(self, facts: dict[str, Any], plan: dict[str, Any]) -> tuple[list[str], list[str]]:
        del plan
        link = facts["link"]
        invalid, warnings = [], []
        if link["missed"]:
            invalid.append(f"the taps missed {link['missed']} packets: the figures lack them")
        if abs(link["clock_moved_ms"]) > CLOCK_MOVED_MS:
            invalid.append(f"the wall clock was set by {link['clock_moved_ms']:.3g} ms during the run")
        if link["strays"]:
            warnings.append(f"{link['strays']} packets left a link in another order than they came to it")
        return invalid, warnings
