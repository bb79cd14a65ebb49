"""The video report's captures, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.results import Results
from dumbbell.studies.finding import Analysis, Note
from dumbbell.studies.judge import judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.partial import absent
from dumbbell.studies.shared import LABELS, counted
from dumbbell.studies.video_real_traffic.browser import EXPERIMENT, analyze_browser
from dumbbell.studies.video_real_traffic.changed import changed_note
from dumbbell.studies.video_real_traffic.data import CLIENT, SERVER, VARIANTS
from dumbbell.studies.video_real_traffic.experiments import Experiments
from dumbbell.studies.video_real_traffic.figures import pictures
from dumbbell.studies.video_real_traffic.fits import fit_note
from dumbbell.studies.video_real_traffic.quantities import quantities
from dumbbell.studies.video_real_traffic.reported import remarks, wifi_of_report
from dumbbell.studies.video_real_traffic.tables import predictions, tables

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the captures with the report's claims; see `dumbbell.studies`."""
    if EXPERIMENT in results:
        return analyze_browser(study, results)
    texts = {claim.id: claim.text for claim in study.paper.claims}
    reported = study.paper.figures
    found = Experiments.read(results, reported)
    findings = judge_all(study, quantities(found, absent(results)), remarks(found.queue, reported))
    return Analysis(
        findings=findings,
        pictures=pictures(found, reported),
        tables=[*tables(found, reported), *list_tables(study, findings)],
        summary=counted(findings, texts),
        notes=[
            *(fit_note(fit) for fit in found.fits.values()),
            _shaper(found, reported),
            *changed_note(found.queue, found.veno, reported),
            _sender(found),
            _offload(reported),
        ],
    )


def _shaper(found: Experiments, reported: Mapping[str, Any]) -> Note:
    table = {v: predictions(found, reported, v) for v in VARIANTS}
    predicted = {
        name: float(np.exp(np.mean([np.log(table[v][name]) for v in VARIANTS if v != "cubic"])))
        for name in ("queue, at the server", "policer, at the server", "queue, at the client")
        if name in table["cubic"]
    }
    best = min(predicted, key=lambda name: predicted[name])
    listed = "; ".join(
        f"{name}: {table['cubic'][name]:.2f} for CUBIC, {x:.2f} for Veno and Vegas" for name, x in predicted.items()
    )
    return Note(
        f"Veno and Vegas are predicted best by: {best}",
        "The report doesn't state how its tool shaped the link, nor on which host the variant was set. Mean factors "
        f"between medians and the report's, over throughput, retransmitted bytes and duplicate ACKs: {listed}.",
    )


def _sender(found: Experiments) -> Note:
    at, there = (
        {v: np.median(found.queue.get("duplicate ACKs", host, v)) for v in VARIANTS} for host in (SERVER, CLIENT)
    )
    words = ", ".join(f"{LABELS[v]} {x:.0f}" for v, x in at.items())
    return Note(
        "Congestion control belongs to the sender",
        "A browser that watches a video sends requests and ACKs; the server sends the video, and its variant "
        f"decides. With the variant at the server the captures have in the median {words} duplicate ACKs; with the "
        f"variant at the client (and CUBIC at the server) {', '.join(f'{x:.0f}' for x in there.values())}. Captures "
        "of a laptop whose variant was changed differ by the time of day, the server, the path: run the variants in "
        "turn, not one after the other, and more than five times.",
    )


def _offload(reported: Mapping[str, Any]) -> Note:
    average = {v: wifi_of_report(reported, v)["packet size"] for v in VARIANTS}
    return Note(
        "Packets of 3000 bytes were never on the wire",
        f"{', '.join(f'{LABELS[v]} {a:.0f}' for v, a in average.items())} bytes a packet in the mean over TCP: "
        "the receiving host merges segments before they are captured (GRO, LRO). QUIC over UDP isn't merged "
        "there, so its packets have 918 to 991 bytes. Counts of packets, and of spikes of packets per second, "
        "can't be compared between the two.",
    )
