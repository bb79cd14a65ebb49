"""The study in words: its summary, and the notes on it. Every number is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dumbbell.studies.finding import Finding, Note
from dumbbell.studies.ns2_cbr.data import CONSTANT, JITTERED, Experiment1
from dumbbell.studies.ns2_cbr.data_exp3 import Experiment3
from dumbbell.studies.ns2_cbr.remarks_exp1 import congested, early_fall, predicted_knee
from dumbbell.studies.partial import made
from dumbbell.studies.shared import LABELS, counted

__all__ = ["notes", "summary"]

MEAN_PACKET = 500
"""ns-2's `mean_pktsize_`, bytes."""
MIN_TH = 6.25 * MEAN_PACKET
"""ns-2's automatic min_th on a 10 Mbit/s link: half of 5 ms at 2500 packets a second, in packets of 500 bytes."""


def summary(findings: Sequence[Finding], claims: Mapping[str, str], one: Experiment1) -> list[str]:
    """Sum up in a few sentences."""
    sentences = counted(findings, claims)
    rates = congested(one)
    throughput = one.average("throughput", rates, one.variants)
    order = sorted(one.variants, key=lambda v: -float(np.median(throughput[v])))
    sentences.append(
        "SACK, which the report leaves out of experiment 1, is "
        f"{('first', 'second', 'third', 'fourth', 'fifth')[order.index('sack')]} of {len(order)} in throughput under "
        "congestion."
    )
    return sentences


def notes(one: Experiment1, large: Experiment1, three: Experiment3) -> list[Note]:
    """List the effects of ns-2's peculiarities and of the set-up, each with its number."""
    return made(
        [
            partial(_window, one, large),
            partial(_phases, one),
            partial(_few_packets, one),
            partial(_latency, one),
            partial(_red, three),
            partial(_idle_bottleneck, three),
            partial(_bound, three),
        ]
    )


def _window(one: Experiment1, large: Experiment1) -> Note:
    rtt = float(one.medians("latency", "newreno", one.rates[:1])[0])
    level = float(one.medians("throughput", "newreno", one.rates[:1])[0])
    big = float(large.medians("throughput", "newreno", large.rates[:1])[0])
    return Note(
        "The knee is the window's, not the variants'",
        f"The report gives no window, so ns-2's default of {one.window} packets is taken. {one.window} packets of "
        f"1040 bytes per {rtt:.1f} ms are {10 - predicted_knee(one):.2f} Mbit/s on the wire ({level:.2f} Mbit/s "
        f"of payload), which the link has to spare until the CBR stream takes {predicted_knee(one):.2f} Mbit/s. "
        "Until then the window limits every variant and the cells show nothing about congestion control. With "
        f"{large.window} packets NewReno gets {big:.2f} Mbit/s at CBR {large.rates[0]:g} Mbit/s and has lost a "
        f"tenth of that by CBR {early_fall(large, 'newreno'):.1f} Mbit/s.",
    )


def _phases(one: Experiment1) -> Note:
    last = float(one.rates[-1])
    free, locked = (
        np.median([np.median(one.get("throughput", v, last, j)) for v in one.variants]) for j in (JITTERED, CONSTANT)
    )
    still = {
        j: sum(
            float(np.std(one.get("throughput", v, float(r), j), ddof=1)) < 0.001
            for v in one.variants
            for r in one.rates
        )
        for j in (JITTERED, CONSTANT)
    }
    cells = len(one.variants) * len(one.rates)
    got = {v: float(np.median(one.get("throughput", v, last, CONSTANT))) for v in one.variants}
    low, high = min(got, key=lambda v: got[v]), max(got, key=lambda v: got[v])
    return Note(
        "Constant CBR intervals lock phase with TCP",
        "ns-2's CBR source sends at constant intervals by default. TCP packets leave the bottleneck on that "
        "rhythm and their ACKs come back on it, so the same flow meets the same gap, or the same full queue, "
        f"again and again: at CBR {last:g} Mbit/s the median variant gets {locked:.3f} Mbit/s, with intervals "
        f"jittered by half {free:.3f}. Who is favored is an accident of packet sizes and delays (with constant "
        f"intervals {LABELS[high]} then gets {got[high]:.3f}, {LABELS[low]} {got[low]:.3f}). Repeating does not "
        f"help: {still[CONSTANT]} of {cells} cells spread by less than 0.001 Mbit/s over start times with "
        f"constant intervals, {still[JITTERED]} with jittered ones. Every verdict here is taken from jittered "
        "intervals.",
    )


def _few_packets(one: Experiment1) -> Note:
    last = float(one.rates[-1])

    def delivered(jitter: float) -> str:
        return ", ".join(f"{LABELS[v]} {np.median(one.get('packets', v, last, jitter)):.0f}" for v in one.variants)

    return Note(
        f"At CBR {last:g} Mbit/s too few packets get through",
        "The CBR stream alone fills the link. TCP packets delivered in ten seconds, median over repetitions: "
        f"{delivered(CONSTANT)} with constant intervals, {delivered(JITTERED)} with jittered ones. From a few dozen "
        "packets nothing can be concluded about a variant; with constant intervals it is phase that decides who "
        "gets any.",
    )


def _latency(one: Experiment1) -> Note:
    rates = congested(one)
    worst = max(float(one.get("largest queue delay", v, r).max()) for v in one.variants for r in rates)
    base = float(one.medians("latency", "newreno", one.rates[:1])[0])
    shown = {v: float(np.median(one.get("latency", v, rates[-1]))) for v in one.variants}
    low, high = min(shown, key=lambda v: shown[v]), max(shown, key=lambda v: shown[v])
    return Note(
        "Latency as the report defines it counts the waiting for retransmissions",
        f"The mean ACK delay of packets sent once rises from {base:.1f} ms to {shown[low]:.0f} ({LABELS[low]}) to "
        f"{shown[high]:.0f} ms ({LABELS[high]}) at CBR {rates[-1]:g} Mbit/s, though no packet ever waited more "
        f"than {worst:.1f} ms in the bottleneck's queue. A packet that arrives behind a hole is acknowledged only "
        "when the hole is filled, so timeouts enter the mean: it ranks recovery, not queueing.",
    )


def _red(three: Experiment3) -> Note:
    early = sum(float(three.drops("early", v, "red").sum()) for v in three.variants)
    full = sum(float(three.drops("full", v, "red").sum()) for v in three.variants)
    suited = three.settings("red-bdp")
    return Note(
        f"The report's RED {'never' if early == 0 else 'hardly ever'} acts as RED",
        "At ns-2's defaults RED counts bytes against a limit of 10 packets of 500 bytes: with packets of 1000 "
        f"bytes and more at most {three.largest('packets', 'red'):.0f} wait (DropTail: "
        f"{three.largest('packets', 'droptail'):.0f}). Its average peaks at {three.largest('avg', 'red'):.0f} "
        f"bytes, below the automatic min_th of {MIN_TH:.0f}: {early:.0f} early drops in all runs, {full:.0f} for "
        "lack of space. The report's RED is a DropTail queue of half the size, and its comparison one of "
        f"queue sizes. The RED beside it counts packets, with a limit of {suited['limit']} and thresholds at a "
        f"quarter and three quarters of that ({suited['min_th']} and {suited['max_th']}), weight "
        f"{suited['weight']}, max_p 10 %, gentle; a DropTail queue with the same limit is shown next to it.",
    )


def _idle_bottleneck(three: Experiment3) -> Note:
    own = {q: three.early_drops(q) for q in ("droptail", "red")}
    return Note(
        "Before the CBR stream starts, the bottleneck is none",
        "The link N2-N3 is as fast as the sender's own, so until 5 s no queue builds up in it. Losses before "
        f"that happen in the queue N1-N2 (limit 50): {own['droptail'][0]} drops there and "
        f"{own['droptail'][1]} at the bottleneck in all runs over DropTail, {own['red'][0]} and {own['red'][1]} "
        "over RED. The two disciplines cannot differ in that time.",
    )


def _bound(three: Experiment3) -> Note:
    return Note(
        "maxcwnd 200 does nothing",
        "The window in use is the smaller of cwnd and `window_` 150, so a bound of 200 on cwnd cannot be seen "
        f"from outside; the largest cwnd of any run is {three.largest_cwnd:.0f} packets. The scenario sets the "
        "window only.",
    )
