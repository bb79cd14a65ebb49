"""Statements of RFCs 7928, 8033 and 8290."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.report.finding import Finding, Measured
from dumbbell.studies import rules
from dumbbell.studies.aqm.data import LABELS, RTTS, Section
from dumbbell.studies.aqm.figures_other import ratio
from dumbbell.studies.aqm.phases import Phases
from dumbbell.studies.shared import Floats

__all__ = ["droptail", "flow_queueing", "interactions", "pie", "unevenness"]

PIE_TARGET, PIE_NEAR = 15.0, 5.0
"""PIE's target and how far a mean may lie from it, ms: with 20 s to a phase, and some of that to settle, a third."""
FULL = 0.95
SINGLE = ("droptail", "red", "codel", "pie", "pi2", "dualpi2")
"""Disciplines that don't keep flows apart."""


def droptail(sections: Mapping[str, Section], *, quick: bool = False) -> list[Finding]:
    """Compare the statement about drop-tail with the runs; `quick` as for `rules.higher`."""
    total = rules.Ruling(True)
    words = []
    for number, flows in (("5.1.1", "NewReno"), ("5.2", "CUBIC")):
        section = sections[number]
        delays = {LABELS[n]: section.delay(n) for n in section.names}
        total &= rules.extreme(delays, "DropTail", highest=True, unit="ms", quick=quick)
        middle = {n: float(np.median(d)) for n, d in delays.items()}
        next_ = max((n for n in middle if n != "DropTail"), key=lambda n: middle[n])
        words.append(f"{flows}: {middle['DropTail']:.0f} ms, the next {middle[next_]:.0f} ({next_})")
    return [
        total.finding(
            "droptail-fills",
            "On the same seeds drop-tail's mean queueing delay is shown to be higher than every other "
            f"discipline's, under one NewReno flow and under one CUBIC flow, {rules.COUNTS}.",
            "; ".join(words),
        )
    ]


def pie(sections: Mapping[str, Section], congestion: Phases, *, quick: bool = False) -> list[Finding]:
    """Compare the statements about PIE with the runs.

    `quick` as for `rules.higher`. It applies to the sections; the phases have all their repetitions in a quick study.
    """
    means = {f"mean delay, {p.name}": congestion.delay("pie", p) for p in congestion.phases}
    near = rules.all_within(means, PIE_TARGET - PIE_NEAR, PIE_TARGET + PIE_NEAR, unit="ms")
    one = {"utilization, one NewReno flow": sections["5.1.1"].queue("utilization", "pie")}
    used = one | {
        f"goodput over drop-tail's, {p.name}": congestion.goodput("pie", p) / congestion.goodput("droptail", p)
        for p in congestion.phases
    }
    full = rules.all_within(used, FULL, np.inf, quick=one if quick else ())
    overloaded = sections["5.3.1"]
    return [
        near.finding(
            "pie-target",
            f"In each phase of §8.2.5 (6, 14, 19, 6 long flows) the mean delay is shown to be within {PIE_NEAR:g} ms "
            "of 15 ms (95 % interval).",
            ", ".join(f"{m.what} {m.text}" for m in near.measured),
            (
                Measured.of("UDP of 12 Mbit/s", summarize(overloaded.delay("pie")), "ms"),
                Measured.of("one NewReno flow", summarize(sections["5.1.1"].delay("pie")), "ms"),
            ),
        ),
        full.finding(
            "pie-utilization",
            f"The link is shown to be used to at least {100 * FULL:g} % by one NewReno flow, and 6, 14 and 19 are "
            f"shown to get at least {100 * FULL:g} % of what they get over drop-tail (95 % interval of the mean).",
            ", ".join(f"{m.what} {m.text}" for m in full.measured),
        ),
    ]


def flow_queueing(sections: Mapping[str, Section], *, quick: bool = False) -> list[Finding]:
    """Compare the statements about FQ-CoDel with the runs; `quick` as for `rules.higher`."""
    bursts, shared = sections["7.2-IV"], sections["5.3.2"]
    delays = {n: bursts.flow("owd_mean_ms", "cbr", n) for n in bursts.names}
    sparse = rules.all_of(
        rules.higher(delays[other], delays["fq_codel"], f"{LABELS[other]} less FQ-CoDel", "ms", quick=quick)
        for other in bursts.names
        if other in SINGLE
    )
    got = {n: shared.goodput(n, flow="tcp") for n in shared.names}
    own = rules.all_of(
        rules.higher(got["fq_codel"], got[other], f"TCP: FQ-CoDel minus {LABELS[other]}", "Mbit/s", quick=quick)
        for other in shared.names
        if other in SINGLE
    )
    udp = float(np.median(shared.goodput("fq_codel", flow="udp")))
    tcp = {n: float(np.median(v)) for n, v in got.items()}
    best = max((n for n in tcp if n in SINGLE), key=lambda n: tcp[n])
    cbr = {n: float(np.median(v)) for n, v in delays.items()}
    calm = min((n for n in cbr if n in SINGLE), key=lambda n: cbr[n])
    return [
        sparse.finding(
            "fq-sparse",
            "Beside video, web and a bulk flow (§7.2, case IV) the mean one-way delay of CBR at 1 Mbit/s is shown "
            f"to be lower with FQ-CoDel than with each discipline of one queue, {rules.COUNTS}.",
            f"mean one-way delay {cbr['fq_codel']:.1f} ms with FQ-CoDel (50 without load), at best {cbr[calm]:.1f} "
            f"ms ({LABELS[calm]}) with one queue",
        ),
        own.finding(
            "fq-own-queue",
            "Beside UDP of 7.5 Mbit/s TCP's goodput is shown to be higher with FQ-CoDel than with each discipline "
            f"of one queue, which leaves it what UDP doesn't take, {rules.COUNTS}.",
            f"TCP gets {tcp['fq_codel']:.2f} Mbit/s with FQ-CoDel (UDP {udp:.2f}), at best {tcp[best]:.2f} "
            f"({LABELS[best]}) with one queue",
        ),
    ]


def unevenness(section: Section, name: str) -> Floats:
    """Return the unevenness of goodputs over all round trips: the mean of abs(log2 of their ratio); (n,)."""
    rows = [np.abs(np.log2(ratio(section, name, other))) for other in section.others]
    return np.asarray(np.mean(rows, axis=0))


def interactions(sections: Mapping[str, Section], *, quick: bool = False) -> list[Finding]:
    """Compare the statements about round trips and LEDBAT with the runs; `quick` as for `rules.higher`."""
    fair, lbe = sections["6.2"], sections["5.4"]
    apart = {n: unevenness(fair, n) for n in fair.names}
    closer = rules.Ruling(True)
    better: list[str] = []
    beside: list[Measured] = []
    for n in (n for n in fair.names if n != "droptail"):
        less = rules.higher(apart["droptail"], apart[n], f"DropTail minus {LABELS[n]}, doublings", quick=quick)
        if less.holds:
            better.append(n)
        if n in SINGLE:
            closer &= less
        else:
            beside += less.measured
    middle = {n: float(np.median(v)) for n, v in apart.items()}
    share = {n: lbe.goodput(n, flow="ledbat") / lbe.goodput(n) for n in lbe.names}
    gives_way = rules.all_of(
        rules.higher(share[n], share["droptail"], f"LEDBAT's share, {LABELS[n]} less DropTail", quick=quick)
        for n in lbe.names
        if n != "droptail"
    )
    shares = {n: float(np.median(v)) for n, v in share.items()}
    most = max(shares, key=lambda n: shares[n])
    trips = [RTTS[o] for o in fair.others]
    return [
        closer.finding(
            "rtt-fairness",
            "The two goodputs lie closer together than over drop-tail, shown on the same seeds for each AQM of one "
            f"queue: mean over round trips of {', '.join(str(t) for t in trips)} ms of the ratio's distance from "
            f"one, in doublings, {rules.COUNTS}.",
            f"apart by {middle['droptail']:.2f} doublings over drop-tail; shown to be closer with "
            + (", ".join(f"{LABELS[n]} ({middle[n]:.2f})" for n in better) or "none"),
            beside,
        ),
        gives_way.finding(
            "lbe",
            f"LEDBAT's share beside NewReno is shown to be larger than over drop-tail, for each AQM, {rules.COUNTS}.",
            f"LEDBAT's share is {100 * shares['droptail']:.0f} % over drop-tail, up to {100 * shares[most]:.0f} % "
            f"({LABELS[most]})",
        ),
    ]
