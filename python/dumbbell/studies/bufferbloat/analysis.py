"""The bufferbloat report's experiments, compared with its claims."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.report.finding import Analysis, Finding, Note, Table
from dumbbell.results import Results
from dumbbell.studies.bufferbloat.data import ANY, QUEUES, VARIANTS, Curves, Load, Pages, Paths
from dumbbell.studies.bufferbloat.figures import pictures
from dumbbell.studies.bufferbloat.fits import best_sentence, fit_table, not_run, prediction, singles
from dumbbell.studies.bufferbloat.quantities import quantities
from dumbbell.studies.judge import Remark, judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.partial import absent, data
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze", "findings"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    load, pages, curves = Load(results["load"]), Pages(results["pages"]), Curves(results["curves"])
    found, missing = singles(results["fit"]), not_run(results["fit"])
    judged = findings(study, results)
    return Analysis(
        findings=judged,
        pictures=pictures(load, pages, curves, study.paper.figures),
        tables=[
            _table(load, study.paper.figures),
            fit_table(found, study.paper.figures, missing),
            *list_tables(study, judged),
        ],
        summary=[counted(study.paper, judged), best_sentence(found, study.paper.figures)],
        notes=[
            prediction(found, study.paper.figures, missing, absent(results).get("fit", "")),
            _arithmetic(load),
            _pages(load, study.paper.figures),
        ],
    )


def findings(study: Study, results: Mapping[str, Results]) -> list[Finding]:
    """Judge the report's claims."""
    load, pages = data(results, "load", Load), data(results, "pages", Pages)
    curves, paths = data(results, "curves", Curves), data(results, "paths", Paths)
    return judge_all(study, quantities(load, pages, curves, paths), _remarks(load))


def _remarks(load: Load) -> dict[str, Remark]:
    small, large = (float(np.median(load.goodput(q, "reno"))) for q in ("small", "large"))
    singles = ", ".join(f"beside {LABELS[v]} {_range(load, v)} s" for v in VARIANTS)
    return {
        "small-queue-helps": Remark(
            f"The goodput of the long transfer, {large:.2f} Mbit/s, then changes by "
            f"{100 * (small - large) / large:+.1f} %"
        ),
        "cubic-better": Remark(f"Single downloads take, over all three times since the start, {singles}"),
    }


def _range(load: Load, variant: str) -> str:
    times = load.page("large", variant, ANY)
    return f"{times.min():.1f} to {times.max():.1f}"


def _table(load: Load, reported: Mapping[str, Any]) -> Table:
    rows = []
    for v in VARIANTS:
        for q, since in itertools.product(QUEUES, load.since):
            report = reported.get(f"{v}_{'two_queues' if q == 'two' else f'{q}_queue'}", {})
            row = {"variant": LABELS[v], "queue": QUEUES[q], "page after the start": since}
            printed = {
                "RTT, ms": [float(np.mean(x)) for x in report.get("ping_ms", [])],
                "page, s": report.get("page_s", []),
            }
            for what, values in (("RTT, ms", load.ping), ("page, s", load.page)):
                row[f"{what}: alone"] = summarize(values(q, v, since, loaded=False)).text()
                row[f"{what}: beside"] = summarize(values(q, v, since)).text()
                row[f"{what}: report"] = " to ".join(f"{x:.3g}" for x in printed[what]) or "-"
            row["transfer, Mbit/s"] = summarize(load.goodput(q, v, since)).text()
            rows.append(row)
    title = f"Before and beside the long transfer: median [95 % interval] of {load.n} repetitions"
    return Table("load", title, pl.DataFrame(rows))


def _arithmetic(load: Load) -> Note:
    one = 1500 * 8 / 1.5e6
    full = 1000 * 100 * one
    pings = {
        since: {
            v: float(np.median(load.ping("large", v, since) - load.ping("large", v, since, loaded=False)))
            for v in VARIANTS
        }
        for since in load.since
    }
    parts = "; ".join(
        f"{since}: " + ", ".join(f"{LABELS[v]} {ping:.0f} ms ({100 * ping / full:.0f} %)" for v, ping in by.items())
        for since, by in pings.items()
    )
    return Note(
        f"A full queue of 100 packets is {1e-3 * full:g} s; pings find "
        f"{100 * min(min(by.values()) for by in pings.values()) / full:.0f} to "
        f"{100 * max(max(by.values()) for by in pings.values()) / full:.0f} % of it",
        f"1500 bytes at 1.5 Mbit/s take {1000 * one:g} ms; 100 of them {full:.0f} ms, 20 of them "
        f"{1000 * 20 * one:.0f} ms. Medians of what the transfer adds to the mean of ten pings with 100 packets, by "
        f"the time since its start, and as a part of a full queue: {parts}.",
    )


def _pages(load: Load, reported: Mapping[str, Any]) -> Note:
    own = ", ".join(f"{LABELS[v]} {reported[f'{v}_large_queue']['page_s'][1]:g} s" for v in VARIANTS)
    listed = "; ".join(f"{LABELS[v]} {_range(load, v)} s" for v in VARIANTS)
    middles = "; ".join(
        f"{since}: Reno {np.median(load.page('large', 'reno', since)):.1f}, CUBIC "
        f"{np.median(load.page('large', 'cubic', since)):.1f} s"
        for since in load.since
    )
    return Note(
        "One download is one sample",
        f"With 100 packets single downloads take {listed}; the report has one of each, {own}. Medians by the time "
        f"since "
        f"the start: {middles}.",
    )
