"""Figures other than planes: fairness between round trips, bursts, delay over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.plots.spec import Curve, Mark, Panel, Picture, sampled
from dumbbell.studies.aqm.data import LABELS, RTTS, Section, look_of
from dumbbell.studies.aqm.figures_plane import by_phase
from dumbbell.studies.aqm.phases import BEGIN, Phases
from dumbbell.studies.shared import Floats

__all__ = ["CASES", "burst_picture", "fairness_picture", "phase_pictures", "ratio"]

CASES = {
    "7.2-I": "I: web, CBR",
    "7.2-II": "II: web, CBR, bulk",
    "7.2-III": "III: video, web, CBR",
    "7.2-IV": "IV: video, web, CBR, bulk",
}
"""The cases of §7.2, figure 2."""
WINDOW = 1.0
"""Windows of goodput, s: the RFC's K = 10 round trips of 100 ms [§2.7]."""
LEAST = 0.1
"""Smallest delay on a logarithmic axis, ms."""


def ratio(section: Section, name: str, other: str) -> Floats:
    """Return the goodput of category II over that of category I; (n,)."""
    return section.goodput(name, other, "category-2") / section.goodput(name, other, "category-1")


def fairness_picture(section: Section) -> Picture:
    """Draw the ratio of goodputs, and the drop rates, over the second flow's round trip."""
    x = np.array([RTTS[other] for other in section.others], dtype=np.float64)
    shares, drops = [], []
    for name in section.names:
        ratios = [ratio(section, name, other) for other in section.others]
        shares.append(sampled(LABELS[name], look_of(name), ratios, x, dots=False))
        rates = [100 * section.flow("drop_rate", "category-2", name, other) for other in section.others]
        drops.append(sampled(LABELS[name], look_of(name), rates, x, dots=False))
    even = Curve("equal", "total", x[[0, -1]], np.ones(2))
    axis = "round trip of category II (ms); category I: 100"
    panels = [
        Panel("goodput of category II over category I", axis, "ratio", [even, *shares], x_log=True, y_log=True),
        Panel("drop rate of category II", axis, "% of sent packets", drops, x_log=True),
    ]
    first, last = section.others[0], section.others[-1]
    reading = ", ".join(
        f"{LABELS[n]} {np.median(ratio(section, n, first)):.2g} and {np.median(ratio(section, n, last)):.2g}"
        for n in section.names
    )
    return Picture(
        "s6-2-fairness",
        "§6.2: two flows with different round trips",
        f"Category II's part of category I's goodput at {RTTS[first]} and {RTTS[last]} ms: {reading}.",
        panels,
        columns=2,
    )


def burst_picture(sections: Mapping[str, Section]) -> Picture:
    """Draw the effect of bursts on each application, by case and discipline."""
    found = {case: sections[case] for case in CASES if case in sections}
    names = next(iter(found.values())).names
    x = np.arange(len(names))
    words = [LABELS[n] for n in names]
    looks = ("reno", "newreno", "tahoe", "sack")
    panels = []
    for title, label, flow, metric in (
        ("a web page of 648 kB, median", "completion time (s)", "web", "page"),
        ("CBR: one-way delay, 99th percentile", "ms", "cbr", "owd_p99_ms"),
        ("CBR: packets lost", "% of sent packets", "cbr", "drop_rate"),
        ("video: one-way delay, 99th percentile", "ms", "video", "owd_p99_ms"),
        ("video: packets lost", "% of sent packets", "video", "drop_rate"),
        ("bulk flow", "goodput (Mbit/s)", "bulk", "goodput_bps"),
    ):
        curves = []
        for (case, section), look in zip(found.items(), looks, strict=True):
            if flow != "web" and not section.has(flow):
                continue
            factor = {"drop_rate": 100.0, "goodput_bps": 1e-6}.get(metric, 1.0)
            rows = [section.page_times(n) if flow == "web" else factor * section.flow(metric, flow, n) for n in names]
            curves.append(sampled(CASES[case], look, rows, x, kind="bars", dots=False))
        panels.append(Panel(title, "", label, curves, categories=words))
    last = found["7.2-IV"]
    pages = sorted(names, key=lambda n: float(np.median(last.page_times(n))))
    reading = "With video, CBR and a bulk flow a page takes " + ", ".join(
        f"{np.median(last.page_times(n)):.2f} s ({LABELS[n]})" for n in pages
    )
    return Picture("s7-2-bursts", "§7.2: absorption of bursts", f"{reading}.", panels, columns=2)


def phase_pictures(congestion: Phases, slow: Phases, fast: Phases) -> list[Picture]:
    """Draw sections 8.2.5 and 8.2.6."""
    return [
        _over_time(congestion, "s8-2-5-time", "§8.2.5: delay while the number of flows changes", 1.0),
        by_phase(congestion, "s8-2-5-planes", "§8.2.5: goodput and delay by phase"),
        _distributions(congestion),
        _over_time(slow, "s8-2-6-1-time", "§8.2.6, experiment 1: delay while the capacity changes each 20 s", 0.5),
        by_phase(slow, "s8-2-6-1-planes", "§8.2.6, experiment 1: goodput and delay by phase"),
        by_phase(fast, "s8-2-6-2-planes", "§8.2.6, experiment 2 (100 ms): delay by phase", together=True),
    ]


def _cdf(label: str, look: str, values: Floats) -> Curve:
    """Draw a cumulative distribution by its percentiles."""
    share = np.linspace(0, 1, 101)
    return Curve(label, look, np.quantile(values, share), share)


def _distributions(data: Phases) -> Picture:
    """Draw the distributions that §2.7 asks for: delays, and goodput in windows of ten round trips."""
    mild, heavy = data.phases[0], data.phases[2]
    panels = []
    for phase in (mild, heavy):
        curves = [_cdf(LABELS[n], look_of(n), np.maximum(data.delays(n, phase).ravel(), LEAST)) for n in data.names]
        panels.append(Panel(phase.name, "queueing delay (ms)", "part of the time", curves, x_log=True, y_top=1.0))
        curves = [_cdf(LABELS[n], look_of(n), data.rates(n, phase, WINDOW).ravel()) for n in data.names]
        axis = f"goodput of all flows per {WINDOW:g} s (Mbit/s)"
        panels.append(Panel(phase.name, axis, "part of the windows", curves, y_top=1.0))
    high = {n: float(np.quantile(data.delays(n, heavy), 0.95)) for n in data.names}
    reading = ", ".join(f"{LABELS[n]} {high[n]:.0f} ms" for n in sorted(high, key=lambda n: high[n]))
    title = "§8.2.5: distributions of delay and goodput"
    words = f"With 19 flows the delay is for 95 % of the time at most: {reading}. {LEAST:g} ms includes smaller values."
    return Picture("s8-2-5-cdf", title, words, panels, columns=2, markers=False)


def _over_time(data: Phases, name: str, title: str, window: float) -> Picture:
    groups = (
        [n for n in data.names if n in {"droptail", "red", "codel", "pie", "pi2"}],
        [n for n in data.names if n in {"droptail", "dualpi2", "fq_codel", "fq_pie", "cake"}],
    )
    borders = [BEGIN + 20 * k for k in range(int((data.t[-1] - BEGIN) // 20) + 1)]
    marks = [Mark(b) for b in borders]
    panels = []
    for group in groups:
        curves = []
        for n in group:
            t, y = data.over_time(n, window)
            curves.append(Curve(LABELS[n], look_of(n), t, np.maximum(y, LEAST)))
        label = f"queueing delay per {window:g} s (ms)"
        panels.append(Panel(f"median of {data.n} runs", "time (s)", label, curves, marks=marks, y_log=True))
    most = {n: float(np.max(data.over_time(n, window)[1])) for n in data.names}
    worst = ", ".join(f"{LABELS[n]} {most[n]:.0f} ms" for n in sorted(most, key=lambda n: most[n]))
    return Picture(
        name,
        title,
        f"Largest delay over {window:g} s: {worst}. Less than {LEAST:g} ms is drawn as this value.",
        panels,
        markers=False,
    )
