"""Judges the claims of a report by their declared rules, and writes each finding's sentence from the numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dumbbell.common.words import counted
from dumbbell.exceptions import DumbbellError
from dumbbell.metrics.significance import LEVEL
from dumbbell.report.finding import Finding, Measured, Verdict
from dumbbell.studies import rules
from dumbbell.studies.declared import Alike, All, Bound, Covers, Exchange, Extreme, Higher, Near, Order, Setting, Value
from dumbbell.studies.definition import Study
from dumbbell.studies.paper import Claim
from dumbbell.studies.rule_words import Words, rule_text
from dumbbell.studies.rules import Ruling
from dumbbell.studies.shared import Floats

__all__ = ["Quantities", "Remark", "judge", "judge_all", "sum_up", "together"]

Single = Higher | Extreme | Order | Alike | Near | Bound | Covers | Exchange


@dataclass(frozen=True)
class Quantities:
    """The measured quantities of a study.

    Attributes
    ----------
    get : callable
        Given a metric and a setting, returns its values by repetition, (n,) float64; empty if the runs don't have it.
    words : Words
        Names and units of metrics, names of settings.
    """

    get: Callable[[str, Setting], Floats]
    words: Words
    absent: Mapping[str, str] = field(default_factory=dict)
    """By the first word of a metric, its experiment: why its cells can't be run by the back end."""


@dataclass(frozen=True)
class Remark:
    """The part of a finding that a study adds: its cause in computed words, and further numbers."""

    text: str = ""
    beside: Sequence[Measured] = field(default=())


def judge_all(study: Study, quantities: Quantities, remarks: Mapping[str, Remark] | None = None) -> list[Finding]:
    """Judge every claim of a listed report that has a rule, in their order.

    Parameters
    ----------
    study : Study
    quantities : Quantities
    remarks : mapping of str to Remark, optional
        By the claim's id.

    Raises
    ------
    DumbbellError
        For remarks on claims that aren't judged.
    """
    unknown = set(remarks or {}) - {c.id for c in study.paper.judged}
    if unknown:
        raise DumbbellError(f"study {study.name}: remarks on claims that aren't judged: {', '.join(sorted(unknown))}")
    if decided := study.decided:
        return list(decided.values())
    found: dict[str, Finding] = {}
    for claim in study.paper.judged:
        remark = (remarks or {}).get(claim.id)
        found[claim.id] = judge(claim, quantities, found, remark, level=study.level, quick=study.quick)
    return list(found.values())


def judge(
    claim: Claim,
    quantities: Quantities,
    before: Mapping[str, Finding],
    remark: Remark | None = None,
    *,
    level: float = LEVEL,
    quick: bool = False,
) -> Finding:
    """Judge one claim.

    Parameters
    ----------
    claim : Claim
        With a rule.
    quantities : Quantities
    before : mapping of str to Finding
        The findings of the claims before it.
    remark : Remark, optional
    level : float, no unit
        Confidence level of all its statements together.
    quick : bool
        True for a quick study, whose verdicts need stronger evidence; see `dumbbell.studies.rules.QUICK_LEVEL`.

    Raises
    ------
    ValueError
        For a claim without a rule.
    """
    if claim.rule is None:
        raise ValueError(f"claim {claim.id} has no rule")
    if isinstance(claim.rule, All):
        return sum_up(claim.id, claim.rule, before)
    all_parts = _parts(claim.rule, quantities, level, quick=quick)
    parts = [p for p in all_parts if p[1].verdict is not Verdict.NOT_MEASURED]
    idle = [words for words, ruling in all_parts if ruling == NOTHING]
    measured = {*idle, *(words for words, _ in parts)}
    missing = [words for words in _settings(claim.rule, quantities.words) if words not in measured]
    reason = quantities.absent.get(claim.rule.metric.partition(" ")[0])
    verdict = together([ruling.verdict for _, ruling in parts], lacking=bool(missing and not reason))
    remark = remark or Remark()
    why = _why(parts, verdict)
    if parts and isinstance(claim.rule, Higher | Extreme | Order | Alike):
        why = f"{quantities.words.metric(claim.rule.metric)}: {why}"
    if idle:
        why = f"{why}. Nothing to compare, because it is zero in every run: {'; '.join(idle)}"
    if missing and reason:
        why = f"{why}. Not run here: {len(missing)} of {len(missing) + len(measured)} settings ({reason})"
    elif missing and parts:
        listed = "; ".join(missing[:LISTED]) + _more(missing)
        why = f"{why}. Not measured for {len(missing)} of {len(missing) + len(measured)}: {listed}"
    if remark.text:
        why = f"{why}. {remark.text}"
    if claim.unmodeled and verdict in {Verdict.DIFFERS, Verdict.UNDECIDED}:
        why = f"{claim.unmodeled} By the rule alone it is {verdict.value}: {why}"
        verdict = Verdict.NOT_MODELED
    return Finding(
        claim.id,
        verdict,
        rule_text(claim.rule, quantities.words, quick=quick),
        tuple(_named(words, m) for words, ruling in parts for m in ruling.measured),
        why,
        remark.beside,
        rules.needed(*(ruling for _, ruling in parts)) if verdict is Verdict.UNDECIDED else None,
    )


def _parts(rule: Single, quantities: Quantities, level: float, *, quick: bool) -> list[tuple[str, Ruling]]:
    """Apply a rule to every combination of ``each``."""
    words = quantities.words
    combinations = _combinations(rule)
    # All statements of one claim together hold at this level.
    one = 1 - (1 - level) / len(combinations)
    return [(words.setting(c), _apply(rule, quantities, {**rule.at, **c}, one, quick=quick)) for c in combinations]


def _combinations(rule: Single) -> list[Setting]:
    each = rule.combinations if isinstance(rule, Near) else rule.each
    return [dict(zip(each, values, strict=True)) for values in itertools.product(*each.values())]


def _settings(rule: Single, words: Words) -> list[str]:
    return [words.setting(c) for c in _combinations(rule)]


def together(verdicts: Iterable[Verdict], *, lacking: bool = False) -> Verdict:
    """Combine the verdicts for several settings.

    While one is open, those that are decided alike don't decide: more repetitions, or the values that are `lacking`
    for a setting, could still make it "depends".
    """
    kinds = {*verdicts} | ({Verdict.NOT_MEASURED} if lacking else set())
    if Verdict.DEPENDS in kinds or {Verdict.AGREES, Verdict.DIFFERS} <= kinds:
        return Verdict.DEPENDS
    for kind in (Verdict.UNDECIDED, Verdict.NOT_MEASURED, Verdict.NOT_MODELED, Verdict.DIFFERS, Verdict.AGREES):
        if kind in kinds:
            return kind
    return Verdict.NOT_MEASURED


def _apply(rule: Single, quantities: Quantities, at: Setting, level: float, *, quick: bool) -> Ruling:
    words = quantities.words
    name, unit, bounds = words.metric(rule.metric), words.unit(rule.metric), words.bounds(rule.metric)

    def get(key: str = "", value: Value = "") -> Floats:
        return quantities.get(rule.metric, {**at, key: value} if key else at)

    def samples(values: Sequence[Value]) -> dict[str, Floats]:
        return {words.value(v): get(rule.along, v) for v in values}  # type: ignore[union-attr]

    if isinstance(rule, Higher | Extreme | Order) and rule.occurs and not quick and _never(samples(rule.sides)):
        return NOTHING

    match rule:
        case Higher():
            a, b = (words.value(v) for v in (rule.a, rule.b))
            first, second = get(rule.along, rule.a), get(rule.along, rule.b)
            if not (first.size and second.size):
                return Ruling(None)
            return rules.higher(first, second, f"{a} minus {b}", unit, matter=rule.matter, level=level, quick=quick)
        case Extreme():
            others = samples([rule.who, *rule.among])
            if _lacking(others):
                return Ruling(None)
            best = rule.kind == "highest"
            return rules.extreme(
                others, words.value(rule.who), highest=best, unit=unit, matter=rule.matter, level=level, quick=quick
            )
        case Order():
            ordered = samples(rule.values)
            return Ruling(None) if _lacking(ordered) else _order(ordered, unit, rule.matter, level, quick=quick)
        case Alike():
            if _lacking(samples(rule.values)):
                return Ruling(None)
            limit, absolute = (rule.part, False) if rule.part is not None else (rule.off, True)
            return rules.alike(
                samples(rule.values), limit or 0.0, absolute=absolute, unit=unit, level=level, quick=quick
            )
        case Near() | Bound():
            low, high = rule.ends(at)
            if isinstance(rule, Near) and rule.of == "median":
                return rules.median_within(get(), name, low, high, unit=unit, level=level, quick=quick)
            return rules.within(get(), name, low, high, unit=unit, level=level, quick=quick, bounds=bounds)
        case Covers():
            return rules.covers(get(), name, rule.value, unit=unit, slack=rule.slack, quick=quick)
        case Exchange():
            return _exchange(rule, quantities, at, level, quick=quick)


NOTHING = Ruling(None, (Measured("nothing to compare", "0 in every run", 0.0),))
"""The ruling for a setting where the quantity is zero in every run, of a rule for which that isn't a measurement."""


def _never(samples: Mapping[str, Floats]) -> bool:
    """Return True if all values of all samples are zero, and each has values."""
    return not _lacking(samples) and not any(values.any() for values in samples.values())


def _lacking(samples: Mapping[str, Floats]) -> bool:
    return any(values.size == 0 for values in samples.values())


def _order(samples: Mapping[str, Floats], unit: str, matter: float, level: float, *, quick: bool) -> Ruling:
    pairs = list(itertools.pairwise(samples))
    against = 1 - (1 - level) / len(pairs)
    return rules.all_of(
        rules.higher(
            samples[a], samples[b], f"{a} minus {b}", unit, matter=matter, level=level, against=against, quick=quick
        )
        for a, b in pairs
    )


def _exchange(rule: Exchange, quantities: Quantities, at: Setting, level: float, *, quick: bool) -> Ruling:
    rows = []
    for point in rule.points:
        both = [quantities.get(rule.metric, {**at, rule.over: point, rule.along: v}) for v in (rule.a, rule.b)]
        if both[0].size and both[1].size:
            rows.append((quantities.words.value(point), *both))
    if not rows:
        return Ruling(None)
    names, first, second = zip(*rows, strict=True)
    return rules.exchange(np.array(first), np.array(second), names, level=level, quick=quick)


def _named(where: str, measured: Measured) -> Measured:
    what = f"{measured.what} ({where})" if where else measured.what
    return Measured(what, measured.text, measured.value, measured.low, measured.high, measured.unit, measured.n)


SHOWN = {Verdict.AGREES: "it holds", Verdict.DIFFERS: "shown not to hold", Verdict.UNDECIDED: "not shown"}


def _why(parts: Sequence[tuple[str, Ruling]], verdict: Verdict) -> str:
    """Write the numbers behind a verdict: of one statement its numbers, of several those of each outcome."""
    if not parts:
        return "the runs don't have this quantity"
    sentences = []
    for kind, words in SHOWN.items():
        found = [(where, ruling) for where, ruling in parts if ruling.verdict is kind]
        if not found:
            continue
        listed = "; ".join(_numbers(where, ruling) for where, ruling in found[:LISTED])
        more = _more(found)
        count = f" for {len(found)} of {len(parts)}" if len(parts) > 1 else ""
        sentences.append(f"{words}{count}: {listed}{more}")
    needs = rules.needed(*(ruling for _, ruling in parts))
    if verdict is Verdict.UNDECIDED and needs is not None:
        open_ = [r for _, r in parts if r.verdict is Verdict.UNDECIDED]
        sentences.append(_needs(needs, min(m.n or 0 for r in open_ for m in r.measured)))
    return ". ".join(s[:1].upper() + s[1:] if k else s for k, s in enumerate(sentences))


def _more(listed: Sequence[object]) -> str:
    return f"; and {len(listed) - LISTED} more" if len(listed) > LISTED else ""


LISTED = 4
"""Settings of one outcome that the sentence names; the table of numbers has all."""
COMPARED = 3
"""Differences of one statement that the sentence names."""


def _numbers(where: str, ruling: Ruling) -> str:
    shown, more = ruling.measured, ""
    if len(shown) > COMPARED:
        shown = (min(shown, key=lambda m: m.value if m.value is not None else 0.0),)
        more = f", the least of {len(ruling.measured)} differences"
    texts = ", ".join(f"{m.what} {m.text}" for m in shown) + more
    return f"{where}: {texts}" if where else texts


def _needs(needs: int, n: int) -> str:
    return f"with {counted(n, 'repetition')} the test can't decide; it would need {rules.repetitions_text(needs)}"


def sum_up(claim: str, rule: All, before: Mapping[str, Finding]) -> Finding:
    """Judge a sentence that sums up other claims by their verdicts."""
    found = [before[i] for i in rule.of]
    kinds = [f.verdict for f in found]
    if all(k is Verdict.AGREES for k in kinds):
        verdict = Verdict.AGREES
    else:
        order = (Verdict.DIFFERS, Verdict.NOT_MODELED, Verdict.NOT_MEASURED, Verdict.UNDECIDED, Verdict.DEPENDS)
        verdict = next(k for k in order if k in kinds)
    listed = ", ".join(f"{f.claim} {f.verdict.value}" for f in found)
    return Finding(
        claim,
        verdict,
        f"It sums up {len(found)} claims, and holds if all of them hold: {', '.join(rule.of)}.",
        tuple(Measured(f.claim, f.verdict.value) for f in found),
        f"of the claims that it sums up: {listed}",
        needs=max((f.needs for f in found if f.needs is not None), default=None)
        if verdict is Verdict.UNDECIDED
        else None,
    )
