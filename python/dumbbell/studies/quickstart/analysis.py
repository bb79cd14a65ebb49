"""The four experiments, compared with the statements of textbooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.metrics import jain, summarize
from dumbbell.report.finding import Analysis, Note, Table
from dumbbell.results import Results
from dumbbell.studies.quickstart import claims_one, claims_shared, figures
from dumbbell.studies.quickstart.data import PAIRS, QUEUES, Bloat, Pair, Series
from dumbbell.studies.shared import LABELS, counted, quick_rules

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


FEWER = {"bloat-is-queue", "aqm-removes", "cubic-takes-more"}
"""The claims with intervals over repetitions, which are fewer in a quick study."""


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the statements; see `dumbbell.studies`."""
    sawtooth, cubic = Series(results["sawtooth"]), Series(results["cubic"])
    bloat, pair = Bloat(results["bloat"]), Pair(results["pair"])
    findings = [
        *claims_one.reno(sawtooth),
        *claims_one.cubic(cubic),
        *claims_shared.bloat(bloat, quick=study.quick),
        *claims_shared.pair(pair, quick=study.quick),
    ]
    if study.quick:
        findings = quick_rules(findings, FEWER)
    return Analysis(
        findings=findings,
        pictures=figures.pictures(sawtooth, cubic, bloat, pair),
        tables=[_queues(bloat), _pairs(pair)],
        summary=[counted(study.paper, findings)],
        notes=[_slow_start()],
    )


def _queues(data: Bloat) -> Table:
    rows = [
        {
            "queue": words,
            "ping, median ms": summarize(data.ping(q)).text(),
            "ping, 95th percentile ms": summarize(data.ping(q, "rtt_p95_ms")).text(),
            "download, Mbit/s": summarize(data.goodput(q)).text(),
        }
        for q, words in QUEUES.items()
    ]
    return Table("queues", "A ping beside a download, 5 Mbit/s and 30 ms: median [95 % interval]", pl.DataFrame(rows))


def _pairs(data: Pair) -> Table:
    rows = []
    for pair in PAIRS:
        both = data.goodput(pair)
        rows.append(
            {
                "first": LABELS[pair[0]],
                "second": LABELS[pair[1]],
                "first, Mbit/s": summarize(both[:, 0]).text(),
                "second, Mbit/s": summarize(both[:, 1]).text(),
                "Jain's index": summarize(jain(both)).text(),
            }
        )
    return Table("pairs", f"Two flows on 10 Mbit/s and 40 ms: median [95 % interval] of {data.n}", pl.DataFrame(rows))


def _slow_start() -> Note:
    return Note(
        "A detail that the figures leave out",
        "In the sawtooth slow start ends at a threshold that fits the path. Usually it ends in a burst of losses, "
        "from which classic Reno, without selective acknowledgments, may need a timeout to recover.",
    )
