"""The report's claims on part 1: one flow, one hop or two."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics import Summary, summarize
from dumbbell.studies import rules
from dumbbell.studies.finding import Finding, Measured, Verdict
from dumbbell.studies.geni_fairness.data import Alone
from dumbbell.studies.shared import LABELS

__all__ = ["claims"]

THREE = ("reno", "cubic", "vegas")
"""The report's variants of part 1."""
ALIKE = 0.1
"""Largest deviation of round trips from their middle that counts as nearly the same."""
FULL = 0.9
"""Part of the link's rate that counts as almost all of it: headers take 3.5 %."""
CLAIMED, NEAR = 2 / 3, 0.1
"""Vegas' part of the others' throughput in the report, and how far a measured one may lie from it."""
RATE = 100.0
"""Mbit/s."""


def claims(part1: Alone, jitter: Alone) -> list[Finding]:
    """Compare the claims on part 1 with the runs."""
    return [_delay(part1), _slower(part1, jitter), _hops(part1, jitter)]


def _pings(part1: Alone, flow: str, hops: int) -> dict[str, Summary]:
    return {v: summarize(part1.get("rtt_mean_ms", v, hops, flow=flow)) for v in THREE}


def _delay(part1: Alone) -> Finding:
    loaded, idle = _pings(part1, "ping", 2), _pings(part1, "idle ping", 2)
    spread = {v: np.array([s.value]) for v, s in loaded.items()}
    alike = rules.alike(spread, ALIKE, "largest difference between the three under load, of their middle")
    still = rules.alike({v: np.array([s.value]) for v, s in idle.items()}, ALIKE, "the same on the idle path")
    listed = ", ".join(f"{LABELS[v]} {s.value:.2f}" for v, s in loaded.items())
    return Finding(
        "part1-delay-alike",
        rules.verdict(alike),
        f"The mean of ten pings beside the flow lies within {100 * ALIKE:.0f} % for the three variants (median "
        "over repetitions, two hops).",
        (*(Measured.of(f"ping beside {LABELS[v]}", s, "ms") for v, s in loaded.items()), *alike.measured),
        f"beside the flow ping shows {listed} ms: Reno and CUBIC fill the queue, Vegas keeps it nearly empty. On "
        f"the idle path it shows {idle['reno'].value:.2f} ms whatever the variant: such a ping shows nothing "
        "about a variant",
        (*still.measured, *(Measured.of(f"ping before {LABELS[v]}", s, "ms") for v, s in idle.items())),
    )


def _slower(part1: Alone, jitter: Alone) -> Finding:
    rates = {v: summarize(part1.get("goodput_bps", v, 2)) for v in THREE}
    full = rules.Ruling(
        all(rates[v].low >= FULL * RATE for v in ("reno", "cubic")),
        tuple(Measured.of(LABELS[v], s, "Mbit/s") for v, s in rates.items()),
    )
    part = summarize(part1.part(2))
    thirds = rules.Ruling(
        abs(part.value - CLAIMED) <= NEAR, (Measured.of("Vegas, of Reno's and CUBIC's mean", part),)
    )
    noise = _by_jitter(jitter, 2)
    nearest = min(noise, key=lambda j: abs(noise[j].value - CLAIMED))
    return Finding(
        "part1-vegas-slower",
        rules.verdict(full, thirds),
        f"Over two hops Reno and CUBIC are shown to get at least {100 * FULL:.0f} % of {RATE:g} Mbit/s, and Vegas "
        f"{CLAIMED:.2f} ± {NEAR:g} of their mean.",
        (*full.measured, *thirds.measured),
        f"on a clean path Vegas gets {part.value:.2f} of the others' throughput ({rates['vegas'].value:.1f} Mbit/s). "
        f"It takes jitter for a queue: with {nearest} a hop it gets {noise[nearest].value:.2f} of theirs. "
        "Such noise, which busy virtual machines add, would explain the report's figure; Vegas alone doesn't",
        tuple(Measured.of(f"Vegas' part with jitter of {j} a hop", s) for j, s in noise.items()),
    )


def _by_jitter(jitter: Alone, hops: int) -> dict[str, Summary]:
    return {str(j): summarize(jitter.part(h, j)) for h, j in jitter.points if h == hops}


def _hops(part1: Alone, jitter: Alone) -> Finding:
    clean = rules.higher(part1.part(1), part1.part(2), "Vegas' part, one hop less two, clean path")
    worth = abs(clean.measured[0].value or 0.0) > 0.01
    verdict = Verdict.NOT_MEASURED if clean.holds is None else Verdict.DIFFERS
    if clean.holds and worth:
        verdict = Verdict.AGREES
    noisy = {
        str(j): rules.higher(jitter.part(1, j), jitter.part(2, j), f"Vegas' part, one hop less two, jitter {j} a hop")
        for h, j in jitter.points
        if h == 1 and not str(j).startswith("0 ")
    }
    one, two = (_by_jitter(jitter, h) for h in (1, 2))
    shown = [j for j, ruling in noisy.items() if ruling.holds]
    example = "; ".join(f"{j} a hop: {one[j].value:.2f} over one, {two[j].value:.2f} over two" for j in noisy)
    return Finding(
        "part1-hops",
        verdict,
        "On the same seeds Vegas' part of Reno's and CUBIC's throughput is shown to be higher over one hop than "
        "over two, by more than 0.01, with nothing but the number of hops changed.",
        clean.measured,
        f"the number of hops alone changes nothing ({summarize(part1.part(1)).value:.3f} and "
        f"{summarize(part1.part(2)).value:.3f}). Hops that add jitter do ({example}; shown for "
        f"{', '.join(shown) or 'none'})",
        tuple(m for ruling in noisy.values() for m in ruling.measured),
    )
