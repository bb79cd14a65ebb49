"""Causes and further numbers for the claims on experiment 1: one flow against CBR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.metrics import knee
from dumbbell.report.finding import Measured
from dumbbell.studies.judge import Remark
from dumbbell.studies.ns2_cbr.data import METRICS, Experiment1, report_rates
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["FALL", "FOUR", "NEAR", "congested", "early_fall", "knees", "level_until", "predicted_knee", "remarks"]

FOUR = ("tahoe", "reno", "newreno", "vegas")
"""The report's variants."""
NEAR = 0.5
"""Distance in CBR rate up to which two places are the same, Mbit/s: half the report's step."""
FALL = 0.1
"""Share of the throughput that is lost at the knee."""
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


def knees(data: Experiment1, variant: str) -> Floats:
    """Find the knee of each repetition, Mbit/s; (n,) float64, NaN if it has none."""
    grid = data.grid("throughput", variant)
    return np.array([knee(data.rates, grid[:, r], level_until=level_until(data), fall=FALL) for r in range(data.n)])


def early_fall(data: Experiment1, variant: str) -> float:
    """Find the CBR rate, Mbit/s, at which a variant has lost a tenth of its goodput at the lowest rate."""
    return knee(data.rates, data.medians("throughput", variant), level_until=float(data.rates[0]), fall=FALL)


def congested(data: Experiment1) -> list[float]:
    """List the report's CBR rates that lie past every variant's knee, Mbit/s."""
    last = max(float(np.nanmedian(knees(data, v))) for v in data.reported)
    return [r for r in report_rates(list(data.rates)) if r > last]


def remarks(data: Experiment1, large: Experiment1) -> dict[str, Remark]:
    """Return the remarks by claim."""
    rates = congested(data)
    return {
        "exp1-knee": _knee(data, large),
        "exp1-vegas-throughput": Remark(
            _timeouts(data, rates), _beside(data, large, rates, "throughput", highest=True)
        ),
        "exp1-vegas-latency": Remark("", _beside(data, large, rates, "latency", highest=False)),
        "exp1-vegas-drops": Remark("", _beside(data, large, rates, "drop rate", highest=False)),
    }


def _knee(data: Experiment1, large: Experiment1) -> Remark:
    free, half = large.medians("throughput", "sack", [large.rates[0], 5.0])
    own, without = float(np.nanmedian(knees(data, "sack"))), early_fall(large, "sack")
    limits = abs(own - predicted_knee(data)) <= NEAR and without < own - NEAR
    return Remark(
        f"10 Mbit/s minus {data.window} packets per round trip is {predicted_knee(data):.2f} Mbit/s, and SACK's "
        f"knee is at {own:.2f}; with a window of {large.window} packets SACK has lost a tenth by {without:.1f} Mbit/s"
        + (": the window makes the knee" if limits else ""),
        (
            Measured.number("knee computed from window, packet and RTT", predicted_knee(data), "Mbit/s"),
            Measured.number(f"SACK, window {large.window}, CBR {large.rates[0]:g} Mbit/s", free, "Mbit/s"),
            Measured.number(f"SACK, window {large.window}, CBR 5 Mbit/s", half, "Mbit/s"),
            Measured.number(
                "SACK, window 20, CBR 5 Mbit/s", float(data.medians("throughput", "sack", [5.0])[0]), "Mbit/s"
            ),
        ),
    )


def _timeouts(data: Experiment1, rates: Sequence[float]) -> str:
    counts = {v: float(values.mean()) for v, values in data.average("timeouts", rates, data.variants).items()}
    return "Timeouts a run: " + ", ".join(f"{LABELS[v]} {c:.1f}" for v, c in counts.items())


def _beside(
    data: Experiment1, large: Experiment1, rates: Sequence[float], metric: str, *, highest: bool
) -> tuple[Measured, ...]:
    """Return the fastest variant by rate, with SACK as well, and with a large window."""
    unit = METRICS[metric][2]

    def first(values: dict[str, Floats], what: str) -> Measured:
        middles = {v: float(np.nanmedian(x)) for v, x in values.items()}
        best = sorted(middles, key=lambda v: -middles[v] if highest else middles[v])
        text = ", ".join(f"{LABELS[v]} {middles[v]:.3g}" for v in best)
        return Measured(what, f"{text} {unit}")

    rows = [first({v: data.get(metric, v, r) for v in data.reported}, f"in order at {r:g} Mbit/s") for r in rates]
    rows.append(first(data.average(metric, rates, data.variants), "in order with SACK among them"))
    common = [r for r in rates if r in set(large.rates)]
    rows.append(
        first(large.average(metric, common, large.reported), f"in order with a window of {large.window} packets")
    )
    return tuple(rows)
