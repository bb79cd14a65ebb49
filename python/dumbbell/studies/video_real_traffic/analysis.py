"""The video report's captures, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.report.finding import Analysis, Finding, Note
from dumbbell.results import Results
from dumbbell.studies.judge import judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.partial import absent
from dumbbell.studies.shared import LABELS, counted
from dumbbell.studies.video_real_traffic.browser import EXPERIMENT, analyze_browser
from dumbbell.studies.video_real_traffic.changed import changed_note
from dumbbell.studies.video_real_traffic.data import CLIENT, SERVER, VARIANTS
from dumbbell.studies.video_real_traffic.experiments import MERGED, Experiments
from dumbbell.studies.video_real_traffic.figures import pictures
from dumbbell.studies.video_real_traffic.fits import fit_note
from dumbbell.studies.video_real_traffic.player import QUIC
from dumbbell.studies.video_real_traffic.player_notes import player_notes
from dumbbell.studies.video_real_traffic.quantities import quantities
from dumbbell.studies.video_real_traffic.reported import FRAME, remarks, wifi_of_report
from dumbbell.studies.video_real_traffic.tables import predictions, tables

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze", "findings"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the captures with the report's claims; see `dumbbell.studies`."""
    if EXPERIMENT in results:
        return analyze_browser(study, results)
    reported = study.paper.figures
    found = Experiments.read(results, reported)
    judged = _judge(study, results, found)
    return Analysis(
        findings=judged,
        pictures=pictures(found, reported),
        tables=[*tables(found, reported), *list_tables(study, judged)],
        summary=[counted(study.paper, judged)],
        notes=[
            *(fit_note(fit) for fit in found.fits.values()),
            _shaper(found, reported),
            *changed_note(found.queue, found.veno, reported),
            _sender(found),
            *player_notes(found.player, reported),
            _offload(found, reported),
        ],
    )


def findings(study: Study, results: Mapping[str, Results]) -> list[Finding]:
    """Judge the report's claims."""
    return _judge(study, results, Experiments.read(results, study.paper.figures))


def _judge(study: Study, results: Mapping[str, Results], found: Experiments) -> list[Finding]:
    return judge_all(study, quantities(found, absent(results)), remarks(study, found, study.paper.figures))


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
    words, others = (", ".join(f"{LABELS[v]} {x:.0f}" for v, x in table.items()) for table in (at, there))
    spread = {host: max(table.values()) - min(table.values()) for host, table in (("server", at), ("client", there))}
    decides = max(spread, key=lambda host: spread[host]) if spread["server"] != spread["client"] else None
    equal = [
        f"{LABELS[v]} in {int((a == b).sum())} of {a.size}"
        for v in VARIANTS
        if v != "cubic"
        for a, b in [(found.queue.get("retransmitted", CLIENT, v), found.queue.get("retransmitted", CLIENT, "cubic"))]
    ]
    return Note(
        f"The variant at the {decides} changes the captures more" if decides else "No host's variant changes more",
        f"Duplicate ACKs in the median with the variant at the server: {words}; with the variant at the client (and "
        f"CUBIC "
        f"at the server): {others}. The medians of the variants differ by {spread['server']:.0f} and "
        f"{spread['client']:.0f}. With the variant at the client the bytes of retransmissions are those of a CUBIC "
        f"client: {', '.join(equal)} runs. The server sends the video, the client requests and ACKs.",
    )


def _offload(found: Experiments, reported: Mapping[str, Any]) -> Note:
    average = {v: wifi_of_report(reported, v)["packet size"] for v in VARIANTS}
    quic = {v: float(reported["lengths"]["quic"][v]["average"][0]) for v in VARIANTS}
    longer = [LABELS[v] for v in VARIANTS if average[v] > FRAME]
    here = {
        "TCP, segments of the wire": found.player.seen("packet size", "Wi-Fi", "cubic"),
        "TCP, merged": found.wifi.get("packet size", "Wi-Fi", MERGED, "cubic"),
        "QUIC": found.player.seen("packet size", "Wi-Fi", QUIC),
    }
    sizes = ", ".join(f"{words} {np.median(x):.0f}" for words, x in here.items() if x.size)
    return Note(
        f"The report's mean packet over TCP is longer than an Ethernet frame for {len(longer)} of {len(average)} "
        f"variants",
        f"{', '.join(f'{LABELS[v]} {a:.0f}' for v, a in average.items())} bytes in the mean over TCP, "
        f"{', '.join(f'{LABELS[v]} {a:.0f}' for v, a in quic.items())} over QUIC; a frame has at most {FRAME}. "
        f"Longer "
        "packets exist only in a host that merges received segments before they are captured (GRO, LRO). Medians "
        "here "
        f"over Wi-Fi with CUBIC: {sizes} bytes.",
    )
