"""The results by sections of the suite, compared with the statements of RFCs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dumbbell.report.finding import Analysis, Note
from dumbbell.results import Results
from dumbbell.studies.aqm import claims_codel, claims_pie_fq_codel, figures_other, figures_plane
from dumbbell.studies.aqm.data import Section
from dumbbell.studies.aqm.phases import CONGESTION, Phases, alternating
from dumbbell.studies.aqm.tables import tables
from dumbbell.studies.shared import counted, quick_rules

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]

BESIDE = {"5.1.2": "flows.short.stack.initial_window", "6.2": "flows.category-2.access.delay"}
"""The value that two experiments vary beside the discipline."""


PHASES = {"codel-median", "codel-rates", "pie-target"}
"""The claims on experiments that have all their repetitions in a quick study too."""


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the RFCs' statements; see `dumbbell.studies`."""
    sections = {name: Section(found, BESIDE.get(name)) for name, found in results.items() if name[0] != "8"}
    congestion = Phases(results["8.2.5"], CONGESTION, 0.05)
    slow = Phases(results["8.2.6-1"], alternating(20.0), 0.05)
    fast = Phases(results["8.2.6-2"], alternating(0.1), 0.005)
    findings = [
        *claims_pie_fq_codel.droptail(sections, quick=study.quick),
        *claims_codel.codel(sections, congestion, slow, fast, quick=study.quick),
        *claims_pie_fq_codel.pie(sections, congestion, quick=study.quick),
        *claims_pie_fq_codel.flow_queueing(sections, quick=study.quick),
        *claims_pie_fq_codel.interactions(sections, quick=study.quick),
    ]
    if study.quick:
        findings = quick_rules(findings, {f.claim for f in findings} - PHASES)
    return Analysis(
        findings=findings,
        pictures=[
            *figures_plane.pictures(sections),
            figures_other.fairness_picture(sections["6.2"]),
            figures_other.burst_picture(sections),
            *figures_other.phase_pictures(congestion, slow, fast),
        ],
        tables=tables(sections, congestion, slow, fast),
        summary=[counted(study.paper, findings)],
        notes=NOTES,
    )


NOTES = (
    Note(
        "Values that the RFC leaves open",
        "Capacity, round trip and durations are the tester's choice: 10 Mbit/s, 100 ms, a minute of measurement "
        "after ten seconds of warm-up. Access links jitter by a packet's time at the bottleneck, so that runs "
        "differ and phase effects don't decide; without that a single flow would give the same point each time.",
    ),
    Note(
        "§5.4: a gain of 1 instead of 10",
        "The RFC recommends a gain of 10 for LEDBAT. RFC 6817 allows no more than 1, and LEDBAT runs with 1 here, "
        "with the RFC's target of 5 ms.",
    ),
    Note(
        "§7.2: how a page is made",
        "Six connections at once, each with one answer of 108 kB for nine objects of 12 kB, a page each 3 s, or as "
        "soon as the last one has ended. In the RFC the next page follows at once.",
    ),
    Note(
        "Not run",
        "The asymmetric link with traffic in both directions (§3.1, §9.2), the traffic mix (§9.1), two AQMs in a "
        "row (§10.2) and ECN (§4.5). The cumulative distributions that §2.7 requires are drawn for §8.2.5; elsewhere "
        "there are means and 95th percentiles.",
    ),
)
