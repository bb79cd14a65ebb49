"""The report, sentence by sentence, as tables: set-up, figures and tables, results with their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from dumbbell.metrics.significance import LEVEL
from dumbbell.report.finding import Finding, Table, Verdict
from dumbbell.studies.decided import by_seed, listed
from dumbbell.studies.declared import Covers
from dumbbell.studies.definition import Study
from dumbbell.studies.paper import Claim, Statement
from dumbbell.studies.rules import QUICK_LEVEL, repetitions_text

__all__ = ["in_report", "list_tables", "outcome", "places", "sure"]


def list_tables(study: Study, findings: Sequence[Finding]) -> list[Table]:
    """Return the tables of a listed report."""
    paper, found = study.paper, {f.claim: f for f in findings}
    setup = [{"place": places(s), "report": in_report(s), "here": s.here} for s in paper.setup]
    exhibits = [{"report": e.id, "title": e.title, "here": ", ".join(e.here) or e.reason} for e in paper.exhibits]
    claims = [
        {"place": places(c), "report": in_report(c), "claim": c.id, "verdict": outcome(c, found.get(c.id))}
        for c in paper.claims
    ]
    left_open = [
        {"setting": o.setting, "here": o.used, "also judged with": ", ".join(v.name for v in o.values) or o.reason}
        for o in paper.open
    ]
    tables = [
        Table("report-claims", "The report's results and conclusions, sentence by sentence", pl.DataFrame(claims)),
        Table("report-exhibits", "The report's figures and tables, and their counterparts", pl.DataFrame(exhibits)),
        Table("report-setup", "The report's set-up, and the study's", pl.DataFrame(setup)),
        Table("report-open", "The settings that the report leaves open", pl.DataFrame(left_open)),
        Table("decisions", "The decisions behind each verdict", pl.DataFrame(_decisions(study, findings))),
    ]
    return [table for table in tables if table.frame.height]


def _decisions(study: Study, findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Return the rows of a study that was decided by several seeds, one for each claim with a rule of its own."""
    rows = []
    for f in (f for f in findings if f.decisions):
        counts = sorted({d.repetitions for d in f.decisions if not d.value})
        values = dict.fromkeys(d.value for d in f.decisions if d.value)
        rows.append(
            {
                "claim": f.claim,
                "verdict": f.verdict.value,
                "by seed": listed(by_seed(f.decisions)),
                "repetitions": " to ".join(str(n) for n in dict.fromkeys((counts[0], counts[-1]))),
                "at open settings": "; ".join(
                    f"{value}: {listed(Counter(d.verdict for d in f.decisions if d.value == value))}"
                    for value in values
                )
                or "-",
                "version of the rule": str(study.claim(f.claim).version),
            }
        )
    return rows


def outcome(claim: Claim, finding: Finding | None) -> str:
    """Return a claim's verdict, or the reason why it has none."""
    if finding is None:
        return f"not testable: {claim.untestable}"
    if finding.verdict is Verdict.UNDECIDED and finding.needs is not None:
        return f"{finding.verdict.value} (needs {repetitions_text(finding.needs)} repetitions)"
    return finding.verdict.value


def sure(claim: Claim, finding: Finding, *, quick: bool) -> str:
    """Return how sure a verdict is: its level, the repetitions behind it, those that would decide.

    Empty for a verdict that follows from no repetitions, such as that of a sentence which sums up other claims.
    """
    numbers = sorted({m.n for m in finding.measured if m.n})
    if not numbers:
        return ""
    span = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"
    parts = [f"{span} repetitions"]
    if isinstance(claim.rule, Covers) and finding.verdict is Verdict.AGREES:
        parts = [f"within the range of {span} single runs"]
    elif finding.verdict.decided:
        parts = [f"at {100 * (QUICK_LEVEL if quick else LEVEL):g} %", *parts]
        if (seeds := by_seed(finding.decisions).total()) > 1:
            parts = [f"by {seeds} of {seeds} seeds", *parts]
    elif finding.needs is not None:
        parts.append(f"needs {repetitions_text(finding.needs)}")
    return ", ".join(parts)


def places(of: Claim | Statement) -> str:
    """Return the places of a statement in the publication."""
    return "; ".join((*of.words, *of.values))


def in_report(of: Claim | Statement) -> str:
    """Return what the publication has: quotations in quotation marks, numbers of its tables and figures without."""
    return "; ".join((*(f"“{quote}”" for quote in of.words.values()), *of.values.values()))
