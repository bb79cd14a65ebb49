"""Claims on part 2, judged at every setting that the fits don't distinguish from the one with the smallest errors.

The report doesn't state its setting. So a claim holds if it is shown at each setting that may be the report's, and it
depends if it is shown at some and shown not to hold at others, as for the jitters of part 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from dumbbell.metrics.significance import LEVEL
from dumbbell.report.finding import Finding, Table, Verdict
from dumbbell.studies.declared import All
from dumbbell.studies.geni_fairness.fits import READINGS, Fits
from dumbbell.studies.geni_fairness.paths import Path, short
from dumbbell.studies.judge import Quantities, Remark, judge, together
from dumbbell.studies.rules import repetitions_text

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study
    from dumbbell.studies.paper import Claim

__all__ = ["judge_over_settings"]

OVER_TIME = ("pairs settling time", "pairs movement")
"""Metrics of series, which only the experiment `pairs` has."""


class Place(NamedTuple):
    """A setting at which a claim is judged; of a claim on cells of the table, in one reading of it."""

    reading: str
    path: Path


def judge_over_settings(
    study: Study, fits: Fits, quantities: Callable[[Path | None], Quantities], remarks: Mapping[str, Remark]
) -> tuple[list[Finding], Table]:
    """Judge every claim, those that name a fit at each setting that it doesn't distinguish from its best one.

    Parameters
    ----------
    study : Study
    fits : Fits
    quantities : callable
        Given a setting, returns the quantities with part 2 at it; given None, at the best fit.
    remarks : mapping of str to Remark
        By the claim's id.

    Returns
    -------
    findings : list of Finding
        With the numbers at the best fit.
    table : Table
        The verdicts by setting.
    """
    found: dict[str, Finding] = {}
    rows = []
    for claim in study.paper.judged:
        finding = judge(claim, quantities(None), found, remarks.get(claim.id), level=study.level, quick=study.quick)
        part = _fit_of(claim)
        if part is not None:
            places = _places(claim, fits, part)
            # All settings together: 95 %.
            level = 1 - (1 - study.level) / len(places)
            each = {
                place: judge(_in(claim, place), quantities(place.path), {}, level=level, quick=study.quick)
                for place in places
            }
            rows.append(_row(claim, part, finding, each))
            finding = _over(finding, each, fits.best(part), quick=study.quick)
        found[claim.id] = finding
    title = "Verdicts at the settings that the fits don't distinguish from the best one; 95 % together"
    return list((study.decided or found).values()), Table("sensitivity", title, pl.DataFrame(rows))


def _fit_of(claim: Claim) -> str | None:
    rule = claim.rule
    if rule is None or isinstance(rule, All) or rule.metric in OVER_TIME or "fit" not in rule.at:
        return None
    return str(rule.at["fit"])


def _places(claim: Claim, fits: Fits, part: str) -> Sequence[Place]:
    """Return the settings of a claim: of one on cells of the table, those of the fit in the same reading."""
    if claim.rule is not None and not isinstance(claim.rule, All) and "reading" in claim.rule.each:
        return [Place(reading, path) for reading in READINGS for path in fits.of(reading, part).alike]
    return [Place("", path) for path in fits.alike(part)]


def _in(claim: Claim, place: Place) -> Claim:
    """Return the claim in one reading of the table."""
    if not place.reading or claim.rule is None or isinstance(claim.rule, All):
        return claim
    rule = claim.rule.model_copy(update={"each": {**claim.rule.each, "reading": [place.reading]}})
    return claim.model_copy(update={"rule": rule})


def _over(best: Finding, each: Mapping[Place, Finding], path: Path, *, quick: bool) -> Finding:
    verdict = together([finding.verdict for finding in each.values()])
    few = quick and verdict in (Verdict.AGREES, Verdict.DIFFERS, Verdict.DEPENDS)
    if few:  # a quick study has a part of the settings
        verdict = Verdict.UNDECIDED
    needs = [f.needs for f in each.values() if f.verdict is Verdict.UNDECIDED and f.needs is not None]
    need = max(needs) if needs and verdict is Verdict.UNDECIDED and not few else None
    what = "combinations of a reading and a setting" if next(iter(each)).reading else "settings"
    all_ = "" if need is None else f". To decide at all of them it would need {repetitions_text(need)}"
    why = (
        f"Over the {len(each)} {what} that the fits don't distinguish: {_counted(each)}{all_}"
        f"{_rarer(each) if verdict is Verdict.DEPENDS else ''}"
        f"{'. A quick run has too few settings for a verdict' if few else ''}. With {path.words}, alone at "
        f"{100 * LEVEL:.0f} %: {best.why}"
    )
    return replace(best, verdict=verdict, why=why, needs=need)


NAMED = 4
"""Most places of one outcome that the sentence names; the table has all."""


def _rarer(each: Mapping[Place, Finding]) -> str:
    """Name the places on which the verdict depends, those of the rarer outcome, if they are few."""
    outcomes = {"It agrees": (Verdict.AGREES,), "It doesn't agree": (Verdict.DIFFERS, Verdict.DEPENDS)}
    places = {words: [p for p, f in each.items() if f.verdict in kinds] for words, kinds in outcomes.items()}
    words, found = min((item for item in places.items() if item[1]), key=lambda item: len(item[1]))
    if len(found) > NAMED or len(found) == len(each):
        return ""
    named = "; ".join(f"reading {p.reading}, {p.path.words}" if p.reading else p.path.words for p in found)
    return f". {words} at: {named}"


def _counted(each: Mapping[Place, Finding]) -> str:
    counts = Counter(finding.verdict for finding in each.values())
    return ", ".join(f"{verdict.value} {counts[verdict]}" for verdict in Verdict if counts[verdict])


def _row(claim: Claim, part: str, best: Finding, each: Mapping[Place, Finding]) -> dict[str, str]:
    first = next(iter(each)).path
    decided = (Verdict.AGREES, Verdict.DIFFERS, Verdict.DEPENDS)
    off = [p for p, f in each.items() if f.verdict in decided and f.verdict is not best.verdict]
    named = [", ".join(x for x in (p.reading, short(p.path, first) or "the same") if x) for p in off]
    return {
        "claim": claim.id,
        "fitted to": part,
        "at the best fit alone": best.verdict.value,
        "settings": f"{len(each)}",
        "verdicts at them": _counted(each),
        "decided otherwise at": "; ".join(named) or "-",
    }
