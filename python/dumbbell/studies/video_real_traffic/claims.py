"""The report's claims: those on the congested link from captures, the others as not measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.studies import rules
from dumbbell.studies.finding import Finding, Measured, Verdict
from dumbbell.studies.shared import LABELS
from dumbbell.studies.video_real_traffic.data import CLIENT, SERVER, VARIANTS, Shaped

__all__ = ["REPORTED", "claims", "of_report", "rank_sum"]

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


def claims(queue: Shaped, policer: Shaped, reported: Mapping[str, Any]) -> list[Finding]:
    """Compare the claims with the captures, in the report's order."""
    return [
        _unmeasured("veno-wifi-fastest", "load time over Wi-Fi is playback over a real access point"),
        _larger(queue, reported),
        _order(queue, policer, reported, "retransmissions-order", "retransmitted", "kB"),
        _order(queue, policer, reported, "dupacks-order", "duplicate ACKs", "ACKs"),
        _unmeasured("veno-qoe", "re-buffering is playback, which this study doesn't have"),
        _unmeasured("quic-better", "QUIC and playback aren't part of this study"),
        _unmeasured("no-difference-uncongested", "playback on a fast link isn't part of this study"),
    ]


def _unmeasured(claim: str, why: str) -> Finding:
    return Finding(claim, Verdict.NOT_MEASURED, "None: it takes a player.", (), why)


def _larger(queue: Shaped, reported: Mapping[str, Any]) -> Finding:
    average = {v: reported["tcp_bytes"][v] / reported["tcp_packets"][v] for v in VARIANTS}
    lengths = [c.lengths.row(0, named=True) for c in queue.captures[SERVER, "cubic"]]
    largest = max(row["max"] for row in lengths)
    words = ", ".join(f"{LABELS[v]} {a:.0f}" for v, a in average.items())
    return Finding(
        "tcp-packets-larger",
        Verdict.NOT_MEASURED,
        "None: this study has no QUIC to compare with.",
        (Measured.number("largest packet in our captures", float(largest), "bytes"),),
        f"the report's TCP packets have {words} bytes in the mean, more than the {FRAME} that an Ethernet frame "
        "can have: such packets exist only in a host that merges received segments, never on the wire. Without "
        f"that no packet is larger than {largest:.0f} bytes",
    )


def rank_sum(a: list[float], b: list[float]) -> float:
    """Return the two-sided p-value of the rank-sum test on two independent sets of runs."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - slow to import

    return float(mannwhitneyu(a, b, method="exact" if len({*a, *b}) == len(a) + len(b) else "asymptotic").pvalue)


def _order(
    queue: Shaped, policer: Shaped, reported: Mapping[str, Any], claim: str, metric: str, unit: str
) -> Finding:  # fmt: skip
    cubic, veno, vegas = (queue.get(metric, SERVER, v) for v in VARIANTS)
    ruling = rules.higher(cubic, veno, "CUBIC less Veno", unit) & rules.higher(veno, vegas, "Veno less Vegas", unit)
    table = {v: of_report(reported, metric, v) for v in VARIANTS}
    own = {(a, b): rank_sum(table[a], table[b]) for a, b in (("cubic", "veno"), ("veno", "vegas"))}
    middle = {v: float(np.median(queue.get(metric, SERVER, v))) for v in VARIANTS}
    listed = ", ".join(f"{LABELS[v]} {x:.3g} (report {np.median(table[v]):.3g})" for v, x in middle.items())
    client = {v: queue.get(metric, CLIENT, v) for v in VARIANTS}
    same = all(np.array_equal(client["cubic"], x) for x in client.values())
    where = "makes no difference at all" if same else "changes it by next to nothing"
    return Finding(
        claim,
        rules.verdict(ruling),
        "With the variant at the sender of the video and a queue as shaper, on the same seeds, CUBIC is shown to "
        "have more than Veno and Veno more than Vegas.",
        (
            *(Measured.of(LABELS[v], summarize(queue.get(metric, SERVER, v)), unit) for v in VARIANTS),
            *ruling.measured,
        ),
        f"{listed}. The variant acts at the sender: set at the client, where the report captured, it {where} "
        "while the server stays with CUBIC. The report's own runs distinguish CUBIC from Veno (rank sum p "
        f"{own['cubic', 'veno']:.3f}), Veno from Vegas they don't (p {own['veno', 'vegas']:.2f})",
        (
            *(
                Measured.of(f"policer: {LABELS[v]}", summarize(policer.get(metric, SERVER, v)), unit)
                for v in VARIANTS
            ),
            *(Measured.of(f"set at the client: {LABELS[v]}", summarize(client[v]), unit) for v in VARIANTS),
        ),
    )
