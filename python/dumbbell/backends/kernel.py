"""The real kernel, by the best way that this host has: its own kernel, or the one in virtual time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from dumbbell.backends.base import Finished, Job
from dumbbell.backends.options import Switch, is_on, one_of
from dumbbell.backends.own_link import Calibration, OwnLink
from dumbbell.backends.tc import Tc
from dumbbell.backends.uml import Uml
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import program
from dumbbell.kernel.store import find

__all__ = ["Kernel"]

Way = Literal["best", "link", "tc", "uml"]


class Kernel:
    """The real kernel.

    Parameters
    ----------
    way : "best", "link", "tc" or "uml"
        ``link``: the host's kernel over our own link. ``tc``: the same over its own queue disciplines. ``uml``: the
        kernel in virtual time. ``best``: the first of them that host and scenario allow.
    sample_ms, calibration, max_late_ms
        See `OwnLink`.
    offloads : "off" or "on"
        Whether interfaces may segment and merge, so that hosts send super-packets of up to 64 KiB (not over our own
        link).
    """

    name = "kernel"

    def __init__(
        self,
        way: Way = "best",
        sample_ms: float = 10.0,
        calibration: Calibration = "refuse",
        max_late_ms: float | None = None,
        offloads: Switch = "off",
    ) -> None:
        one_of("way", way, get_args(Way))
        self.way: Way = way
        on = is_on("offloads", offloads)
        if on and way == "link":
            raise BackendError("offloads: 'on' given: our own link takes packets of the size that it carries; way=tc")
        self._ways: dict[str, OwnLink | Uml] = {
            "link": OwnLink(sample_ms, calibration, max_late_ms),
            "tc": Tc(sample_ms, calibration, offloads=offloads),
            "uml": Uml(sample_ms, offloads=offloads),
        }
        if on:
            del self._ways["link"]

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
        against: dict[str, str] = {}  # each reason once, whichever way gives it first
        for name in list(self._ways) if self.way == "best" else [self.way]:
            way = self._ways[name]
            try:
                if isinstance(way, Uml):
                    program()
                    find()
                way.check(jobs)
            except BackendError as e:
                against.setdefault(str(e).partition("': ")[2] or str(e), str(e))
                continue
            because = f", because: {'; '.join(against.values())}" if against else ""
            return way, way.said + because
        raise BackendError("; ".join(against.values()))

    def steps(self, job: Job) -> list[str]:
        """Give every step of a run; see `choose`. Of a way that was asked for also where the host can't do it."""
        if self.way == "best":
            way, said = self.choose([job])
            return [f"# {said}", *way.steps(job)]
        way = self._ways[self.way]
        steps = way.steps(job)
        try:
            self.choose([job])
        except BackendError as e:
            return [f"# {way.said}", f"# not on this host: {e}", *steps]
        return [f"# {way.said}", *steps]

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Make all runs; see `Backend.run`."""
        yield from self.choose(jobs)[0].run(jobs, parallel)
