"""The report's numbers in our units, and tests on its own runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.report.finding import Measured
from dumbbell.studies.declared import All
from dumbbell.studies.judge import Remark
from dumbbell.studies.shared import LABELS
from dumbbell.studies.video_real_traffic.data import CLIENT, MERGED, SERVER, VARIANTS, Captured

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study
    from dumbbell.studies.video_real_traffic.experiments import Experiments

__all__ = ["FRAME", "REPORTED", "medians_of_report", "of_report", "rank_sum", "remarks", "wifi_of_report"]

REPORTED = {
    "throughput": "throughput_kBps",
    "retransmitted": "retransmitted_bytes",
    "duplicate ACKs": "duplicate_acks",
    "out of order": "out_of_order",
}
"""The report's tables of five runs."""
FRAME = 1514
"""Largest frame of an Ethernet without jumbo frames, bytes."""


def of_report(reported: Mapping[str, Any], metric: str, variant: str) -> list[float]:
    """Return the report's runs in our units."""
    factor = 1e-3 if metric == "retransmitted" else 1.0
    return [factor * x for x in reported[REPORTED[metric]][variant]]


def medians_of_report(reported: Mapping[str, Any], variant: str) -> dict[str, float]:
    """Return the medians of the report's tables of five runs."""
    return {metric: float(np.median(of_report(reported, metric, variant))) for metric in REPORTED}


def wifi_of_report(reported: Mapping[str, Any], variant: str) -> dict[str, float]:
    """Return the numbers of the report's capture over Wi-Fi."""
    packets, size = (float(reported[f"tcp_{name}"][variant]) for name in ("packets", "bytes"))
    return {
        "throughput": 1e-3 * size / float(reported["tcp_seconds"][variant]),
        "packets": packets,
        "packet size": size / packets,
        "spikes": float(reported["spikes"]["Wi-Fi"][variant]),
        "largest spike": float(reported["largest_spike"]["Wi-Fi"][variant]),
    }


def rank_sum(a: list[float], b: list[float]) -> float:
    """Return the two-sided p-value of the rank-sum test on two independent sets of runs."""
    from scipy.stats import mannwhitneyu  # slow to import

    return float(mannwhitneyu(a, b, method="exact" if len({*a, *b}) == len(a) + len(b) else "asymptotic").pvalue)


def remarks(study: Study, found: Experiments, reported: Mapping[str, Any]) -> dict[str, Remark]:
    """Return the remarks by claim."""
    queue = found.queue
    average = {v: wifi_of_report(reported, v)["packet size"] for v in VARIANTS}
    words = ", ".join(f"{LABELS[v]} {a:.0f}" for v, a in average.items())
    quic = {v: float(reported["lengths"]["quic"][v]["average"][0]) for v in VARIANTS}
    over_quic = ", ".join(f"{LABELS[v]} {a:.0f}" for v, a in quic.items())
    own = {
        "retransmissions-order": _order(queue, reported, "retransmitted", "kB"),
        "dupacks-order": _order(queue, reported, "duplicate ACKs", "ACKs"),
        "tcp-packets-larger": Remark(
            f"The report's TCP packets have {words} bytes in the mean, those over QUIC {over_quic}; an Ethernet "
            f"frame has "
            f"at most {FRAME}"
        ),
        "wifi-veno-least-spikes": Remark(_own(reported, "spikes", "least", min)),
        "wifi-largest-spike": Remark(_own(reported, "largest_spike", "most", max)),
    }
    for claim, text in _without_losses(study, found).items():
        before = own.get(claim, Remark())
        own[claim] = replace(before, text=". ".join(t for t in (text, before.text) if t))
    return own


def _without_losses(study: Study, found: Experiments) -> dict[str, str]:
    """State for claims on the fast access, by their id, that its blocks can't tell the variants apart, if so."""
    texts = {}
    for claim in study.paper.judged:
        rule = claim.rule
        if rule is None or isinstance(rule, All) or not rule.metric.startswith("fast "):
            continue
        access = str(rule.at["access"])
        same = found.wifi.same(*((access, MERGED, v) for v in VARIANTS))
        if same and same == found.wifi.n:
            texts[claim.id] = (
                f"The path of the blocks loses no packet, and in all {same} runs the captures of the variants have "
                f"the same numbers: over {access} blocks can't tell the variants apart"
            )
    return texts


def _own(reported: Mapping[str, Any], figure: str, word: str, choose: Any) -> str:  # noqa: ANN401 - min or max
    table = reported[figure]["Wi-Fi"]
    who = choose(table, key=lambda v: table[v])
    return f"The report's own table has the {word} for {LABELS[who]} ({table[who]:g})"


def _order(queue: Captured, reported: Mapping[str, Any], metric: str, unit: str) -> Remark:
    table = {v: of_report(reported, metric, v) for v in VARIANTS}
    own = {(a, b): rank_sum(table[a], table[b]) for a, b in (("cubic", "veno"), ("veno", "vegas"))}
    middle = {v: float(np.median(queue.get(metric, SERVER, v))) for v in VARIANTS}
    listed = ", ".join(f"{LABELS[v]} {x:.3g} (report {np.median(table[v]):.3g})" for v, x in middle.items())
    tests = ", ".join(f"{LABELS[a]} and {LABELS[b]} p {p:.3f}" for (a, b), p in own.items())
    return Remark(
        f"Medians with a queue, {unit}: {listed}. Rank-sum tests on the report's own five runs: {tests}",
        tuple(
            Measured.of(f"set at the client: {LABELS[v]}", summarize(queue.get(metric, CLIENT, v)), unit)
            for v in VARIANTS
        ),
    )
