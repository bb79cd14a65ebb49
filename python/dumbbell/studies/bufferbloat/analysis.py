"""The bufferbloat report's experiments, compared with its claims."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.results import Results
from dumbbell.studies.bufferbloat.data import ANY, QUEUES, VARIANTS, Curves, Load
from dumbbell.studies.bufferbloat.figures import pictures
from dumbbell.studies.bufferbloat.fits import fit_table, not_run, prediction, singles
from dumbbell.studies.bufferbloat.quantities import quantities
from dumbbell.studies.finding import Analysis, Note, Table
from dumbbell.studies.judge import Remark, judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.partial import absent
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    texts = {claim.id: claim.text for claim in study.paper.claims}
    load, pages, curves = Load(results["load"]), Curves(results["pages"]), Curves(results["curves"])
    found, missing = singles(results["fit"]), not_run(results["fit"])
    findings = judge_all(study, quantities(load, pages, curves), _remarks(load))
    return Analysis(
        findings=findings,
        pictures=pictures(load, pages, curves, study.paper.figures),
        tables=[
            _table(load, study.paper.figures),
            fit_table(found, study.paper.figures, missing),
            *list_tables(study, findings),
        ],
        summary=counted(findings, texts),
        notes=[
            prediction(found, study.paper.figures, missing, absent(results).get("fit", "")),
            _arithmetic(load),
            _pages(load),
        ],
    )


def _remarks(load: Load) -> dict[str, Remark]:
    cost = ", ".join(
        f"{LABELS[v]} {np.median(load.goodput('small', v)):.2f} instead of {np.median(load.goodput('large', v)):.2f} "
        "Mbit/s"
        for v in VARIANTS
    )
    singles = ", ".join(f"beside {LABELS[v]} {_range(load, v)} s" for v in VARIANTS)
    return {
        "small-queue-helps": Remark(f"The long transfer's price: {cost}"),
        "cubic-better": Remark(f"Single downloads take {singles}"),
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
    full = 100 * 1500 * 8 / 1.5e6
    return Note(
        "A full queue of 100 packets is 0.8 s",
        f"1500 bytes at 1.5 Mbit/s take 8 ms; 100 of them {1000 * full:.0f} ms, 20 of them 160 ms. The window of "
        "Reno keeps the queue between a half and all of that, so ten pings show "
        f"{np.median(load.ping('large', 'reno')):.0f} ms in the mean; CUBIC, which reduces its window by less, stays "
        "nearer to the top over long stretches. The page has to go through the same queue in each of its round "
        "trips.",
    )


def _pages(load: Load) -> Note:
    listed = "; ".join(f"{LABELS[v]} {_range(load, v)} s" for v in VARIANTS)
    middles = "; ".join(
        f"{since}: Reno {np.median(load.page('large', 'reno', since)):.1f}, CUBIC "
        f"{np.median(load.page('large', 'cubic', since)):.1f} s"
        for since in load.since
    )
    return Note(
        "One download is one sample",
        f"With 100 packets single downloads take {listed}, depending on where in a tooth they fall and whether "
        "they lose a packet: the report's 7.1 and 5.2 s are one each. Medians by the time since the start: "
        f"{middles}.",
    )
