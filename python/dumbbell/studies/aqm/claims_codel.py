"""Statements of RFC 8289 about CoDel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.report.finding import Finding, Measured
from dumbbell.studies import rules
from dumbbell.studies.aqm.data import Section
from dumbbell.studies.aqm.phases import Phases
from dumbbell.studies.shared import Floats

__all__ = ["codel", "reno_goodput"]

TARGET, RTT = 5.0, 100.0
"""CoDel's target and the paths' round trip, ms."""
TENDS = 2.0
"""Factor up to which a median counts as near the target: TCP's sawtooth alone moves a queue by that much."""
NEAR = 0.05
"""Largest deviation from the formula, as a part of it."""
FULL = 0.95
"""Utilization from which a link is close to fully used: drop-tail is at 0.98 to 1 in the same runs, and a twentieth
less is more than random variation."""


def reno_goodput(f: float) -> float:
    """Compute Reno's part of the capacity over a standing queue of f round trips [RFC 8289 §3.2]."""
    return (3 + 6 * f - f * f) / (4 * (1 + f))


def codel(
    sections: Mapping[str, Section], congestion: Phases, slow: Phases, fast: Phases, *, quick: bool = False
) -> list[Finding]:
    """Compare the statements about CoDel with the runs.

    `quick` as for `rules.higher`. It applies to the sections; the phases have all their repetitions in a quick study.
    """
    return [
        _median(sections, congestion),
        _overload(sections["5.3.1"], quick=quick),
        _formula(sections["5.1.1"], quick=quick),
        _utilization(sections, congestion, quick=quick),
        _rates(slow, fast),
    ]


def _medians(congestion: Phases) -> dict[str, Floats]:
    """Return the median delay of each phase by repetition, ms; (n,) each."""
    return {p.name: np.asarray(np.median(congestion.delays("codel", p), axis=1)) for p in congestion.phases}


def _median(sections: Mapping[str, Section], congestion: Phases) -> Finding:
    medians = _medians(congestion)
    mild = {f"median delay, {name}": values for name, values in medians.items() if "mild" in name}
    near = rules.all_within(mild, TARGET / TENDS, TARGET * TENDS, unit="ms")
    one = sections["5.1.1"]
    return near.finding(
        "codel-median",
        f"With six long flows (mild congestion) the median delay is shown to be within a factor of {TENDS:g} of the "
        "target of 5 ms, in both such phases of §8.2.5 (95 % interval of the mean over repetitions).",
        ", ".join(f"{m.what} {m.text}" for m in near.measured),
        (
            *(
                Measured.of(f"median delay, {name}", summarize(values), "ms")
                for name, values in medians.items()
                if "mild" not in name
            ),
            Measured.of("median delay, one NewReno flow", summarize(one.queue("p50_sojourn_ms", "codel")), "ms"),
        ),
    )


def _overload(section: Section, *, quick: bool) -> Finding:
    found = section.queue("p50_sojourn_ms", "codel")
    # The RFC has no smallest difference: longer by any amount is longer.
    longer = rules.higher(found, np.full(found.size, TARGET), "median delay less 5 ms", "ms", matter=0.0, quick=quick)
    return longer.finding(
        "codel-overload",
        "With UDP at 1.2 times the capacity the median delay is shown to be above 5 ms.",
        f"under UDP of 12 Mbit/s the median delay is {np.median(found):.0f} ms",
        (Measured.of("PIE under the same", summarize(section.queue("p50_sojourn_ms", "pie")), "ms"),),
    )


def _formula(section: Section, *, quick: bool) -> Finding:
    expected = reno_goodput(TARGET / RTT)
    used = section.queue("utilization", "codel")
    near = rules.within(used, "utilization", expected * (1 - NEAR), expected * (1 + NEAR), quick=quick)
    computed = rules.Ruling(True, (Measured.number("computed", expected),))
    return (near & computed).finding(
        "codel-formula",
        f"The link's mean utilization under one NewReno flow is shown to be within {100 * NEAR:g} % of the formula "
        "at f = 5 ms / 100 ms, which leaves out that a window is whole segments and that a drop shows only after a "
        "round trip (95 % interval).",
        f"utilization is {near.measured[0].text}, computed {expected:.3f}",
    )


def _utilization(sections: Mapping[str, Section], congestion: Phases, *, quick: bool) -> Finding:
    rows = {"one NewReno flow": sections["5.1.1"], "one CUBIC flow": sections["5.2"]}
    found = {f"utilization, {words}": s.queue("utilization", "codel") for words, s in rows.items()}
    full = rules.all_within(found, FULL, np.inf, quick=found if quick else ())
    goodput = [summarize(congestion.goodput("codel", p) / congestion.goodput("droptail", p)) for p in congestion.phases]
    return full.finding(
        "codel-utilization",
        f"Mean utilization is shown to be at least {100 * FULL:g} % with one NewReno flow and with one CUBIC flow "
        "(95 % interval).",
        ", ".join(f"{m.what} {m.text}" for m in full.measured)
        + f"; from six flows on CoDel has {100 * min(g.median for g in goodput):.0f} % or more of drop-tail's "
        "goodput",
        tuple(
            Measured.of(f"goodput over drop-tail's, {p.name}", g)
            for p, g in zip(congestion.phases, goodput, strict=True)
        ),
    )


def _rates(slow: Phases, fast: Phases) -> Finding:
    both = {"20 s": slow, "100 ms": fast}
    found = {
        f"goodput over drop-tail's, phases of {words}": data.use("codel") / data.use("droptail")
        for words, data in both.items()
    }
    kept = rules.all_within(found, FULL, np.inf)
    delay = {words: summarize(d.delay("codel", d.phases[1])).text("ms") for words, d in both.items()}
    return kept.finding(
        "codel-rates",
        f"While the capacity alternates between 100 and 10 Mbit/s, CoDel's goodput is shown to be at least "
        f"{100 * FULL:g} % of drop-tail's, with phases of 20 s and of 100 ms (95 % interval of the mean).",
        ", ".join(f"{m.what} {m.text}" for m in kept.measured),
        tuple(Measured(f"delay at 10 Mbit/s, phases of {words}", text) for words, text in delay.items()),
    )
