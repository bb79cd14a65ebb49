"""The report's three claims."""

from __future__ import annotations

import itertools

from dumbbell.metrics import compare_all, rtt_slope, summarize
from dumbbell.studies import rules
from dumbbell.studies.finding import Finding, Measured, Verdict
from dumbbell.studies.netem_iperf.data import DELAYS, LOSSES, VARIANTS, Grid
from dumbbell.studies.shared import LABELS

__all__ = ["claims", "sides"]

INVERSE = 0.25
"""Largest deviation of the RTT's exponent from -1 that counts as inverse: -0.75 is CUBIC's own [RFC 9438 §5.1]."""

FEWEST = 10
"""Repetitions from which nine comparisons together can show anything: with 5 the smallest p-value is 1/16, with 10 it
is 1/512, and Holm's correction multiplies by up to nine."""


def claims(grid: Grid, long: Grid, offload: Grid) -> list[Finding]:
    """Compare the claims with the runs."""
    return [_delay(grid, long), _loss(grid), _cubic(grid, long, offload)]


def _delay(grid: Grid, long: Grid) -> Finding:
    falls = rules.Ruling(True)
    slopes = {}
    for v in VARIANTS:
        for p in LOSSES:
            for a, b in itertools.pairwise(DELAYS):
                words = f"{LABELS[v]}, {p:g} %: {a:g} ms less {b:g} ms"
                falls &= rules.higher(grid.get(v, a, p), grid.get(v, b, p), words, "Mbit/s")
            slopes[v, p] = rtt_slope(DELAYS, [grid.median(v, d, p) for d in DELAYS])
    inverse = rules.Ruling(
        all(abs(s + 1) <= INVERSE for s in slopes.values()),
        tuple(Measured.number(f"power of the RTT, {LABELS[v]}, {p:g} %", s) for (v, p), s in slopes.items()),
    )
    verdict = rules.verdict(falls, inverse)
    steady = {(v, p): rtt_slope(DELAYS, [long.median(v, d, p) for d in DELAYS]) for v, p in slopes}
    low, high = min(slopes.values()), max(slopes.values())
    odd = [f"{LABELS[v]} at {p:g} % {s:.2f}" for (v, p), s in slopes.items() if abs(s + 1) > INVERSE]
    why = f"throughput is proportional to the RTT to the power of {low:.2f} to {high:.2f}"
    if not falls.holds:
        why += ", but not every step is shown to be lower"
    if odd:
        why += f"; not inversely: {', '.join(odd)}: CUBIC grows by time, not by round trips"
    return Finding(
        "delay-inverse",
        verdict,
        "On the same seeds every longer delay is shown to have less throughput, for both variants and all losses, "
        f"and over the round trips the power law has an exponent of -1 ± {INVERSE:g}: beyond that lies CUBIC's "
        "own -0.25 [RFC 9438 §5.1].",
        (*inverse.measured, *falls.measured),
        why,
        tuple(Measured.number(f"long transfers: power, {LABELS[v]}, {p:g} %", s) for (v, p), s in steady.items()),
    )


def _loss(grid: Grid) -> Finding:
    falls = rules.Ruling(True)
    slopes = {}
    for v in VARIANTS:
        for d in DELAYS:
            for a, b in itertools.pairwise(LOSSES):
                words = f"{LABELS[v]}, {d:g} ms: {a:g} % less {b:g} %"
                falls &= rules.higher(grid.get(v, d, a), grid.get(v, d, b), words, "Mbit/s")
            slopes[v, d] = rtt_slope(LOSSES, [grid.median(v, d, p) for p in LOSSES])
    low, high = min(slopes.values()), max(slopes.values())
    end = "" if falls.holds else ", but not every step is shown to be lower"
    return Finding(
        "loss-inverse",
        rules.verdict(falls),
        "On the same seeds every higher loss is shown to have less throughput, for both variants and all delays.",
        falls.measured,
        f"it is proportional to the loss to the power of {low:.2f} to {high:.2f} (Mathis: -0.5, CUBIC: -0.75){end}",
        tuple(Measured.number(f"power of the loss, {LABELS[v]}, {d:g} ms", s) for (v, d), s in slopes.items()),
    )


def sides(grid: Grid) -> dict[tuple[float, float], tuple[str | None, Measured]]:
    """Return for each cell (delay, loss) whether CUBIC is shown to be ``lower`` or ``higher`` than Reno, or neither.

    All nine comparisons together hold at 95 % (Holm).
    """
    cells = [(d, p) for p in LOSSES for d in DELAYS]
    samples = {f"{v} {d:g} {p:g}": grid.get(v, d, p) for v in VARIANTS for d, p in cells}
    found = compare_all(samples, pairs=[(f"cubic {d:g} {p:g}", f"reno {d:g} {p:g}") for d, p in cells])
    outcomes = {}
    for (d, p), one in zip(cells, found, strict=True):
        side = one.direction
        measured = Measured.of(f"CUBIC less Reno, {d:g} ms, {p:g} %", one.difference, "Mbit/s")
        outcomes[d, p] = (side, measured)
    return outcomes


def _counts(outcomes: dict[tuple[float, float], tuple[str | None, Measured]]) -> str:
    names = [s for s, _ in outcomes.values()]
    return (
        f"{names.count('lower')} cells lower, {names.count('higher')} higher, {names.count(None)} no difference shown"
    )


def _cubic(grid: Grid, long: Grid, offload: Grid) -> Finding:
    outcomes, steady, large = sides(grid), sides(long), sides(offload)
    names = [side for side, _ in outcomes.values()]
    if grid.n < FEWEST:
        verdict = Verdict.NOT_MEASURED
    else:
        below = "higher" not in names and names.count("lower") > len(names) / 2
        verdict = Verdict.AGREES if below else Verdict.DIFFERS
    lossy, far = (grid.median(v, 10.0, 1.0) for v in VARIANTS), (grid.median(v, 100.0, 0.1) for v in VARIANTS)
    (near_reno, near_cubic), (far_reno, far_cubic) = lossy, far
    return Finding(
        "cubic-below-reno",
        verdict,
        "On the same seeds CUBIC is shown to get less than Reno in most of the nine cells and more in none "
        "(Student's t on the pairs with Holm's correction for nine comparisons, 95 %).",
        tuple(m for _, m in outcomes.values()),
        f"{_counts(outcomes)}: it depends on the cell. At 10 ms and 1 % CUBIC has {near_cubic / near_reno:.2f} times "
        f"Reno's throughput, at 100 ms and 0.1 % {far_cubic / far_reno:.2f} times: where windows are small CUBIC "
        "falls back to Reno's pace [RFC 9438 §4.3], with long round trips its growth by time is faster. Long "
        f"transfers: {_counts(steady)}; with 64 KiB segments: {_counts(large)}",
        (
            *(Measured.of(f"{LABELS[v]}, {d:g} ms, {p:g} %", summarize(grid.get(v, d, p)), "Mbit/s")
              for d, p in outcomes for v in VARIANTS),
            *(m for _, m in steady.values()),
        ),
    )  # fmt: skip
