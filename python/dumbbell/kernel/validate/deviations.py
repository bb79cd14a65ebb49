"""Deviations of the simulator from the kernel, figure by figure and curve by curve.

A figure is *within* if it differs by no more than its tolerance, or by no more than two standard deviations of a
single run where repetitions differ by chance. Curves have two distances, both in parts of the kernel's mean:
``curve``, the mean difference bin by bin, and ``shape``, the same after sorting both (the Wasserstein distance):
it forgives a sawtooth that is out of step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.kernel.validate.figures import FIGURES
from dumbbell.kernel.validate.measurements import FlowMeasured, Measured

__all__ = ["Comparison", "Difference", "compare", "distances"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """One figure on both sides: means over repetitions, and the standard deviation of a run."""

    figure: str
    sim: float
    kernel: float
    spread: float

    @property
    def relative(self) -> float:
        """Difference in parts of the kernel's."""
        if self.kernel == self.sim:
            return 0.0
        return (self.sim - self.kernel) / self.kernel if self.kernel else float("inf")

    @property
    def within(self) -> bool:
        """Return True if it counts as the same."""
        apart = abs(self.sim - self.kernel)
        figure = FIGURES[self.figure]
        return apart <= max(figure.tolerance * abs(self.kernel), 2 * self.spread, figure.few)


@dataclass(frozen=True)
class Comparison:
    """One flow of a case."""

    case: str
    flow: str
    variant: str
    differences: dict[str, Difference]
    curve: float | None
    shape: float | None

    @property
    def outside(self) -> list[str]:
        """The figures that have a tolerance and aren't within it."""
        return [name for name in FIGURES if name in self.differences and not self.differences[name].within]


def compare(case: str, sim: Measured, kernel: Measured) -> list[Comparison]:
    """Compare every flow of a case."""
    return [_flow(case, s, k) for s, k in zip(sim.flows, kernel.flows, strict=True)]


def _flow(case: str, sim: FlowMeasured, kernel: FlowMeasured) -> Comparison:
    differences = {}
    for figure in kernel.figures:
        ours, theirs = sim.values(figure), kernel.values(figure)
        if len(ours) and len(theirs):
            differences[figure] = Difference(figure, float(ours.mean()), float(theirs.mean()), _spread(ours, theirs))
    bins = round(kernel.step_s / sim.step_s)
    curve, shape = distances(sim.thinned(bins).cwnd if bins > 1 else sim.cwnd, kernel.cwnd)
    return Comparison(case, sim.name, sim.variant, differences, curve, shape)


def _spread(a: Floats, b: Floats) -> float:
    """Standard deviation of the difference of two single runs; 0 without repetitions."""
    if len(a) < 2 or len(b) < 2:
        return 0.0
    return float(np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))


def distances(a: Floats, b: Floats) -> tuple[float | None, float | None]:
    """Return the distances ``curve`` and ``shape``, in parts of the mean of ``b``; None without common bins."""
    n = min(len(a), len(b))
    both = ~(np.isnan(a[:n]) | np.isnan(b[:n]))
    if not both.any():
        return None, None
    ours, theirs = a[:n][both], b[:n][both]
    mean = float(theirs.mean())
    if mean == 0:
        return None, None
    return (float(np.abs(ours - theirs).mean()) / mean, float(np.abs(np.sort(ours) - np.sort(theirs)).mean()) / mean)
