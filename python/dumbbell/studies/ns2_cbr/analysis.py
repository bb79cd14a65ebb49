"""Compares the ns-2 report's claims with its repeated experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.metrics import summarize
from dumbbell.report.finding import Analysis, Finding, Table
from dumbbell.results import Results
from dumbbell.studies.judge import judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.ns2_cbr import (
    figures_exp1,
    figures_exp2,
    figures_exp3,
    further,
    remarks_exp1,
    remarks_exp2,
    remarks_exp3,
)
from dumbbell.studies.ns2_cbr.data import METRICS, Experiment1, Experiment2, Start, report_rates
from dumbbell.studies.ns2_cbr.data_exp3 import QUEUES, Experiment3
from dumbbell.studies.ns2_cbr.fits import Fit, fit_note, fit_picture, fit_sentence, fit_table, used_setting
from dumbbell.studies.ns2_cbr.measured import added
from dumbbell.studies.ns2_cbr.quantities import quantities
from dumbbell.studies.ns2_cbr.summary_text import notes, sack_place
from dumbbell.studies.partial import absent, data
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze", "findings"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    one, constant, large = (Experiment1(results[name]) for name in ("exp1", "exp1-constant", "exp1-large-window"))
    two, three = Experiment2(results["exp2"]), Experiment3(results["exp3"])
    judged = findings(study, results)
    fit = Fit(results["fit"], used_setting(results["exp1"].scenario))
    return Analysis(
        findings=judged,
        pictures=[
            fit_picture(fit),
            *figures_exp1.pictures(one, constant, large),
            *figures_exp2.pictures(two),
            *figures_exp3.pictures(three),
        ],
        tables=[_by_rate(one, metric) for metric in ("throughput", "latency", "drop rate")]
        + [_by_queue(three), *further.tables(results), fit_table(fit), *list_tables(study, judged)],
        summary=[counted(study.paper, judged), fit_sentence(fit), sack_place(one)],
        notes=[fit_note(fit), *notes(one, constant, large, three), *further.notes(results)],
    )


def findings(study: Study, results: Mapping[str, Results]) -> list[Finding]:
    """Judge the report's claims."""
    one, large = (data(results, name, Experiment1) for name in ("exp1", "exp1-large-window"))
    two, three = data(results, "exp2", Experiment2), data(results, "exp3", Experiment3)
    remarks = {**remarks_exp1.remarks(one, large), **remarks_exp2.remarks(two), **remarks_exp3.remarks(three)}
    start = data(results, "exp1-start", Start)
    found = replace(quantities(one, start, two, three, added(results)), absent=absent(results))
    return judge_all(study, found, remarks)


def _by_rate(data: Experiment1, metric: str) -> Table:
    unit = METRICS[metric][2]
    rates = report_rates(list(data.rates))
    columns = {"CBR Mbit/s": [f"{r:g}" for r in rates]}
    for v in data.variants:
        columns[LABELS[v]] = [summarize(data.get(metric, v, r)).text() for r in rates]
    title = f"Experiment 1, {metric} in {unit}: median [95 % interval] of {data.n} repetitions"
    return Table(f"exp1-{metric.replace(' ', '-')}", title, pl.DataFrame(columns))


def _by_queue(data: Experiment3) -> Table:
    rows = []
    for v in data.variants:
        for q, words in ((q, QUEUES[q]) for q in data.queues):
            row = {"variant": LABELS[v], "queue": words}
            for metric in ("throughput", "latency", "queue delay", "drop rate", "timeouts"):
                unit = METRICS[metric][2]
                heading = metric if metric == unit else f"{metric}, {unit}"
                row[heading] = summarize(data.get(metric, v, q)).text()
            rows.append(row)
    title = f"Experiment 3 while the CBR stream runs: median [95 % interval] of {data.n} repetitions"
    return Table("exp3", title, pl.DataFrame(rows))
