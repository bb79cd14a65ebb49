"""The real kernel: chooses link emulation, the kernel's own qdiscs (tc) or virtual time (uml)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from dumbbell.backends.base import Finished, Job
from dumbbell.backends.options import Automatic, Switch, is_on, on_or_auto, one_of
from dumbbell.cli import output
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.host_kernel import Calibration, HostKernel
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.host.live import LiveNetwork
from dumbbell.kernel.host.prompt import Prompt
from dumbbell.kernel.host.tc_backend import Tc
from dumbbell.kernel.uml.backend import Uml

__all__ = ["Kernel"]

Emulation = Literal["best", "link", "tc", "uml"]


class Kernel:
    """The real kernel.

    Parameters
    ----------
    emulation : "best", "link", "tc" or "uml"
        The emulation of the network between the hosts. ``link``: the host's kernel, links emulated by Dumbbell.
        ``tc``: the host's kernel, links made of its queue disciplines. ``uml``: User-mode Linux in virtual time.
        ``best``: the first of these that the host and the scenario allow.
    sample_ms, calibration, max_late_ms, allow_programs, hold
        See `LinkEmulation`.
    offloads : "auto", "off" or "on"
        ``on``: interfaces may segment and merge, so that hosts send super-packets of up to 64 KiB. ``auto``: with
        ``link`` on fast links, else off; see `LinkEmulation`.
    """

    name = "kernel"

    def __init__(
        self,
        emulation: Emulation = "best",
        sample_ms: float = 10.0,
        calibration: Calibration = "refuse",
        max_late_ms: float | None = None,
        offloads: Automatic = "auto",
        allow_programs: Switch = "off",
        hold: Switch = "off",
    ) -> None:
        one_of("emulation", emulation, get_args(Emulation))
        self.emulation: Emulation = emulation
        switched: Switch = "on" if on_or_auto("offloads", offloads) else "off"
        holds = is_on("hold", hold)
        if holds and emulation == "uml":
            raise BackendError(
                "hold: 'on' given: in virtual time the network ends with the run; use emulation=link or tc"
            )
        self._all: dict[str, HostKernel | Uml] = {
            "link": LinkEmulation(sample_ms, calibration, max_late_ms, allow_programs, hold, offloads),
            "tc": Tc(sample_ms, calibration, switched, allow_programs, hold),
            "uml": Uml(sample_ms, offloads=switched, allow_programs=allow_programs),
        }
        if holds:
            del self._all["uml"]
        self.weigh: Callable[[Job], float] | None = None
        """See `HostKernel.weigh`."""

    @property
    def held(self) -> LiveNetwork | None:
        """The network that is held; see `HostKernel.held`."""
        found = (b.held for b in self._all.values() if isinstance(b, HostKernel))
        return next((network for network in found if network is not None), None)

    def converse(self) -> bool:
        """Execute commands of stdin in the network that is held; see `Holder.converse`."""
        network = self.held
        if network is None:
            return False
        output.note(f"network {network.number} is live until the end of the input")
        Prompt(network).run()
        return True

    def release(self) -> None:
        """End the network that is held."""
        for one in self._all.values():
            if isinstance(one, HostKernel):
                one.release()

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse jobs that no emulation can run; see `Backend.check`."""
        self.choose(jobs)

    def choose(self, jobs: Sequence[Job]) -> tuple[HostKernel | Uml, str]:
        """Choose the emulation for these jobs.

        Returns
        -------
        back end, str
            The back end that will run them, and a sentence that names it (and the reasons against those before it).

        Raises
        ------
        BackendError
            None is possible; the message has the reason against each.
        """
        against: dict[str, str] = {}  # each reason once, whichever back end gives it first
        for name in list(self._all) if self.emulation == "best" else [self.emulation]:
            candidate = self._all[name]
            try:
                candidate.check(jobs)
                if isinstance(candidate, Uml):
                    candidate.require_installed()
            except BackendError as e:
                against.setdefault(str(e).partition("': ")[2] or str(e), str(e))
                continue
            because = f", because: {'; '.join(against.values())}" if against else ""
            return candidate, candidate.description + because
        raise BackendError("; ".join(against.values()))

    def steps(self, job: Job) -> list[str]:
        """Return every step of a run.

        The steps of an emulation that was asked for by name are returned even if this host can't run them; a comment
        at the top then has the reason.
        """
        if self.emulation == "best":
            chosen, description = self.choose([job])
            return [f"# {description}", *chosen.steps(job)]
        chosen = self._all[self.emulation]
        steps = chosen.steps(job)
        try:
            self.choose([job])
        except BackendError as e:
            return [f"# {chosen.description}", f"# not on this host: {e}", *steps]
        return [f"# {chosen.description}", *steps]

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Run all jobs; see `Backend.run`."""
        chosen = self.choose(jobs)[0]
        if isinstance(chosen, HostKernel):
            chosen.weigh = self.weigh
        yield from chosen.run(jobs, parallel)
