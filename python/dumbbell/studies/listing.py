"""The report, sentence by sentence, as tables: set-up, figures and tables, results with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dumbbell.report.finding import Finding, Table, Verdict
from dumbbell.studies.definition import Study
from dumbbell.studies.paper import Claim, Statement
from dumbbell.studies.rules import repetitions_text

__all__ = ["in_report", "list_tables", "outcome", "places"]


def list_tables(study: Study, findings: Sequence[Finding]) -> list[Table]:
    """Return the tables of a listed report."""
    paper, found = study.paper, {f.claim: f for f in findings}
    setup = [{"place": places(s), "report": in_report(s), "here": s.here} for s in paper.setup]
    exhibits = [{"report": e.id, "title": e.title, "here": ", ".join(e.here) or e.reason} for e in paper.exhibits]
    claims = [
        {"place": places(c), "report": in_report(c), "claim": c.id, "verdict": outcome(c, found.get(c.id))}
        for c in paper.claims
    ]
    return [
        Table("report-claims", "The report's results and conclusions, sentence by sentence", pl.DataFrame(claims)),
        Table("report-exhibits", "The report's figures and tables, and their counterparts", pl.DataFrame(exhibits)),
        Table("report-setup", "The report's set-up, and the study's", pl.DataFrame(setup)),
    ]


def outcome(claim: Claim, finding: Finding | None) -> str:
    """Return a claim's verdict, or the reason why it has none."""
    if finding is None:
        return f"not testable: {claim.untestable}"
    if finding.verdict is Verdict.UNDECIDED and finding.needs is not None:
        return f"{finding.verdict.value} (needs {repetitions_text(finding.needs)} repetitions)"
    return finding.verdict.value


def places(of: Claim | Statement) -> str:
    """Return the places of a statement in the publication."""
    return "; ".join((*of.words, *of.values))


def in_report(of: Claim | Statement) -> str:
    """Return what the publication has: quotations in quotation marks, numbers of its tables and figures without."""
    return "; ".join((*(f"“{quote}”" for quote in of.words.values()), *of.values.values()))
