"""Figures 3, 4 and 5 of the report, and further ones on effects that its settings hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.plots import Curve, Mark, Panel, Picture, sampled
from dumbbell.studies.ns2_cbr.data import METRICS, Experiment1
from dumbbell.studies.ns2_cbr.remarks_exp1 import congested, knees, predicted_knee
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["AXES", "CBR_AXIS", "pictures"]

CBR_AXIS = "CBR rate (Mbit/s)"
AXES = {
    "throughput": "throughput (Mbit/s)",
    "latency": "latency: mean ACK delay (ms)",
    "drop rate": "drop rate (% of sent packets)",
}


def pictures(data: Experiment1, constant: Experiment1, large: Experiment1) -> list[Picture]:
    """Draw experiment 1; `constant` has constant CBR intervals, `large` a window that never limits."""
    return [
        _over_rate(data, "fig03-throughput", "Figure 3: TCP throughput over CBR rate", "throughput", highest=True),
        _over_rate(data, "fig04-latency", "Figure 4: TCP latency over CBR rate", "latency", highest=False),
        _over_rate(data, "fig05-drop-rate", "Figure 5: TCP packet drop rate over CBR rate", "drop rate", highest=False),
        _constant(data, constant),
        _window(data, large),
    ]


def _curve(
    data: Experiment1, metric: str, variant: str, rates: Sequence[float] | Floats | None = None,
    label: str | None = None, look: str | None = None,
) -> Curve:  # fmt: skip
    x = np.asarray(data.rates if rates is None else rates)
    return sampled(label or LABELS[variant], look or variant, data.grid(metric, variant, x), x, dots=False)


def _over_rate(data: Experiment1, name: str, title: str, metric: str, *, highest: bool) -> Picture:
    panel = Panel(
        f"median of {data.n} repetitions, with 95 % interval; CBR intervals jittered, window {data.window} packets",
        CBR_AXIS,
        AXES[metric],
        [_curve(data, metric, v) for v in data.variants],
        marks=[
            Mark(
                predicted_knee(data),
                f"window and CBR fill the link: {predicted_knee(data):.2f}",
                "bottom" if metric == "throughput" else "top",
            )
        ],
        y_from_zero=metric != "latency",
    )
    return Picture(name, title, _reading(data, metric, highest=highest), [panel])


def _reading(data: Experiment1, metric: str, *, highest: bool) -> str:
    unit = METRICS[metric][2]
    rates = congested(data)
    calm = [r for r in data.rates if r <= 5]
    before = [data.medians(metric, v, calm) for v in data.variants]
    after = {v: float(np.median(data.average(metric, rates, [v])[v])) for v in data.variants}
    order = sorted(data.variants, key=lambda v: -after[v] if highest else after[v])
    ranked = ", ".join(f"{LABELS[v]} {after[v]:.3g}" for v in order)
    low, high = min(b.min() for b in before), max(b.max() for b in before)
    level = f"{low:.3g} to {high:.3g} {unit}" if high > 0 else f"0 {unit}"
    change = {"throughput": "falls", "latency": "rises", "drop rate": "rises"}[metric]
    return (
        f"Up to 5 Mbit/s all variants lie at {level}; past the knee {metric} {change}, to an average over CBR "
        f"{rates[0]:g} to {rates[-1]:g} Mbit/s of {ranked} {unit} ({'best' if highest else 'lowest'} first)."
    )


def _constant(data: Experiment1, constant: Experiment1) -> Picture:
    rates = [r for r in data.rates if r >= 5]
    panels = []
    for v in data.variants:
        curves = [
            _curve(data, "throughput", v, rates, "jittered intervals", "jittered"),
            _curve(constant, "throughput", v, rates, "constant intervals", "constant"),
        ]
        panels.append(Panel(LABELS[v], CBR_AXIS, AXES["throughput"], curves))
    spread = []
    for label, look, source in (("jittered intervals", "jittered", data), ("constant intervals", "constant", constant)):
        sd = np.median([source.grid("throughput", v, rates).std(axis=1, ddof=1) for v in data.variants], axis=0)
        spread.append(Curve(label, look, np.asarray(rates), sd))
    panels.append(Panel("spread over repetitions, median variant", CBR_AXIS, "standard deviation (Mbit/s)", spread))
    reading = _constant_reading(data, constant, rates)
    return Picture(
        "extra1-constant-or-jittered", "CBR intervals constant or jittered: TCP throughput", reading, panels, columns=3
    )


def _constant_reading(data: Experiment1, constant: Experiment1, rates: Sequence[float]) -> str:
    last = rates[-1]
    locked = np.median([np.median(constant.get("throughput", v, last)) for v in data.variants])
    free = np.median([np.median(data.get("throughput", v, last)) for v in data.variants])
    gaps = {
        (v, r): float(np.median(constant.get("throughput", v, r)) / np.median(data.get("throughput", v, r)) - 1)
        for v in data.variants
        for r in rates[:-1]
    }
    (v, r), gap = max(gaps.items(), key=lambda item: abs(item[1]))
    return (
        f"With constant intervals TCP and CBR lock phase: at {last:g} Mbit/s TCP gets {locked:.3f} instead of "
        f"{free:.3f} Mbit/s, and below that the largest gap is {100 * gap:+.0f} % ({LABELS[v]} at {r:g} Mbit/s)."
    )


def _window(data: Experiment1, large: Experiment1) -> Picture:
    def panel(source: Experiment1) -> Panel:
        rates = [r for r in large.rates if r in set(source.rates)]
        return Panel(
            f"window {source.window} packets",
            CBR_AXIS,
            AXES["throughput"],
            [_curve(source, "throughput", v, rates) for v in source.variants],
        )

    small, big = (x.medians("throughput", "sack", [large.rates[0], 5.0]) for x in (data, large))
    lost = ", ".join(f"{LABELS[v]} {np.median(knees(data, v)):.2f}" for v in data.reported)
    reading = (
        f"Knees with {data.window} packets: {lost} Mbit/s. SACK then gets {small[0]:.2f} Mbit/s at "
        f"CBR {large.rates[0]:g} and {small[1]:.2f} at 5 Mbit/s, with {large.window} packets {big[0]:.2f} and "
        f"{big[1]:.2f}."
    )
    return Picture(
        "extra2-window",
        "Window of 20 packets or one that never limits: TCP throughput",
        reading,
        [panel(data), panel(large)],
        columns=2,
        share_y=True,
    )
