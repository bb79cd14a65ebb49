"""Statements about QUIC, compared with the runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dumbbell.report.finding import Finding, Verdict
from dumbbell.studies import rules
from dumbbell.studies.quic_beside_tcp.data import Pages, Shares, Streams
from dumbbell.studies.shared import LABELS

__all__ = ["pages", "shares", "streams"]

NEAR = 0.1
"""Deviation, in round trips, that counts as none."""
SENDING = 5.0
"""Further deviation, ms: 12 kB at 20 Mbit/s, for padded datagrams, probes of the datagram size, and headers."""
EVEN = 0.1
"""Difference of both flows' throughput, as a part of TCP's, that counts as even."""
ALIKE = 0.25
"""Difference of two waits that counts as none: loss detection differs, by packets with QUIC, by time with RACK."""


def _saving(found: Pages, claim: str, flow: str, trips: float, beside: str, words: str) -> Finding:
    """Judge a saving in round trips without loss."""
    ruling = rules.Ruling(True)
    for rtt in found.rtts:
        near, saved = NEAR * rtt + SENDING, rtt * found.saved(rtt, 0.0, flow, beside)
        ruling &= rules.within(
            saved, f"saved at RTT {rtt:g} ms", trips * rtt - near, trips * rtt + near, unit="ms", sign=True,
            against=1 - 0.05 / len(found.rtts),
        )  # fmt: skip
    listed = ", ".join(f"{np.mean(found.saved(rtt, 0.0, flow, beside)):.2f} at {rtt:g} ms" for rtt in found.rtts)
    return ruling.finding(
        claim,
        f"Without loss, the mean load time over {words} is shown to be {trips:g} round trips shorter, give or take "
        f"{NEAR:g} and {SENDING:g} ms for the sending of 12 kB, at each round-trip time.",
        f"round trips saved: {listed}",
    )


def _over_settings(each: Sequence[rules.Ruling], claim: str, rule: str, why: str) -> Finding:
    """Make the finding of a claim on all settings: it depends if it holds for some and fails for others."""
    found = rules.all_of(each).finding(claim, rule, why)
    mixed = {True, False} <= {r.holds for r in each}
    return replace(found, verdict=Verdict.DEPENDS, needs=None) if mixed else found


def pages(found: Pages) -> list[Finding]:
    """Compare the statements about pages with the runs."""
    lossy = [(rtt, loss) for rtt in found.rtts for loss in found.losses if loss > 0]
    each = [
        rules.higher(
            found.took(*place, "tls"), found.took(*place, "quic"),
            f"load time over TCP + TLS 1.3 less that over QUIC, {place[0]:g} ms, {place[1]:g} %", "ms", matter=0.0,
            against=1 - 0.05 / len(lossy),
        )
        for place in lossy
    ]  # fmt: skip
    won = sum(r.holds is True for r in each)
    saved = [float(np.mean(found.saved(*place, "quic"))) for place in lossy]
    return [
        _saving(found, "quic-saves-one", "quic", 1.0, "tls", "QUIC than over TCP with TLS 1.3"),
        _saving(found, "zero-rtt-saves-two", "zero", 2.0, "tls", "QUIC with 0-RTT than over TCP with TLS 1.3"),
        _saving(found, "early-data-is-equal", "quic", 0.0, "early", "QUIC than over TCP with early data"),
        _over_settings(
            each,
            "sooner-under-loss",
            "At each round-trip time and loss rate, on the same seeds, the mean load time over QUIC is shown to be "
            "shorter than over TCP with TLS 1.3.",
            f"shorter in {won} of {len(lossy)} settings; from {min(saved):.2f} to {max(saved):.2f} round trips saved",
        ),
    ]


def shares(found: Shares) -> list[Finding]:
    """Compare the statement about shares with the runs."""
    each = []
    for variant in found.variants:
        for limit in found.limits:
            both = found.throughput(variant, limit)
            means = both.mean(axis=0)
            # The difference of each run over TCP's mean: a ratio of each run would be skewed.
            each.append(rules.within(
                (both[:, 1] - both[:, 0]) / means[0], f"QUIC less TCP over TCP, {LABELS[variant]}, {limit}",
                -EVEN, EVEN, sign=True, against=1 - 0.05 / (len(found.variants) * len(found.limits)),
            ))  # fmt: skip
    ratios = {
        v: [float(np.divide(*found.throughput(v, limit).mean(axis=0)[::-1])) for limit in found.limits]
        for v in found.variants
    }
    listed = ", ".join(f"{LABELS[v]} {min(r):.2f} to {max(r):.2f}" for v, r in ratios.items())
    return [
        _over_settings(
            each,
            "equal-shares",
            f"For each variant and each buffer the mean difference of both throughputs is shown to be at most "
            f"{100 * EVEN:.0f} % of TCP's.",
            f"QUIC over TCP, by buffer: {listed}",
        )
    ]


def streams(found: Streams) -> list[Finding]:
    """Compare the statements about streams with the runs."""
    base = found.wait(1)
    same = rules.within(
        (base - found.wait(0)) / found.wait(0).mean(), "wait with one stream less that with TCP, part of TCP's",
        -ALIKE, ALIKE, sign=True,
    )  # fmt: skip
    less = rules.Ruling(True)
    for n in (4, 16):
        # A hole holds back one stream of n: 1/n of the data that follow it, and as long as with one stream.
        less &= rules.within(found.wait(n) / base.mean(), f"wait with {n} streams over that with one", 0.0, 2.0 / n)
    listed = ", ".join(f"{np.mean(found.wait(n)):.2f} ms" for n in (0, 1, 4, 16))
    return [
        same.finding(
            "one-stream-waits",
            f"The mean wait of a byte over QUIC with one stream is shown to be within {100 * ALIKE:.0f} % of that "
            "over TCP.",
            f"mean waits: {np.mean(found.wait(0)):.2f} ms over TCP, {np.mean(base):.2f} ms over QUIC",
        ),
        less.finding(
            "streams-wait-less",
            "The mean wait of a byte with n streams is shown to be at most 2/n of that with one: the loss holds back "
            "one stream of n, give or take a factor of 2 for data in flight that aren't divided evenly.",
            f"mean waits over TCP and QUIC with 1, 4 and 16 streams: {listed}",
        ),
    ]
