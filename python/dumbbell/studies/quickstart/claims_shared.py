"""Statements about sharing: a ping beside a download, two flows on one link."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics import jain, summarize
from dumbbell.report.finding import Finding, Measured
from dumbbell.studies import rules
from dumbbell.studies.quickstart.data import Bloat, Pair
from dumbbell.studies.shared import LABELS

__all__ = ["bloat", "pair"]

LONG = "droptail-200"
NEAR = 0.15
"""Largest deviation of the largest ping from base RTT and full queue, as a part of it."""
CALM = 10.0
"""Delay, ms, below which a queue isn't felt."""
COST = 0.05
"""Goodput that a short queue may cost."""


def bloat(data: Bloat, *, quick: bool = False) -> list[Finding]:
    """Compare the statements about the ping with the runs; `quick` as for `rules.higher`."""
    added = rules.Ruling(True)
    words = []
    for queue in ("droptail-20", LONG):
        largest = summarize(data.ping(queue, "rtt_max_ms"))
        expected = data.BASE + data.full(queue)
        near = rules.within(
            data.ping(queue, "rtt_max_ms"), f"largest ping, {queue.split('-')[1]} packets",
            expected * (1 - NEAR), expected * (1 + NEAR), unit="ms", quick=quick,
        )  # fmt: skip
        added &= near & rules.Ruling(True, (Measured.number("base and full queue", expected, "ms"),))
        words.append(f"{largest.median:.0f} ms with {queue.split('-')[1]} packets ({expected:.0f} computed)")
    calm = rules.Ruling(True)
    for queue in ("codel-200", "fq_codel-200"):
        name = queue.split("-")[0]
        extra, cost = data.ping(queue) - data.idle(), 1 - data.goodput(queue) / data.goodput(LONG)
        calm &= rules.within(extra, f"{name}: ping above idle", -np.inf, CALM, unit="ms", quick=quick)
        calm &= rules.within(cost, f"{name}: part of goodput lost", -np.inf, COST, quick=quick)
    long, codel, fair = (float(np.median(data.ping(q))) for q in (LONG, "codel-200", "fq_codel-200"))
    return [
        added.finding(
            "bloat-is-queue",
            f"The mean of the largest ping under load is shown to be within {100 * NEAR:g} % of the idle round trip "
            "plus limit x 1500 bytes / 5 Mbit/s, for both drop-tail queues; jitter of the access links and the "
            "packet in transmission are within that.",
            "the largest ping is " + ", ".join(words),
        ),
        calm.finding(
            "aqm-removes",
            f"With the same limit of 200 packets the median ping of a run is shown to be at most {CALM:.0f} ms above "
            f"idle, and the download to lose at most {100 * COST:g} % of its goodput (95 % intervals of the means).",
            f"the median ping falls from {long:.0f} ms to {codel:.0f} ms with CoDel and {fair:.0f} ms with FQ-CoDel",
        ),
    ]


def pair(data: Pair, *, quick: bool = False) -> list[Finding]:
    """Compare the statements about two flows with the runs; `quick` as for `rules.higher`."""
    fair = rules.Ruling(True)
    words = []
    for variant in ("reno", "cubic"):
        both = data.goodput((variant, variant))
        fair &= rules.equal(both[None, :, 0], both[None, :, 1], [f"two {LABELS[variant]} flows"])
        words.append(f"{LABELS[variant]} {np.median(jain(both)):.3f}")
    mixed = data.goodput(("cubic", "reno"))
    more = rules.higher(mixed[:, 0], mixed[:, 1], "CUBIC less Reno", "Mbit/s", quick=quick)
    one, two = np.median(mixed, axis=0)
    return [
        fair.finding(
            "pair-fair",
            f"Jain's index isn't shown to be below {rules.FAIR}, and neither flow is shown to be ahead by more than "
            f"{100 * rules.EQUAL:.0f} % of their sum, for Reno and for CUBIC.",
            "Jain's index over one minute: " + ", ".join(words),
        ),
        more.finding(
            "cubic-takes-more",
            "On the same seeds CUBIC's goodput is shown to be higher than Reno's beside it, "
            f"{rules.COUNTS} (95 % interval of the mean difference).",
            f"CUBIC gets {one:.2f}, Reno {two:.2f} Mbit/s",
        ),
    ]
