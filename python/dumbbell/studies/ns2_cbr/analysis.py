"""Compares the ns-2 report's claims with its repeated experiments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.metrics import summarize
from dumbbell.results import Results
from dumbbell.studies.finding import Analysis, Table
from dumbbell.studies.ns2_cbr import claims_exp1, claims_exp2, claims_exp3, figures_exp1, figures_exp2, figures_exp3
from dumbbell.studies.ns2_cbr.data import METRICS, VARIANTS, Experiment1, Experiment2, report_rates
from dumbbell.studies.ns2_cbr.data_exp3 import QUEUES, Experiment3
from dumbbell.studies.ns2_cbr.summary_text import notes, summary
from dumbbell.studies.shared import LABELS

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    texts = {claim.id: claim.text for claim in study.paper.claims}
    one, large = Experiment1(results["exp1"]), Experiment1(results["exp1-large-window"])
    two, three = Experiment2(results["exp2"]), Experiment3(results["exp3"])
    findings = [*claims_exp1.claims(one, large), *claims_exp2.claims(two), *claims_exp3.claims(three)]
    return Analysis(
        findings=findings,
        pictures=[*figures_exp1.pictures(one, large), *figures_exp2.pictures(two), *figures_exp3.pictures(three)],
        tables=[_by_rate(one, metric) for metric in ("throughput", "latency", "drop rate")] + [_by_queue(three)],
        summary=summary(findings, texts, one),
        notes=notes(one, large, three),
    )


def _by_rate(data: Experiment1, metric: str) -> Table:
    unit = METRICS[metric][2]
    rates = report_rates(list(data.rates))
    columns = {"CBR Mbit/s": [f"{r:g}" for r in rates]}
    for v in VARIANTS:
        columns[LABELS[v]] = [summarize(data.get(metric, v, r)).text() for r in rates]
    title = f"Experiment 1, {metric} in {unit}: median [95 % interval] of {data.n} repetitions"
    return Table(f"exp1-{metric.replace(' ', '-')}", title, pl.DataFrame(columns))


def _by_queue(data: Experiment3) -> Table:
    rows = []
    for v in data.variants:
        for q, words in QUEUES.items():
            row = {"variant": LABELS[v], "queue": words}
            for metric in ("throughput", "latency", "queue delay", "drop rate", "timeouts"):
                unit = METRICS[metric][2]
                heading = metric if metric == unit else f"{metric}, {unit}"
                row[heading] = summarize(data.get(metric, v, q)).text()
            rows.append(row)
    title = f"Experiment 3 while the CBR stream runs: median [95 % interval] of {data.n} repetitions"
    return Table("exp3", title, pl.DataFrame(rows))
