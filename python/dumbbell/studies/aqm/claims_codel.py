"""Statements of RFC 8289 about CoDel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.studies import rules
from dumbbell.studies.aqm.data import Section
from dumbbell.studies.aqm.phases import Phases
from dumbbell.studies.finding import Finding, Measured

__all__ = ["codel", "reno_goodput"]

TARGET, RTT = 5.0, 100.0
"""CoDel's target and the paths' round trip, ms."""
TENDS = 2.0
"""Factor up to which a median counts as near the target: TCP's sawtooth alone moves a queue by that much."""
FULL = 0.95
"""Utilization from which a link is close to fully used: drop-tail is at 0.98 to 1 in the same runs, and a twentieth
less is more than random variation."""


def reno_goodput(f: float) -> float:
    """Compute Reno's part of the capacity over a standing queue of f round trips [RFC 8289 §3.2]."""
    return (3 + 6 * f - f * f) / (4 * (1 + f))


def codel(sections: Mapping[str, Section], congestion: Phases, slow: Phases, fast: Phases) -> list[Finding]:
    """Compare the statements about CoDel with the runs."""
    return [
        _median(sections, congestion),
        _overload(sections["5.3.1"]),
        _formula(sections["5.1.1"]),
        _utilization(sections, congestion),
        _rates(slow, fast),
    ]


def _medians(congestion: Phases) -> dict[str, float]:
    return {p.name: float(np.median(congestion.delays("codel", p))) for p in congestion.phases}


def _median(sections: Mapping[str, Section], congestion: Phases) -> Finding:
    measured = {name: value for name, value in _medians(congestion).items() if "mild" in name}
    near = rules.Ruling(
        all(TARGET / TENDS <= v <= TARGET * TENDS for v in measured.values()),
        tuple(Measured.number(f"median delay, {name}", v, "ms") for name, v in measured.items()),
    )
    one = sections["5.1.1"]
    return Finding(
        "codel-median",
        rules.verdict(near),
        f"With six long flows (mild congestion) the median delay is within a factor of {TENDS:g} of the target of 5 "
        "ms, in both such phases of §8.2.5.",
        near.measured,
        "the median delay with six flows is " + " and ".join(f"{v:.1f} ms" for v in measured.values()),
        (
            *(
                Measured.number(f"median delay, {n}", v, "ms")
                for n, v in _medians(congestion).items()
                if "mild" not in n
            ),
            Measured.of("median delay, one NewReno flow", summarize(one.queue("p50_sojourn_ms", "codel")), "ms"),
        ),
    )


def _overload(section: Section) -> Finding:
    found = section.queue("p50_sojourn_ms", "codel")
    longer = rules.higher(found, np.full(found.size, TARGET), "median delay less 5 ms", "ms")
    return Finding(
        "codel-overload",
        rules.verdict(longer),
        "With UDP at 1.2 times the capacity the median delay is shown to be above 5 ms.",
        longer.measured,
        f"under UDP of 12 Mbit/s the median delay is {np.median(found):.0f} ms",
        (Measured.of("PIE under the same", summarize(section.queue("p50_sojourn_ms", "pie")), "ms"),),
    )


def _formula(section: Section) -> Finding:
    expected = reno_goodput(TARGET / RTT)
    found = summarize(section.queue("utilization", "codel"))
    near = abs(found.median / expected - 1) <= 0.05
    return Finding(
        "codel-formula",
        rules.verdict(rules.Ruling(near)),
        "The link's utilization under one NewReno flow is within 5 % of the formula at f = 5 ms / 100 ms, which "
        "leaves out that a window is whole segments and that a drop shows only after a round trip.",
        (Measured.of("utilization", found), Measured.number("computed", expected)),
        f"utilization is {found.median:.3f}, computed {expected:.3f}",
    )


def _utilization(sections: Mapping[str, Section], congestion: Phases) -> Finding:
    rows = {"one NewReno flow": sections["5.1.1"], "one CUBIC flow": sections["5.2"]}
    found = {words: summarize(s.queue("utilization", "codel")) for words, s in rows.items()}
    full = rules.Ruling(
        all(f.median >= FULL for f in found.values()),
        tuple(Measured.of(f"utilization, {words}", f) for words, f in found.items()),
    )
    goodput = [float(np.median(congestion.goodput("codel", p) / congestion.goodput("droptail", p)))
               for p in congestion.phases]  # fmt: skip
    return Finding(
        "codel-utilization",
        rules.verdict(full),
        f"Utilization is at least {FULL:.0%} with one NewReno flow and with one CUBIC flow.",
        full.measured,
        "utilization is "
        + " and ".join(f"{f.median:.0%} with {words}" for words, f in found.items())
        + f"; from six flows on CoDel has {min(goodput):.0%} or more of drop-tail's goodput",
        tuple(
            Measured.number(f"goodput over drop-tail's, {p.name}", g)
            for p, g in zip(congestion.phases, goodput, strict=True)
        ),
    )


def _rates(slow: Phases, fast: Phases) -> Finding:
    found = {}
    for words, data in (("20 s", slow), ("100 ms", fast)):
        found[words] = summarize(data.use("codel") / data.use("droptail"))
    kept = rules.Ruling(
        all(f.median >= FULL for f in found.values()),
        tuple(Measured.of(f"goodput over drop-tail's, phases of {words}", f) for words, f in found.items()),
    )
    delay = {
        words: summarize(d.delay("codel", d.phases[1])).text("ms") for words, d in (("20 s", slow), ("100 ms", fast))
    }
    return Finding(
        "codel-rates",
        rules.verdict(kept),
        f"While the capacity alternates between 100 and 10 Mbit/s, CoDel's goodput is at least {FULL:.0%} of "
        "drop-tail's, with phases of 20 s and of 100 ms.",
        kept.measured,
        "CoDel has "
        + " and ".join(f"{f.median:.0%} of drop-tail's goodput with phases of {words}" for words, f in found.items()),
        tuple(Measured(f"delay at 10 Mbit/s, phases of {words}", text) for words, text in delay.items()),
    )
