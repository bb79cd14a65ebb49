"""The report's claims on experiment 1: one flow against CBR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dumbbell.metrics import knee, summarize
from dumbbell.studies import rules
from dumbbell.studies.finding import Finding, Measured, Verdict
from dumbbell.studies.ns2_cbr.data import CONSTANT, JITTERED, METRICS, VARIANTS, Experiment1, report_rates
from dumbbell.studies.shared import LABELS

__all__ = ["FALL", "FOUR", "claims", "congested", "early_fall", "knees", "level_until", "predicted_knee"]

Floats = npt.NDArray[np.float64]

FOUR = ("tahoe", "reno", "newreno", "vegas")
"""The report's variants."""
FALL = 0.1
"""Share of the throughput that is lost at the knee."""
CLAIMED, NEAR = 7.2, 0.5
"""The report's knee, Mbit/s, and how far a measured one may lie from it: half the report's step of 1 Mbit/s."""
LINK = 10.0
"""Mbit/s."""
WIRE = 1040
"""Bytes of a packet on the wire."""


def level_until(data: Experiment1) -> float:
    """Up to which CBR rate, Mbit/s, the throughput is taken to be on its level: half the link."""
    return min(LINK / 2, float(data.rates[-1]))


def predicted_knee(data: Experiment1) -> float:
    """Compute where a window's worth of packets per round trip just fits beside the CBR stream, Mbit/s."""
    rtt_ms = float(data.medians("latency", "newreno", data.rates[:1])[0])
    return LINK - data.window * WIRE * 8 / rtt_ms / 1000


def knees(data: Experiment1, variant: str, jitter: float = JITTERED) -> Floats:
    """Find the knee of each repetition, Mbit/s; (n,) float64, NaN if it has none."""
    grid = data.grid("throughput", variant, jitter=jitter)
    return np.array([knee(data.rates, grid[:, r], level_until=level_until(data), fall=FALL) for r in range(data.n)])


def early_fall(data: Experiment1, variant: str) -> float:
    """Find the CBR rate, Mbit/s, at which a variant has lost a tenth of its goodput at the lowest rate."""
    return knee(data.rates, data.medians("throughput", variant), level_until=float(data.rates[0]), fall=FALL)


def congested(data: Experiment1) -> list[float]:
    """List the report's CBR rates that lie past every variant's knee, Mbit/s."""
    last = max(float(np.nanmedian(knees(data, v))) for v in FOUR)
    return [r for r in report_rates(list(data.rates)) if r > last]


def claims(data: Experiment1, large: Experiment1) -> list[Finding]:
    """Compare the report's four claims on experiment 1 with the runs."""
    rates = congested(data)
    return [
        _knee(data, large),
        _vegas(data, large, rates, "exp1-vegas-throughput", "throughput", highest=True),
        _vegas(data, large, rates, "exp1-vegas-latency", "latency", highest=False),
        _vegas(data, large, rates, "exp1-vegas-drops", "drop rate", highest=False),
    ]


def _knee(data: Experiment1, large: Experiment1) -> Finding:
    found = {v: knees(data, v) for v in FOUR}
    middles = {v: float(np.median(k)) for v, k in found.items()}
    until = [r for r in report_rates(list(data.rates)) if r < min(CLAIMED, np.nanmin(list(middles.values())))]
    curves = {v: data.medians("throughput", v, until) for v in FOUR}
    alike = rules.alike(curves, FALL, f"largest difference between the four at up to {until[-1]:g} Mbit/s")
    near = rules.Ruling(
        all(abs(m - CLAIMED) <= NEAR for m in middles.values()),
        tuple(Measured.of(f"knee of {LABELS[v]}", summarize(k), "Mbit/s") for v, k in found.items()),
    )
    beyond = congested(data)[0]
    rises = rules.Ruling(True)
    for metric in ("latency", "drop rate"):
        unit = METRICS[metric][2]
        for v in FOUR:
            before, after = data.get(metric, v, data.rates[0]), data.get(metric, v, beyond)
            rises &= rules.higher(
                after, before, f"{metric} of {LABELS[v]}, {beyond:g} less {data.rates[0]:g} Mbit/s", unit
            )
    verdict = rules.verdict(alike, near, rises)
    free, half = large.medians("throughput", "sack", [large.rates[0], 5.0])
    lo, hi = min(middles.values()), max(middles.values())
    where = f"the four lose a tenth of their throughput at {lo:.2f} to {hi:.2f} Mbit/s"
    failed = [
        words
        for ruling, words in (
            (alike, "they are not alike before it"),
            (near, "that is not near 7.2"),
            (rises, "latency or drop rate do not rise for all"),
        )
        if not ruling.holds
    ]
    return Finding(
        "exp1-knee",
        verdict,
        f"The four lie within {100 * FALL:.0f} % of each other before the knee, each loses {100 * FALL:.0f} % of "
        f"its level at {CLAIMED} ± {NEAR} Mbit/s (half the report's step), and latency and drop rate are then "
        f"shown to be higher than at {data.rates[0]:g} Mbit/s.",
        (*alike.measured, *near.measured, *rises.measured),
        f"{where}{', but ' + ' and '.join(failed) if failed else ''}; the knee is made by the window: 10 Mbit/s "
        f"less {data.window} packets per round trip is {predicted_knee(data):.2f} Mbit/s, and with a window of "
        f"{large.window} packets SACK has lost a tenth by {early_fall(large, 'sack'):.1f} Mbit/s",
        (
            Measured.number("knee computed from window, packet and RTT", predicted_knee(data), "Mbit/s"),
            Measured.number(f"SACK, window {large.window}, CBR {large.rates[0]:g} Mbit/s", free, "Mbit/s"),
            Measured.number(f"SACK, window {large.window}, CBR 5 Mbit/s", half, "Mbit/s"),
            Measured.number(
                "SACK, window 20, CBR 5 Mbit/s", float(data.medians("throughput", "sack", [5.0])[0]), "Mbit/s"
            ),
        ),
    )


def _vegas(
    data: Experiment1, large: Experiment1, rates: Sequence[float], claim: str, metric: str, *, highest: bool
) -> Finding:
    unit, side = METRICS[metric][2], "highest" if highest else "lowest"
    samples = {LABELS[v]: x for v, x in data.average(metric, rates, FOUR).items()}
    ruling = rules.extreme(samples, "Vegas", highest=highest, unit=unit)
    verdict = rules.verdict(ruling)
    middles = {v: float(np.median(values)) for v, values in samples.items()}
    order = sorted(middles, key=lambda v: -middles[v] if highest else middles[v])
    over = f"averaged over CBR {rates[0]:g} to {rates[-1]:g} Mbit/s"
    listed = ", ".join(f"{v} {middles[v]:.3g}" for v in order)
    place = order.index("Vegas") + 1
    if verdict is Verdict.AGREES:
        why = f"{over}, Vegas is {side} of the four: {listed} {unit}"
    elif place == 1:
        why = f"{over}, Vegas is first ({listed} {unit}), but not shown against each of the others"
    else:
        why = f"{over}, the {side} is {order[0]}, Vegas is number {place} of four: {listed} {unit}"
    return Finding(
        claim,
        verdict,
        f"On the same seeds, Vegas' mean {metric} over the congested CBR rates (past every knee) is shown to be "
        f"{'higher' if highest else 'lower'} than that of each of the other three: all 95 % intervals of the median "
        "difference on one side of zero, the usual bar for a difference that isn't chance.",
        (
            *(Measured.of(v, summarize(values), unit) for v, values in samples.items()),
            *ruling.measured,
        ),
        f"{why}; {_timeouts(data, rates)}" if metric == "throughput" else why,
        _beside(data, large, rates, metric, highest=highest),
    )


def _timeouts(data: Experiment1, rates: Sequence[float]) -> str:
    counts = {v: float(values.mean()) for v, values in data.average("timeouts", rates, VARIANTS).items()}
    return "timeouts a run: " + ", ".join(f"{LABELS[v]} {c:.1f}" for v, c in counts.items())


def _beside(
    data: Experiment1, large: Experiment1, rates: Sequence[float], metric: str, *, highest: bool
) -> tuple[Measured, ...]:
    """Return the fastest variant by rate, with constant intervals, with SACK as well, and with a large window."""
    unit = METRICS[metric][2]

    def first(values: dict[str, Floats], what: str) -> Measured:
        middles = {v: float(np.nanmedian(x)) for v, x in values.items()}
        best = sorted(middles, key=lambda v: -middles[v] if highest else middles[v])
        text = ", ".join(f"{LABELS[v]} {middles[v]:.3g}" for v in best)
        return Measured(what, f"{text} {unit}")

    rows = [first({v: data.get(metric, v, r) for v in FOUR}, f"in order at {r:g} Mbit/s") for r in rates]
    rows.append(first(data.average(metric, rates, FOUR, CONSTANT), "in order with constant CBR intervals"))
    rows.append(first(data.average(metric, rates, VARIANTS), "in order with SACK among them"))
    common = [r for r in rates if r in set(large.rates)]
    rows.append(first(large.average(metric, common, FOUR), f"in order with a window of {large.window} packets"))
    return tuple(rows)
