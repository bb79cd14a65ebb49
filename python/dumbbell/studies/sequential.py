"""Decides the claims of a report: repetitions until each is decided, by independent seeds, at all open settings.

A decision looks at the claims several times. Experiments with claims that are still open get twice the repetitions for
the next look, up to the budget. A claim keeps the verdict of the first look that decides it. The allowed error of 5 %
is divided among the looks: each has twice that of the look before. So whenever a verdict is made, it is false in at
most 5 % of all decisions (Bonferroni), and the last look has more than half of the error and so most of the power.
`validation/significance` measures it.

The decision is repeated by other seeds, which share nothing with the first one, and at the other values of each
setting that the report leaves open. A claim's verdict is the one of all seeds; where they differ it is undecided.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dumbbell.common.words import counted
from dumbbell.metrics.significance import LEVEL
from dumbbell.report.finding import Decision, Finding, Verdict
from dumbbell.studies.decided import common
from dumbbell.studies.declared import All
from dumbbell.studies.definition import Study
from dumbbell.studies.judge import sum_up
from dumbbell.studies.open_settings import OpenSetting, OpenValue
from dumbbell.studies.partial import StudyResults

__all__ = ["SEEDS", "Design", "Runs", "World", "decide_all"]

SEEDS = 5
"""Independent decisions behind a verdict."""
HOPELESS = 64
"""Multiples of the budget: a claim that by its spread would need more repetitions than that gets no more."""
OTHERWISE = {Verdict.AGREES, Verdict.DIFFERS}
"""Verdicts that another value of an open setting may change: to "depends"."""


@dataclass(frozen=True)
class Design:
    """The design of a study's decisions.

    Attributes
    ----------
    seeds : tuple of int
        One decision each. None: the seeds of the scenarios.
    looks : int
        Looks of a decision.
    budget : int or None
        Most repetitions of a cell in a decision; None: ``2 ** (looks - 1)`` times those of its scenario.
    repetitions : int or None
        Repetitions of each cell at the first look; None: those of its scenario.
    """

    seeds: tuple[int | None, ...] = (None,)
    looks: int = 1
    budget: int | None = None
    repetitions: int | None = None

    @classmethod
    def of(
        cls,
        scenarios: Iterable[int],
        *,
        seed: int | None,
        seeds: int,
        looks: int,
        budget: int | None,
        repetitions: int | None,
    ) -> Design:
        """Return the design for experiments whose scenarios have these repetitions."""
        begin = min((n if repetitions is None else repetitions for n in scenarios if n > 1), default=1)
        if budget is not None:
            looks = 1 + max(0, math.ceil(math.log2(budget / begin)))
        chosen: tuple[int | None, ...] = (None,)
        if seed is not None or seeds > 1:
            chosen = tuple(range(1 if seed is None else seed, (1 if seed is None else seed) + seeds))
        return cls(chosen, looks, budget, repetitions)

    @property
    def once(self) -> bool:
        """True if the claims are looked at once, by one seed."""
        return self.looks == 1 and len(self.seeds) == 1

    def level(self, look: int) -> float:
        """Return the confidence level of the intervals at a look, from 0."""
        return 1 - (1 - LEVEL) * (1 << look) / ((1 << self.looks) - 1)

    def sentences(self) -> list[str]:
        """Describe the decisions of a study that doesn't decide once."""
        if self.once:
            return []
        levels = ", ".join(f"{100 * self.level(k):.3g} %" for k in range(self.looks))
        looks = f"up to {counted(self.looks, 'look')}, each with twice the repetitions of the one before"
        seeds = "by one seed" if len(self.seeds) == 1 else f"by {len(self.seeds)} seeds, independently"
        return [
            f"Each claim was decided {seeds} ({', '.join('own' if s is None else str(s) for s in self.seeds)}), each "
            f"time with {looks}. Where a rule states 95 %, the intervals of the looks are of {levels}, so that 95 % "
            "hold over all of them. A verdict is that of all seeds; otherwise the claim is undecided. Numbers and "
            "figures are of the first seed."
        ]

    def options(self) -> str:
        """Return the options of ``dumbbell study run`` for seeds, repetitions and budget, other than the defaults."""
        given = {
            "seed": None if self.seeds in {(None,), tuple(range(1, 1 + SEEDS))} else self.seeds[0],
            "seeds": len(self.seeds) if not self.once and len(self.seeds) != SEEDS else None,
            "repetitions": self.repetitions,
            "budget": self.budget,
        }
        return "".join(f" --{name} {value}" for name, value in given.items() if value is not None)

    def document(self) -> dict[str, Any]:
        """Return it in plain values."""
        return asdict(self)

    def at(self, look: int, scenario: int) -> int:
        """Return the repetitions at a look, from 0, of an experiment whose scenario has so many."""
        if scenario == 1:  # pictures of one run
            return 1
        first = scenario if self.repetitions is None else self.repetitions
        most: int = first << (self.looks - 1) if self.budget is None else self.budget
        return min(first << look, most)


@dataclass(frozen=True)
class World:
    """What the scenarios of a decision have: a seed, and the other value of at most one open setting."""

    seed: int | None
    setting: OpenSetting | None = None
    value: OpenValue | None = None

    @property
    def words(self) -> str:
        """The value of the open setting."""
        return "" if self.value is None else self.value.name


Runs = Callable[[World, Mapping[str, int]], StudyResults]
"""Makes the missing runs of a world, given the number of repetitions by experiment."""


@dataclass(frozen=True)
class _Decided:
    """A decision: the finding of each claim with its repetitions and level, and the last results."""

    findings: dict[str, Finding]
    repetitions: dict[str, int]
    levels: dict[str, float]
    counts: dict[str, int]
    results: StudyResults


def decide_all(
    study: Study, design: Design, scenarios: Mapping[str, int], runs: Runs, *, quick: bool = False
) -> tuple[dict[str, Finding], StudyResults, dict[str, int]]:
    """Decide every claim by every seed, at every open value.

    Parameters
    ----------
    study : Study
        Of a listed report.
    design : Design
    scenarios : mapping of str to int
        Repetitions of the scenarios, by experiment.
    runs : callable
        See `Runs`.
    quick : bool
        True for the runs of ``--quick``.

    Returns
    -------
    findings : dict of str to Finding
        By claim, with the numbers of the first seed, the common verdict and the decisions.
    results : StudyResults
        Of the first seed.
    repetitions : dict of str to int
        Theirs, by experiment.
    """
    made: dict[str, list[Decision]] = {claim.id: [] for claim in study.paper.judged}
    first: _Decided | None = None
    for seed in design.seeds:
        base = _decide(study, design, scenarios, runs, World(seed), list(made), quick=quick)
        first = first or base
        _keep(made, base, list(made), World(seed))
        for setting in study.paper.open:
            for value in setting.values if design.looks > 1 else ():
                if claims := [c for c in study.judged_at(setting) if base.findings[c].verdict in OTHERWISE]:
                    world = World(seed, setting, value)
                    decided = _decide(study, design, scenarios, runs, world, claims, base.results, quick=quick)
                    _keep(made, decided, claims, world)
    if first is None:
        raise ValueError("a design has at least one seed")
    found: dict[str, Finding] = {}
    for claim in study.paper.judged:
        if isinstance(claim.rule, All):
            found[claim.id] = sum_up(claim.id, claim.rule, found)
        else:
            found[claim.id] = common(first.findings[claim.id], made[claim.id])
    return found, first.results, first.counts


def _keep(made: Mapping[str, list[Decision]], decided: _Decided, claims: Iterable[str], world: World) -> None:
    for claim in claims:
        found = decided.findings[claim]
        made[claim].append(
            Decision(
                world.seed, world.words, found.verdict, decided.repetitions[claim], decided.levels[claim], found.why
            )
        )


def _decide(
    study: Study,
    design: Design,
    scenarios: Mapping[str, int],
    runs: Runs,
    world: World,
    wanted: list[str],
    results: StudyResults | None = None,
    *,
    quick: bool,
) -> _Decided:
    """Decide the wanted claims in one world; `results` has the experiments without its open setting."""
    reads = {c: [e for e in study.experiments_of(study.claim(c)) if e in scenarios] for c in wanted}
    look = dict.fromkeys(scenarios if world.setting is None else world.setting.experiments, 0)
    grow = {*look}
    decided: dict[str, Finding] = {}
    repetitions: dict[str, int] = {}
    levels: dict[str, float] = {}
    for number in itertools.count():
        level = design.level(min(number, design.looks - 1))
        judged = study.judging(level=level, quick=quick)
        counts = {e: design.at(k, scenarios[e]) for e, k in look.items()}
        made = runs(world, {e: counts[e] for e in grow})
        results = made if results is None else results.changed(made)
        last = _Decided(decided, repetitions, levels, counts, results)
        for finding in (f for f in judged.findings(results) if f.claim in reads):
            claim = finding.claim
            if claim not in decided or not decided[claim].verdict.decided:
                decided[claim] = finding
                levels[claim] = level
                repetitions[claim] = max((counts[e] for e in reads[claim] if e in counts), default=0)
        grow = {
            e for c, f in decided.items() if _goes_on(study, c, f, design, scenarios, reads[c])
            for e in reads[c] if e in look and design.at(look[e] + 1, scenarios[e]) > counts[e]
        }  # fmt: skip
        if not grow:
            break
        look |= {e: look[e] + 1 for e in grow}
    return last


def _goes_on(
    study: Study, claim: str, finding: Finding, design: Design, scenarios: Mapping[str, int], reads: list[str]
) -> bool:
    """Return True if more repetitions may decide a claim: they could, and it needs no hopeless number of them."""
    if finding.verdict is not Verdict.UNDECIDED or isinstance(study.claim(claim).rule, All):
        return False
    budget = max((design.at(design.looks - 1, scenarios[e]) for e in reads), default=0)
    return finding.needs is None or finding.needs <= HOPELESS * budget
