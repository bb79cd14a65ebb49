"""The study in words: a sentence of its summary, and the notes on it. Every number is computed."""

from __future__ import annotations

from functools import partial

import numpy as np

from dumbbell.common.words import counted
from dumbbell.report.finding import Note
from dumbbell.studies.ns2_cbr.data import Experiment1
from dumbbell.studies.ns2_cbr.data_exp3 import Experiment3
from dumbbell.studies.ns2_cbr.remarks_exp1 import NEAR, congested, early_fall, knees, predicted_knee
from dumbbell.studies.partial import made
from dumbbell.studies.shared import LABELS

__all__ = ["notes", "sack_place"]

WINDOW, MAXCWND = 150, 200
"""The report's `window_` and `maxcwnd_` of experiment 3, packets."""
MEAN_PACKET = 500
"""ns-2's `mean_pktsize_`, bytes."""
MIN_TH = 6.25 * MEAN_PACKET
"""ns-2's automatic min_th on a 10 Mbit/s link: half of 5 ms at 2500 packets a second, in packets of 500 bytes."""


def sack_place(one: Experiment1) -> str:
    """Return the place of SACK, which the report leaves out of experiment 1, in a sentence."""
    throughput = one.average("throughput", congested(one), one.variants)
    order = sorted(one.variants, key=lambda v: -float(np.median(throughput[v])))
    return (
        "SACK, which the report leaves out of experiment 1, is "
        f"{('first', 'second', 'third', 'fourth', 'fifth')[order.index('sack')]} of {len(order)} in throughput under "
        "congestion."
    )


def notes(one: Experiment1, constant: Experiment1, large: Experiment1, three: Experiment3) -> list[Note]:
    """List the effects of ns-2's peculiarities and of the set-up, each with its number."""
    return made(
        [
            partial(_window, one, large),
            partial(_phases, one, constant),
            partial(_few_packets, one, constant),
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
    lost = early_fall(large, "newreno")
    own = float(np.nanmedian(knees(one, "newreno")))
    limit = f": below the knee the window of {one.window} packets is the limit" if lost < own else ""
    near = abs(own - predicted_knee(one)) <= NEAR
    return Note(
        f"NewReno's knee lies {'where' if near else 'not where'} window and CBR stream fill the link",
        f"{one.window} packets of 1040 bytes per {rtt:.1f} ms are {10 - predicted_knee(one):.2f} Mbit/s on the wire "
        f"({level:.2f} Mbit/s of payload), which the link has to spare until the CBR stream takes "
        f"{predicted_knee(one):.2f} Mbit/s; NewReno's knee is at {own:.2f} Mbit/s. With {large.window} packets "
        f"NewReno "
        f"gets {big:.2f} Mbit/s at CBR {large.rates[0]:g} Mbit/s and has lost a tenth of that by CBR {lost:.1f} "
        f"Mbit/s{limit}.",
    )


def _phases(one: Experiment1, constant: Experiment1) -> Note:
    last = float(one.rates[-1])
    free, locked = (np.median([np.median(x.get("throughput", v, last)) for v in x.variants]) for x in (one, constant))
    moving, still = (
        sum(float(np.std(x.get("throughput", v, float(r)), ddof=1)) < 0.001 for v in x.variants for r in x.rates)
        for x in (one, constant)
    )
    cells = len(one.variants) * len(one.rates)
    got = {v: float(np.median(constant.get("throughput", v, last))) for v in one.variants}
    low, high = min(got, key=lambda v: got[v]), max(got, key=lambda v: got[v])
    more = _than(still, moving, "More", "Fewer", "As many")
    return Note(
        f"{more} cells have no spread with constant CBR intervals: {still} instead of {moving} of {cells}",
        f"ns-2's CBR source sends at constant intervals by default. At CBR {last:g} Mbit/s the median variant gets "
        f"{locked:.3f} Mbit/s with them, and {free:.3f} with intervals jittered by half. With constant intervals "
        f"{LABELS[high]} then gets {got[high]:.3f}, {LABELS[low]} {got[low]:.3f}. {still} of {cells} cells "
        f"spread by less than 0.001 Mbit/s over start times with constant intervals, {moving} with jittered "
        "ones.",
    )


def _few_packets(one: Experiment1, constant: Experiment1) -> Note:
    last = float(one.rates[-1])

    def delivered(data: Experiment1) -> dict[str, float]:
        return {v: float(np.median(data.get("packets", v, last))) for v in data.variants}

    def listed(data: Experiment1) -> str:
        return ", ".join(f"{LABELS[v]} {n:.0f}" for v, n in delivered(data).items())

    few, most = min(delivered(one).values()), max(delivered(one).values())
    loads = float(np.median([one.get("packets", v, float(one.rates[0])) for v in one.variants]))
    return Note(
        f"At CBR {last:g} Mbit/s {few:.0f} to {most:.0f} TCP packets get through in a run",
        f"The CBR stream alone offers what the link carries. TCP packets delivered in ten seconds, median over "
        f"repetitions: {listed(constant)} with constant intervals, {listed(one)} with jittered ones; at CBR "
        f"{one.rates[0]:g} Mbit/s {loads:.0f}.",
    )


def _latency(one: Experiment1) -> Note:
    rates = congested(one)
    worst = max(float(one.get("largest queue delay", v, r).max()) for v in one.variants for r in rates)
    base = float(one.medians("latency", "newreno", one.rates[:1])[0])
    shown = {v: float(np.median(one.get("latency", v, rates[-1]))) for v in one.variants}
    low, high = min(shown, key=lambda v: shown[v]), max(shown, key=lambda v: shown[v])
    rise, wait = shown[high] - base, worst
    counts = rise > wait
    return Note(
        f"Latency as the report defines it rises by {rise:.0f} ms, {_than(rise, wait, 'more', 'less', 'as much')} "
        f"than "
        f"the longest wait in the queue ({wait:.1f} ms)",
        f"The mean ACK delay of packets sent once rises from {base:.1f} ms to {shown[low]:.0f} ({LABELS[low]}) to "
        f"{shown[high]:.0f} ms ({LABELS[high]}) at CBR {rates[-1]:g} Mbit/s; the longest wait of a packet in the "
        f"bottleneck's queue is {worst:.1f} ms."
        + (
            " The queue doesn't explain the rise: a packet that arrives behind a hole is acknowledged only when the "
            "hole "
            "is filled, so waiting for retransmissions is in the mean."
            if counts
            else " The queue alone can explain the rise."
        ),
    )


def _red(three: Experiment3) -> Note:
    early = sum(float(three.drops("early", v, "red").sum()) for v in three.variants)
    full = sum(float(three.drops("full", v, "red").sum()) for v in three.variants)
    suited = three.settings("red-bdp")
    peak, held, tail = (
        three.largest("avg", "red"),
        three.largest("packets", "red"),
        three.largest("packets", "droptail"),
    )
    part = early / max(early + full, 1)
    below = peak < MIN_TH
    return Note(
        f"{100 * part:.0f} % of the drops of RED at ns-2's defaults are early ones",
        f"At ns-2's defaults RED counts bytes against a limit of 10 packets of 500 bytes: at most {held:.0f} "
        f"packets wait "
        f"(DropTail: {tail:.0f}). Its average peaks at {peak:.0f} bytes, {'below' if below else 'above'} the "
        f"automatic "
        f"min_th of {MIN_TH:.0f}: {early:.0f} early drops in all runs, {full:.0f} for lack of space."
        + (
            f" So it is a drop-tail queue with space for {held:.0f} packets, and its comparison with DropTail is "
            f"one of "
            "queue sizes."
            if early == 0 and held < tail
            else ""
        )
        + f" The RED beside it counts packets, with a limit of {suited['limit']} and thresholds at a quarter and "
        f"three "
        f"quarters of that ({suited['min_th']} and {suited['max_th']}), weight {suited['weight']}, max_p 10 %, "
        f"gentle; a "
        "DropTail queue with the same limit is shown next to it.",
    )


def _than(a: float, b: float, more: str, less: str, equal: str) -> str:
    """Return the word for a compared with b."""
    return more if a > b else less if a < b else equal


def _idle_bottleneck(three: Experiment3) -> Note:
    own = {q: three.early_drops(q) for q in ("droptail", "red")}
    elsewhere = sum(own[q][1] for q in own)
    return Note(
        f"Before the CBR stream starts, {counted(elsewhere, 'packet') if elsewhere else 'no packet'} "
        f"{'is' if elsewhere < 2 else 'are'} lost at the bottleneck",
        "The link N2-N3 is as fast as the sender's own. Drops before 5 s, in the queue N1-N2 (limit 50) and at the "
        f"bottleneck, in all runs: {own['droptail'][0]} and {own['droptail'][1]} over DropTail, {own['red'][0]} and "
        f"{own['red'][1]} over RED."
        + (" The two disciplines don't differ in that time." if own["droptail"] == own["red"] else ""),
    )


def _bound(three: Experiment3) -> Note:
    largest = three.largest_cwnd
    bound = largest > MAXCWND
    return Note(
        f"maxcwnd {MAXCWND} {'would bound' if bound else 'has no effect on'} cwnd, which reaches {largest:.0f} packets",
        f"The window in use is the smaller of cwnd and `window_` {WINDOW}, so a bound of {MAXCWND} on cwnd doesn't "
        f"change "
        "what is sent while cwnd stays above the window. The scenario sets the window only.",
    )
