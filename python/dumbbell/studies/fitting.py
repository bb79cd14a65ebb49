"""The part of a quick study that the host's own kernel makes in real time: the decisive cells.

Each of them is simulated once. That gives the time that its run will take, because a run ends with its transfers, and
the work of the emulated links. Runs whose links need little of the processors are made at the same time. The cells
get as many repetitions as fit into seven and a half minutes, at least one. All other cells are listed as left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dumbbell.backends import Backend, Finished, Job, Simulator
from dumbbell.common.processors import cores
from dumbbell.common.words import counted
from dumbbell.kernel.host.backend import Kernel
from dumbbell.scenario import Cell, Scenario
from dumbbell.studies.definition import Study
from dumbbell.studies.partial import Refused
from dumbbell.studies.real_time import OVERHEAD_S, run_s
from dumbbell.studies.refused import words_of

__all__ = ["ROOM_S", "Cost", "Part", "fitting", "is_fitted", "makespan"]

ROOM_S = 450.0
"""Time for the runs, s. A quick study has ten minutes, and needs some for checks, figures and the page."""
EVENT_S = 70e-6
"""Processor time of a packet on a link, s: link emulation is awake for 60 µs before it, and needs 8 µs for it."""
MOST = 0.45
"""Part of the processors that the links of simultaneous runs may need: traffic and other programs need some, too."""
AT_ONCE = 16
"""Simultaneous runs at most."""
LEFT_OUT = "left out of a quick run in real time, which has the decisive cells only"


@dataclass(frozen=True)
class Cost:
    """What a run needs.

    Attributes
    ----------
    seconds : float
        Real time.
    weight : float
        Part of the room for simultaneous runs, above 0 to 1.
    """

    seconds: float
    weight: float


@dataclass(frozen=True)
class Part:
    """The part of a study that is run.

    Attributes
    ----------
    scenarios : dict of str to Scenario
        By experiment, with their repetitions.
    left_out : Refused
        The other cells.
    costs : dict of str to dict of int to Cost
        By experiment and number of the cell.
    repetitions : int
    seconds : float
        Estimate of the time that its runs take.
    runs : int
        Their number.
    """

    scenarios: dict[str, Scenario]
    left_out: Refused
    costs: dict[str, dict[int, Cost]]
    repetitions: int
    seconds: float
    runs: int

    def added_to(self, refused: Refused) -> Refused:
        """Return all cells that aren't run: those that the back end refuses, and those that are left out."""
        names = [*refused, *(name for name in self.left_out if name not in refused)]
        return {name: refused.get(name, {}) | self.left_out.get(name, {}) for name in names}

    def weights(self, experiment: str) -> Callable[[Job], float]:
        """Return the function that weighs the runs of an experiment; see `HostKernel.weigh`."""
        costs = self.costs[experiment]
        return lambda job: costs[job.cell.number].weight

    @property
    def text(self) -> str:
        """A note for the user."""
        minutes = max(round(self.seconds / 60), 1)
        return (
            f"A quick run in real time has the decisive cells only: {counted(self.runs, 'run')}, about "
            f"{counted(minutes, 'minute')} (estimated from simulated runs)."
        )


def is_fitted(backend: Backend | None, study: Study, *, quick: bool) -> bool:
    """Return True if only the decisive cells are run: of a quick study with some, in real time on this host."""
    in_real_time = isinstance(backend, Kernel) and backend.emulation != "uml"
    return quick and in_real_time and study.kernel is not None and not study.real_programs


def fitting(study: Study, scenarios: Mapping[str, Scenario], refused: Refused, *, room: float = ROOM_S) -> Part:
    """Choose the decisive cells, and the repetitions that fit.

    Parameters
    ----------
    study : Study
        One with decisive cells.
    scenarios : mapping of str to Scenario
        By experiment.
    refused : Refused
        Cells that can't be run.
    room : float
        The time, s.
    """
    declared = study.kernel
    if declared is None:
        raise ValueError(f"study {study.name} declares no decisive cells")
    cells = {
        name: [c for c in scenario.cells if words_of(c) not in refused.get(name, {})]
        for name, scenario in scenarios.items()
    }
    chosen = {name: [c for c in each if declared.holds(name, c)] for name, each in cells.items()}
    costs = {name: dict(_costs(scenarios[name], each)) for name, each in chosen.items()}
    repetitions, seconds = declared.repetitions + 1, room + 1
    while repetitions > 1 and seconds > room:
        repetitions -= 1
        seconds = sum(makespan(cost for cost in each.values() for _ in range(repetitions)) for each in costs.values())
    numbers = {name: {c.number for c in each} for name, each in chosen.items()}
    left_out = {
        name: {words_of(c): LEFT_OUT for c in each if c.number not in numbers[name]} for name, each in cells.items()
    }
    return Part(
        {name: s.with_changes({"repetitions": repetitions}) for name, s in scenarios.items()},
        {name: each for name, each in left_out.items() if each},
        costs,
        repetitions,
        seconds,
        repetitions * sum(map(len, chosen.values())),
    )


def makespan(runs: Iterable[Cost]) -> float:
    """Return the time of runs that begin in this order, each as soon as there is room for it, s."""
    now, load = 0.0, 0.0
    ends: list[tuple[float, float]] = []
    for run in runs:
        while ends and load + run.weight > 1 + 1e-9:
            now, ended = heapq.heappop(ends)
            load -= ended
        heapq.heappush(ends, (now + run.seconds, run.weight))
        load += run.weight
    return max((end for end, _ in ends), default=0.0)


def _costs(scenario: Scenario, cells: Sequence[Cell]) -> Iterator[tuple[int, Cost]]:
    """Simulate each cell once; yields its number and its cost."""
    jobs = [Job(cell, 0, scenario.repetition_seed(0)) for cell in cells]
    found = {finished.job.cell.number: _cost(finished) for finished in Simulator().run(jobs, cores())}
    yield from sorted(found.items())


def _cost(finished: Finished) -> Cost:
    seconds = run_s(finished)
    packets = sum(queue["departures"] for queue in finished.rows.queues)
    share = packets * EVENT_S / max(seconds, 1e-3) / cores()
    return Cost(seconds + OVERHEAD_S, min(max(share / MOST, 1 / AT_ONCE), 1.0))
