"""The verdicts on part 2 at the settings that the fit doesn't distinguish from the one that it chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.studies.declared import All
from dumbbell.studies.finding import Table, Verdict
from dumbbell.studies.geni_fairness.data import Alone, Over, Pairs
from dumbbell.studies.geni_fairness.fits import Fit
from dumbbell.studies.geni_fairness.paths import Path, short
from dumbbell.studies.geni_fairness.quantities import quantities
from dumbbell.studies.judge import judge

if TYPE_CHECKING:
    from dumbbell.studies.definition import Claim, Study

__all__ = ["sensitivity"]

OVER_TIME = ("pairs settling time", "pairs movement")
"""Metrics of series, which only the experiment `pairs` has."""


def sensitivity(
    study: Study, part1: Alone, jitter: Alone, depths: Mapping[Path, Pairs], fits: Mapping[str, Fit], over: Over
) -> tuple[Table, dict[str, str]]:
    """Judge each claim on shares again, at each setting that its fit doesn't distinguish from the best one.

    Returns
    -------
    table : Table
        Verdicts by claim.
    sentences : dict of str to str
        The same by the claim's id, in words.
    """
    rows, sentences = [], {}
    for claim in study.paper.judged:
        name = _fit_of(claim)
        if name is None:
            continue
        best, *others = fits[name].alike
        verdicts = {
            path: judge(
                claim, quantities(part1, jitter, depths, fits, over, depths[path]), {}, quick=study.quick
            ).verdict
            for path in (best, *others)
        }
        counts = Counter(verdicts[path] for path in others)
        listed = ", ".join(f"{verdict.value} {counts[verdict]}" for verdict in Verdict if counts[verdict])
        off = [path for path in others if {verdicts[path], verdicts[best]} == {Verdict.AGREES, Verdict.DIFFERS}]
        rows.append(
            {
                "claim": claim.id,
                "fitted to": name,
                "at the best fit": verdicts[best].value,
                "settings not distinguished": f"{len(others)}",
                "verdicts there": listed or "-",
                "contrary at": "; ".join(short(path, best) for path in off) or "-",
            }
        )
        if others:
            sentences[claim.id] = (
                f"At the {len(others)} settings that the fit doesn't distinguish from the best: {listed}"
            )
    title = "Verdicts at the settings that the fit doesn't distinguish from the best one"
    return Table("sensitivity", title, pl.DataFrame(rows)), sentences


def _fit_of(claim: Claim) -> str | None:
    rule = claim.rule
    if rule is None or isinstance(rule, All) or rule.metric in OVER_TIME or "fit" not in rule.at:
        return None
    return str(rule.at["fit"])
