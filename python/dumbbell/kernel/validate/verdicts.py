"""Verdicts on random cases: each figure of each flow by a practical tolerance and by the standard error of the means.

::

    same        the means differ by no more than the tolerance
    chance      they differ by more, and by no more than two standard errors of their difference
    different   they differ by more than both

Both sides have few runs, so that their spread is known badly. Two standard errors are therefore those of Student's
test: the variance is estimated from the runs of both sides together, because they have the same distribution if the
simulator is right, and the factor is the quantile of t that a normal deviate of 2 has (95.45 %). The simulator makes
more runs than the kernel, which costs little and makes the error smaller.

The kernel's cwnd and srtt are read at intervals. The window of a transfer doubles within a few of them, so that the
means of a short transfer depend on the times of the readings: they are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import polars as pl

from dumbbell.kernel.validate.cases import Case
from dumbbell.kernel.validate.figures import FIGURES
from dumbbell.kernel.validate.measurements import FlowMeasured, Measured
from dumbbell.metrics.significance import t_quantile
from dumbbell.scenario.flow.application import Transfer

__all__ = ["GROUPS", "Judged", "Outcome", "distribution", "groups", "judge", "short_transfers", "worst"]

LEVEL = 0.9545
"""Part of a normal distribution within two standard deviations."""
READINGS = 50
"""Fewest readings of a transfer whose means are judged. One reading at each end changes the mean by up to 2 %."""


class Outcome(StrEnum):
    """The verdict on a figure."""

    SAME = "same"
    CHANCE = "chance"
    DIFFERENT = "different"


@dataclass(frozen=True)
class Judged:
    """One figure of one flow: means of both sides, and the standard error of their difference.

    ``freedom``: the error's degrees of freedom.
    """

    case: str
    flow: str
    variant: str
    figure: str
    sim: float
    kernel: float
    error: float
    freedom: int = 0

    @property
    def relative(self) -> float:
        """Difference in parts of the kernel's."""
        if self.sim == self.kernel:
            return 0.0
        return (self.sim - self.kernel) / self.kernel if self.kernel else float("inf")

    @property
    def excess(self) -> float:
        """Difference in multiples of the tolerance."""
        figure = FIGURES[self.figure]
        allowed = max(figure.practical * abs(self.kernel), figure.few)
        apart = abs(self.sim - self.kernel)
        return apart / allowed if allowed else (0.0 if apart == 0 else float("inf"))

    @property
    def outcome(self) -> Outcome:
        """The verdict."""
        if self.excess <= 1:
            return Outcome.SAME
        return Outcome.CHANCE if abs(self.sim - self.kernel) <= self.most_by_chance else Outcome.DIFFERENT

    @property
    def most_by_chance(self) -> float:
        """Largest difference that counts as chance: two standard errors, more with few degrees of freedom."""
        return t_quantile(self.freedom, LEVEL) * self.error if self.freedom else 0.0

    @property
    def sentence(self) -> str:
        """The difference in words."""
        f = FIGURES[self.figure]
        return (
            f"{self.case}, flow {self.flow} ({self.variant}): {f.name} is {f.text(self.sim)}{f.unit} "
            f"in the simulator, {f.text(self.kernel)} on the kernel (standard error {f.text(self.error, 2)})"
        )


def short_transfers(case: Case, kernel: Measured) -> set[str]:
    """Return the names of the flows that end before the kernel has read their state `READINGS` times."""
    least = READINGS * case.scenario.trace.interval.ns * 1e-9
    short = set()
    for flow, measured in zip(case.scenario.flows, kernel.flows, strict=True):
        goodput = measured.values("goodput_bps")
        if isinstance(flow.application, Transfer) and len(goodput) and goodput.mean() > 0:
            seconds = 8 * flow.application.size.bytes * flow.application.repeat / goodput.mean()
            if seconds < least:
                short.add(measured.name)
    return short


def judge(case: str, sim: Measured, kernel: Measured, short: Collection[str] = ()) -> list[Judged]:
    """Judge every figure of every flow of a case; of the `short` transfers, those that aren't read at intervals."""
    return [
        found
        for s, k in zip(sim.flows, kernel.flows, strict=True)
        for figure in FIGURES
        if not (FIGURES[figure].read and k.name in short)
        if (found := _judged(case, figure, s, k)) is not None
    ]


def _judged(case: str, figure: str, sim: FlowMeasured, kernel: FlowMeasured) -> Judged | None:
    ours, theirs = sim.values(figure), kernel.values(figure)
    if not len(ours) or not len(theirs):
        return None
    means = float(ours.mean()), float(theirs.mean())
    freedom = len(ours) + len(theirs) - 2
    squares = sum(float(((v - v.mean()) ** 2).sum()) for v in (ours, theirs))
    error = np.sqrt(squares / freedom * (1 / len(ours) + 1 / len(theirs))) if freedom else 0.0
    return Judged(case, sim.name, sim.variant, figure, *means, float(error), freedom)


def distribution(judged: Sequence[Judged]) -> pl.DataFrame:
    """One row for each figure: shares of the outcomes, quantiles of the relative difference in %."""
    rows: list[dict[str, object]] = []
    for figure in FIGURES:
        of = [j for j in judged if j.figure == figure]
        if not of:
            continue
        apart = np.array([100 * j.relative for j in of if np.isfinite(j.relative)])
        row: dict[str, object] = {"figure": FIGURES[figure].name, "flows": len(of)}
        for outcome in Outcome:
            row[f"{outcome} %"] = 100 * sum(j.outcome is outcome for j in of) / len(of)
        for share in (5, 25, 50, 75, 95):
            row[f"{share} % quantile"] = float(np.percentile(apart, share)) if len(apart) else None
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _queue(case: Case) -> str:
    return str(case.scenario.to_dict()["network"]["bottleneck"]["queue"]["discipline"])


def _flows(case: Case) -> str:
    return f"{len(case.scenario.to_dict()['flows'])} flows"


def _bottleneck(key: str, word: str) -> Callable[[Case], str]:
    return lambda case: word if case.scenario.to_dict()["network"]["bottleneck"].get(key) else f"no {word}"


def _reverse(case: Case) -> str:
    reverse = case.scenario.to_dict()["network"]["bottleneck"].get("reverse", {})
    return "asymmetric" if reverse.get("rate") else "symmetric"


def _stack(case: Case) -> dict[str, Any]:
    stack = case.scenario.to_dict()["flows"][0]["stack"]
    return {"preset": stack} if isinstance(stack, str) else dict(stack)


GROUPS: Mapping[str, Callable[[Case], str]] = {
    "discipline": _queue,
    "flows": _flows,
    "loss": _bottleneck("loss", "random loss"),
    "reverse": _reverse,
    "ECN": lambda case: "ECN" if _stack(case).get("ecn") else "no ECN",
    "buffers": lambda case: str(_stack(case)["preset"]),
}
"""Properties of a case by which differences are grouped."""


def groups(cases: Sequence[Case], judged: Sequence[Judged]) -> pl.DataFrame:
    """One row for each group of cases and each variant: the share of figures that are different, by figure."""
    names = {case.name: {key: of(case) for key, of in GROUPS.items()} for case in cases}
    members: dict[tuple[str, str], list[Judged]] = {}
    for j in judged:
        for key, value in [*names[j.case].items(), ("variant", j.variant)]:
            members.setdefault((key, value), []).append(j)
    rows: list[dict[str, object]] = []
    for (key, value), of in sorted(members.items()):
        row: dict[str, object] = {"by": key, "group": value, "flows": len({(j.case, j.flow) for j in of})}
        for figure in FIGURES:
            outcomes = [j.outcome for j in of if j.figure == figure]
            differ = sum(o is Outcome.DIFFERENT for o in outcomes)
            row[f"{FIGURES[figure].name}: different %"] = 100 * differ / len(outcomes) if outcomes else None
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def worst(judged: Sequence[Judged]) -> list[Judged]:
    """Return the figure that is furthest apart of each case with a difference, the furthest case first."""
    of: dict[str, Judged] = {}
    for j in judged:
        if j.outcome is Outcome.DIFFERENT and (j.case not in of or j.excess > of[j.case].excess):
            of[j.case] = j
    return sorted(of.values(), key=lambda j: (-j.excess, j.case))
