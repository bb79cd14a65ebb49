"""The bufferbloat report's experiments, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.results import Results
from dumbbell.studies.bufferbloat.claims import claims
from dumbbell.studies.bufferbloat.data import QUEUES, VARIANTS, Curves, Load
from dumbbell.studies.bufferbloat.figures import pictures
from dumbbell.studies.finding import Analysis, Note, Table
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    texts = {claim.id: claim.text for claim in study.paper.claims}
    load, curves = Load(results["load"]), Curves(results["curves"])
    findings = claims(load, curves, study.paper.figures)
    return Analysis(
        findings=findings,
        pictures=pictures(load, curves),
        tables=[_table(load, study.paper.figures)],
        summary=counted(findings, texts),
        notes=[_arithmetic(load), _pages(load)],
    )


def _table(load: Load, reported: Mapping[str, Mapping[str, list[float]]]) -> Table:
    rows = []
    for v in VARIANTS:
        for q, words in QUEUES.items():
            report = reported.get(f"{v}_{'two_queues' if q == 'two' else f'{q}_queue'}", {})
            row = {"variant": LABELS[v], "queue": words}
            for what, values, key in (("RTT, ms", load.ping, "rtt_ms"), ("page, s", load.page, "page_s")):
                row[f"{what}: alone"] = summarize(values(q, v, loaded=False)).text()
                row[f"{what}: beside"] = summarize(values(q, v)).text()
                row[f"{what}: report"] = " to ".join(f"{x:g}" for x in report[key]) if report else "-"
            row["transfer, Mbit/s"] = summarize(load.goodput(q, v)).text()
            rows.append(row)
    title = f"Before and beside the long transfer: median [95 % interval] of {load.n} repetitions"
    return Table("load", title, pl.DataFrame(rows))


def _arithmetic(load: Load) -> Note:
    full = 100 * 1500 * 8 / 1.5e6
    return Note(
        "A full queue of 100 packets is 0.8 s",
        f"1500 bytes at 1.5 Mbit/s take 8 ms; 100 of them {1000 * full:.0f} ms, 20 of them 160 ms. The window of "
        "Reno keeps the queue between a half and all of that, so ten pings show "
        f"{np.median(load.ping('large', 'reno')):.0f} ms in the mean; CUBIC, which backs off by less, stays "
        "nearer to the top over long stretches. The page has to go through the same queue in each of its round "
        "trips.",
    )


def _pages(load: Load) -> Note:
    spread = {v: load.pages("large", v) for v in VARIANTS}
    listed = "; ".join(f"{LABELS[v]} {x.min():.1f} to {x.max():.1f} s" for v, x in spread.items())
    return Note(
        "One download is one draw",
        f"With 100 packets single downloads take {listed}, depending on where in a tooth they fall and whether "
        "they lose a packet: the report's 7.1 and 5.2 s are one each, and don't order the variants.",
    )
