"""Sections 8.2.5 and 8.2.6: delay and goodput by phase, and over time, from the series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.results import Results, Run
from dumbbell.studies.aqm.data import BOTTLENECK, discipline
from dumbbell.studies.shared import Floats, column, seconds

__all__ = ["BEGIN", "CONGESTION", "Phase", "Phases", "alternating", "at"]

BEGIN = 10.0
"""Time 0 of the RFC, s: all flows are in congestion avoidance."""
BEHIND = 0.05
"""From the bottleneck to the receiver, s: goodput is observed that much later than the queueing delay."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase: its name, the link's rate (Mbit/s), and whether a time of the run (s) belongs to it."""

    name: str
    rate: float
    holds: Callable[[Floats], npt.NDArray[np.bool_]]


def _between(begin: float, end: float) -> Callable[[Floats], npt.NDArray[np.bool_]]:
    return lambda t: (t >= begin) & (t < end)


CONGESTION = tuple(
    Phase(name, 10.0, _between(BEGIN + 20 * n, BEGIN + 20 * (n + 1)))
    for n, name in enumerate(("mild (6 flows)", "medium (14)", "heavy (19)", "mild again (6)"))
)
"""The phases of 8.2.5."""


def alternating(length: float) -> tuple[Phase, Phase]:
    """Return the phases of 8.2.6, which take turns."""

    def turn(which: int) -> Callable[[Floats], npt.NDArray[np.bool_]]:
        # A tiny amount is added: times on a border are sums of decimal fractions.
        return lambda t: (t >= BEGIN) & (np.floor((t - BEGIN) / length + 1e-9) % 2 == which)

    return Phase("100 Mbit/s", 100.0, turn(0)), Phase("10 Mbit/s", 10.0, turn(1))


def at(time: Floats, values: Floats, moments: Floats) -> Floats:
    """Read a step function; 0 before its first row."""
    place = np.searchsorted(time, moments, side="right") - 1
    return np.where(place >= 0, values[np.maximum(place, 0)], 0.0)


class Phases:
    """An experiment in phases.

    Parameters
    ----------
    results : Results
    phases : sequence of Phase
    step : float
        Time between samples, s: a part of the phases' length.
    """

    def __init__(self, results: Results, phases: Sequence[Phase], step: float) -> None:
        self.phases = tuple(phases)
        self.step = step
        end = results.scenario.duration.seconds
        self.t: Floats = np.arange(0.0, end - step / 2, step)
        self.n = results.scenario.repetitions
        rate = np.full(self.t.size, phases[0].rate)
        for phase in phases:
            rate[phase.holds(self.t)] = phase.rate
        self._rate = rate
        self._delay: dict[str, list[Floats]] = {}
        self._bits: dict[str, list[Floats]] = {}
        for run in results.runs:
            delay, bits = self._samples(results, run)
            self._delay.setdefault(discipline(run), []).append(delay)
            self._bits.setdefault(discipline(run), []).append(bits)
        self.names = list(self._delay)

    def _samples(self, results: Results, run: Run) -> tuple[Floats, Floats]:
        queue = results.arrays(run, f"queue/{BOTTLENECK}")
        waiting = at(seconds(queue), column(queue, "bytes"), self.t)
        bits = np.zeros(self.t.size)
        borders = np.append(self.t, self.t[-1] + self.step) + BEHIND
        for flow in run.flows:
            table = results.arrays(run, f"flow/{flow['name']}")
            bits += 8 * np.diff(at(seconds(table), column(table, "delivered"), borders))
        return 8e-3 * waiting / self._rate, bits

    def delays(self, name: str, phase: Phase) -> Floats:
        """Return the delays sampled in a phase, ms; (n, samples)."""
        return np.asarray(np.array(self._delay[name])[:, phase.holds(self.t)])

    def delay(self, name: str, phase: Phase) -> Floats:
        """Return the mean delay of a phase, ms; (n,)."""
        return np.asarray(self.delays(name, phase).mean(axis=1))

    def goodput(self, name: str, phase: Phase) -> Floats:
        """Return the goodput of all flows in a phase, Mbit/s; (n,)."""
        inside = phase.holds(self.t)
        return np.asarray(np.array(self._bits[name])[:, inside].sum(axis=1) / (inside.sum() * self.step) * 1e-6)

    def use(self, name: str) -> Floats:
        """Return the goodput over all phases as a part of the link's capacity; (n,)."""
        inside = self.t >= BEGIN
        could = self._rate[inside].sum() * self.step * 1e6
        return np.asarray(np.array(self._bits[name])[:, inside].sum(axis=1) / could)

    def total(self, name: str) -> Floats:
        """Return the goodput over all phases, Mbit/s; (n,)."""
        inside = self.t >= BEGIN
        return np.asarray(np.array(self._bits[name])[:, inside].sum(axis=1) / (inside.sum() * self.step) * 1e-6)

    def rates(self, name: str, phase: Phase, window: float) -> Floats:
        """Return the goodput of all flows in each window of a phase, Mbit/s; (n, windows)."""
        bits = np.array(self._bits[name])[:, phase.holds(self.t)]
        per = round(window / self.step)
        count = bits.shape[1] // per
        rows = bits[:, : count * per].reshape(len(bits), count, per)
        return np.asarray(rows.sum(axis=2) / (per * self.step) * 1e-6)

    def over_time(self, name: str, window: float) -> tuple[Floats, Floats]:
        """Return the middles of windows (s), and the median over repetitions of the mean delay in each (ms)."""
        per = round(window / self.step)
        count = self.t.size // per
        rows = np.array(self._delay[name])[:, : count * per].reshape(self.n, count, per)
        middles = window * (np.arange(count, dtype=np.float64) + 0.5)
        return np.asarray(middles), np.asarray(np.median(rows.mean(axis=2), axis=0))
