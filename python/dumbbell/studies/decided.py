"""The independent decisions of a claim, and the verdict that they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dumbbell.report.finding import Decision, Finding, Verdict
from dumbbell.studies.judge import together

__all__ = ["by_seed", "common", "listed"]


def common(first: Finding, decisions: Sequence[Decision]) -> Finding:
    """Return the finding of a claim with the verdict of all seeds."""
    if len(decisions) == 1:
        return replace(first, decisions=tuple(decisions))
    tally = by_seed(decisions)
    verdict = next(iter(tally)) if len(tally) == 1 else Verdict.UNDECIDED
    seeds = tally.total()
    lead = f"By {seeds} of {seeds} seeds" if len(tally) == 1 else f"By seeds: {listed(tally)}"
    if seeds == 1:
        lead = f"At all values of the open settings: {listed(Counter(d.verdict for d in decisions))}"
    others = [d for d in decisions if d.value and d.verdict is not first.verdict]
    places = {d.value: Counter(o.verdict for o in others if o.value == d.value) for d in others}
    at = "".join(f"; {value}: {listed(counts)}" for value, counts in places.items())
    needs = first.needs if verdict is Verdict.UNDECIDED else None
    return replace(
        first, verdict=verdict, why=f"{lead}{at}. {_whose(decisions[0])}: {first.why}", needs=needs,
        decisions=tuple(decisions),
    )  # fmt: skip


def _whose(decision: Decision) -> str:
    return "The scenarios' seed" if decision.seed is None else f"Seed {decision.seed}"


def by_seed(decisions: Iterable[Decision]) -> Counter[Verdict]:
    """Count the verdicts by seed, each over all values of the open settings."""
    seeds: dict[int | None, list[Verdict]] = {}
    for decision in decisions:
        seeds.setdefault(decision.seed, []).append(decision.verdict)
    return Counter(together(verdicts) for verdicts in seeds.values())


def listed(counts: Mapping[Verdict, int]) -> str:
    """Write the number of decisions with each verdict."""
    return ", ".join(f"{verdict.value} {n}" for verdict, n in counts.items())
