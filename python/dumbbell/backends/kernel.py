"""The real kernel, by the best way that this host has: its own kernel, or the one in virtual time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from dumbbell.backends.base import Finished, Job
from dumbbell.backends.own_link import Calibration, OwnLink
from dumbbell.backends.uml import Uml
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import GUEST
from dumbbell.kernel.store import installed
from dumbbell.registry import unknown

__all__ = ["Kernel"]

Way = Literal["best", "link", "uml"]


class Kernel:
    """The real kernel.

    Parameters
    ----------
    way : "best", "link" or "uml"
        ``link``: the host's kernel over our own link. ``uml``: the kernel in virtual time. ``best``: the first if the
        host and the scenario allow it, else the second.
    sample_ms, calibration, max_late_ms
        See `OwnLink`.
    """

    name = "kernel"

    def __init__(
        self,
        way: Way = "best",
        sample_ms: float = 10.0,
        calibration: Calibration = "refuse",
        max_late_ms: float | None = None,
    ) -> None:
        if way not in get_args(Way):
            raise BackendError(unknown("way", way, list(get_args(Way))))
        self.way: Way = way
        self._link = OwnLink(sample_ms, calibration, max_late_ms)
        self._uml = Uml(sample_ms)

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse what none of the ways can do; see `Backend.check`."""
        self.choose(jobs)

    def choose(self, jobs: Sequence[Job]) -> tuple[OwnLink | Uml, str]:
        """Choose the way for these runs; gives it, and a sentence that says so.

        Raises
        ------
        BackendError
            None is possible: what speaks against each.
        """
        if self.way == "uml":
            return self._uml, "kernel: in virtual time (uml)"
        try:
            self._link.check(jobs)
        except BackendError as e:
            if self.way == "link" or not (installed() and GUEST.exists()):
                more = (
                    "" if self.way == "link" else "; nor is the virtual-time kernel built (`dumbbell kernel build`)"
                )
                raise BackendError(f"{e}{more}") from None
            self._uml.check(jobs)
            return self._uml, f"kernel: in virtual time (uml), because: {e}"
        return self._link, "kernel: this host's own, over Dumbbell's link"

    def steps(self, job: Job) -> list[str]:
        """Give every step of a run; see `choose`."""
        way, said = self.choose([job])
        return [f"# {said}", *way.steps(job)]

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Make all runs; see `Backend.run`."""
        yield from self.choose(jobs)[0].run(jobs, parallel)
