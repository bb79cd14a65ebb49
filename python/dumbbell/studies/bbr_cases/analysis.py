"""The cases of the study ``bbr-cases``, with their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.report.finding import Analysis, Finding, Measured, Note, Table, Verdict
from dumbbell.results import Results
from dumbbell.studies.bbr_cases import checks_path, checks_probe, checks_startup
from dumbbell.studies.bbr_cases.case import Case
from dumbbell.studies.bbr_cases.figures import picture
from dumbbell.studies.shared import counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["CHECKS", "analyze", "examine"]

CHECKS: dict[int, Callable[[Case], None]] = dict(
    sorted((checks_startup.CHECKS | checks_probe.CHECKS | checks_path.CHECKS).items())
)
"""Checks of each case."""


def examine(case: Case) -> Case:
    """Check a case; a state that it never enters is a check that fails."""
    try:
        CHECKS[case.number](case)
    except LookupError as e:
        case.check(str(e), holds=False)
    return case


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare each case's trace with the expectations of the draft; see `dumbbell.studies`."""
    cases = [examine(Case.of(number, results)) for number in CHECKS]
    texts = {claim.id: claim.text for claim in study.paper.claims}
    findings = [_finding(case) for case in cases]
    return Analysis(
        findings=findings,
        pictures=[picture(case, texts[f"a{case.number:02d}"]) for case in cases],
        tables=[_table(cases, texts)],
        summary=[counted(study.paper, findings)],
        notes=NOTES,
    )


def _finding(case: Case) -> Finding:
    wrong = [what for what, holds in case.seen if not holds]
    return Finding(
        f"a{case.number:02d}",
        Verdict.AGREES if case.holds else Verdict.DIFFERS,
        "Every observation in the trace agrees with the draft; the expected value is in brackets.",
        tuple(Measured("seen" if holds else "not as expected", what) for what, holds in case.seen),
        "; ".join(wrong or [what for what, _ in case.seen]),
    )


def _table(cases: list[Case], texts: Mapping[str, str]) -> Table:
    rows = [
        {
            "case": texts[f"a{case.number:02d}"].split(":")[0],
            "seen": "; ".join(what if holds else f"NOT AS EXPECTED: {what}" for what, holds in case.seen),
            "": "holds" if case.holds else "fails",
        }
        for case in cases
    ]
    return Table("cases", "The 22 cases; expected values in brackets", pl.DataFrame(rows))


NOTES = (
    Note(
        "A.4: a tenth less isn't enough",
        "The draft's reduction of the bandwidth by 10 % doesn't keep the queue for three round trips at a pacing "
        "gain of 0.5; the scenario reduces it by 60 %.",
    ),
    Note("A.6: no time in PROBE_DOWN", "With no more than one BDP in flight, PROBE_DOWN ends with the same ACK."),
    Note(
        "A.12, A.13: aggregated ACKs overstate the rate",
        "In startup by a quarter, later by a tenth: the send rate, which bounds a sample, is itself up to 2.77 or "
        "1.25 times the link's.",
    ),
    Note(
        "A.14: four segments in the dip only",
        "Elsewhere the window is six: three quanta of two segments are more than MinPipeCwnd.",
    ),
    Note(
        "A.17: a policer is learned as a bound",
        "A policer without a buffer is learned as a bound of the data in flight; each probe empties the bucket "
        "again. Over 40 paths with 19.8 to 20.2 ms, 72 % of the tokens' rate are used on average, with a standard "
        "deviation of 10 points. The bounds were 75 % and 10 % lost until that was seen. Now they are half of the "
        "rate, and the 20 % that a pacing gain of 1.25 throughout would lose.",
    ),
    Note(
        "A.18, A.19: a stack that detects spurious recoveries",
        "These two need a sender that detects that a recovery was spurious: from D-SACKs, or from the timestamps "
        "of ACKs. Their scenarios switch that on; all others run on the plain stack `rfc`.",
    ),
)
