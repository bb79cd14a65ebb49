"""The video report's captures, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from dumbbell.results import Results
from dumbbell.studies.finding import Analysis, Note, Table
from dumbbell.studies.shared import LABELS, counted
from dumbbell.studies.video_real_traffic.claims import REPORTED, claims, of_report
from dumbbell.studies.video_real_traffic.data import CLIENT, METRICS, SERVER, VARIANTS, Shaped
from dumbbell.studies.video_real_traffic.figures import pictures

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the captures with the report's claims; see `dumbbell.studies`."""
    texts = {claim.id: claim.text for claim in study.paper.claims}
    queue, policer = Shaped(results["queue"]), Shaped(results["policer"])
    reported = study.paper.figures
    findings = claims(queue, policer, reported)
    return Analysis(
        findings=findings,
        pictures=pictures(queue, policer, reported),
        tables=[_medians(queue, policer, reported), _lengths(queue)],
        summary=counted(findings, texts),
        notes=[_sender(queue), _offload(reported)],
    )


def _medians(queue: Shaped, policer: Shaped, reported: Mapping[str, Any]) -> Table:
    def shown(values: Any) -> str:  # noqa: ANN401 - numbers of any kind
        x = np.asarray(values, dtype=np.float64)
        return f"{np.median(x):.4g} ({x.min():.4g} to {x.max():.4g})"

    rows = []
    for metric, words in METRICS.items():
        for v in VARIANTS:
            rows.append(
                {
                    "metric": words,
                    "variant": LABELS[v],
                    "report": shown(of_report(reported, metric, v)) if metric in REPORTED else "-",
                    "queue, at the server": shown(queue.get(metric, SERVER, v)),
                    "policer, at the server": shown(policer.get(metric, SERVER, v)),
                    "queue, at the client": shown(queue.get(metric, CLIENT, v)),
                }
            )
    title = f"Median (smallest to largest) of {queue.n} runs, beside the report's five"
    return Table("medians", title, pl.DataFrame(rows))


def _lengths(queue: Shaped) -> Table:
    lengths = queue.captures[SERVER, "cubic"][0].lengths
    columns = ["title", "count", "average", "min", "max", "rate", "percent", "burst_rate", "burst_start"]
    texts = lengths.select(pl.col("title"), *(pl.col(c).cast(pl.String).fill_null("-") for c in columns[1:]))
    title = "Packet lengths at the client, CUBIC, first run, as Wireshark lists them (rates per ms)"
    return Table("packet-lengths", title, texts)


def _sender(queue: Shaped) -> Note:
    at = {v: np.median(queue.get("duplicate ACKs", SERVER, v)) for v in VARIANTS}
    there = {v: np.median(queue.get("duplicate ACKs", CLIENT, v)) for v in VARIANTS}
    words = ", ".join(f"{LABELS[v]} {x:.0f}" for v, x in at.items())
    return Note(
        "Congestion control belongs to the sender",
        "A browser that watches a video sends requests and ACKs; the server sends the video, and its variant "
        f"decides. With the variant at the server the client sends {words} duplicate ACKs; with the variant at "
        f"the client (and CUBIC at the server) {', '.join(f'{x:.0f}' for x in there.values())}. What differs "
        "between captures of a laptop whose variant was changed is the time of day, the server, the path: run the "
        "variants in turn, not one after the other, and more than five times.",
    )


def _offload(reported: Mapping[str, Any]) -> Note:
    average = {v: reported["tcp_bytes"][v] / reported["tcp_packets"][v] for v in VARIANTS}
    return Note(
        "Packets of 3000 bytes were never on the wire",
        f"{', '.join(f'{LABELS[v]} {a:.0f}' for v, a in average.items())} bytes a packet in the mean over TCP: "
        "the receiving host merges segments before the capture sees them (GRO, LRO). QUIC over UDP isn't merged "
        "there, hence the 918 to 991 bytes. Counts of packets, and of spikes of packets per second, can't be "
        "compared between the two.",
    )
