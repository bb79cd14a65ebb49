"""Windows and queues over time, ping and page before and beside the long transfer."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics import summarize, summarize_all
from dumbbell.plots import Curve, Panel, Picture, curve_of
from dumbbell.studies.bufferbloat.data import QUEUES, VARIANTS, Curves, Load
from dumbbell.studies.shared import LABELS

__all__ = ["pictures"]

LOOKS = {"large": "droptail", "small": "red", "two": "drr", "codel": "codel", "fq_codel": "fq_codel:2"}
BEGIN = 40.0
"""Start of the time that is shown, s: slow start has ended."""
LENGTHS = {"large": 80.0, "small": 80.0, "codel": 8.0}
"""Length of the time that is shown, s: a few teeth."""


def pictures(load: Load, curves: Curves) -> list[Picture]:
    """Draw all of it."""
    return [
        *(_over_time(curves, v, f"fig{k + 1}-window-and-queue-{v}") for k, v in enumerate(VARIANTS)),
        _bars(load, "ping", "fig3-ping", "Ping alone and beside a long transfer", "mean RTT of ten pings (ms)"),
        _bars(load, "page", "fig4-page", "The page alone and beside a long transfer", "time of the page (s)"),
        _start(curves),
        _downloads(load),
        _price(load),
    ]


def _over_time(curves: Curves, variant: str, name: str) -> Picture:
    panels = []
    for q, length in LENGTHS.items():
        drawn = []
        for (t, values), label, look in (
            (curves.window(q, variant), "cwnd (segments)", variant),
            (curves.waiting(q, variant), "waiting at the bottleneck (packets)", "droptail"),
        ):
            shown = (t >= BEGIN) & (t <= BEGIN + length)
            drawn.append(Curve(label, look, t[shown], values[shown], kind="steps"))
        panels.append(Panel(QUEUES[q], "time (s)", "packets", drawn))
    heights = {q: float(np.nanmedian(curves.each(q, variant, "height"))) for q in ("large", "small", "codel")}
    listed = ", ".join(f"{h:.0f} segments ({QUEUES[q]})" for q, h in heights.items())
    reading = (
        f"{LABELS[variant]}'s window and the queue move together: all packets in flight but two wait in the queue. A "
        f"tooth rises by {listed}."
    )
    return Picture(
        name, f"{LABELS[variant]}: congestion window and queue over time", reading, panels, columns=1, markers=False
    )


def _bars(load: Load, what: str, name: str, title: str, label: str) -> Picture:
    values = load.ping if what == "ping" else load.page
    panels = []
    for v in VARIANTS:
        alone = [values(q, v, loaded=False) for q in QUEUES]
        beside = [values(q, v) for q in QUEUES]
        x = np.arange(len(QUEUES), dtype=np.float64)
        curves = [
            curve_of("alone", "newreno", x, summarize_all(alone), dots=np.array(alone), kind="bars"),
            curve_of("beside a long transfer", "sack", x, summarize_all(beside), dots=np.array(beside), kind="bars"),
        ]
        panels.append(Panel(LABELS[v], "", label, curves, categories=list(QUEUES.values())))
    middle = {q: float(np.median(values(q, "reno"))) for q in QUEUES}
    unit = "ms" if what == "ping" else "s"
    reading = (
        f"Beside a Reno transfer: {', '.join(f'{x:.3g} {unit} ({QUEUES[q]})' for q, x in middle.items())}; alone "
        f"{np.median(values('large', 'reno', loaded=False)):.3g} {unit}."
    )
    return Picture(name, title, reading, panels, columns=2, share_y=True)


def _start(curves: Curves) -> Picture:
    panels = []
    for v in VARIANTS:
        drawn = []
        for q in ("large", "small", "codel"):
            t, w = curves.window(q, v)
            shown = t <= 20.0
            drawn.append(Curve(QUEUES[q], LOOKS[q], t[shown], w[shown], kind="steps"))
        panels.append(Panel(LABELS[v], "time (s)", "cwnd (segments)", drawn))
    t, w = curves.window("large", "reno")
    reading = (
        f"The first 20 s: with 100 packets slow start drives Reno's window to {w[t <= 20.0].max():.0f} segments, "
        "where the path holds two."
    )
    return Picture(
        "extra1-start", "The start of the long transfer", reading, panels, columns=2, markers=False, share_y=True
    )


def _downloads(load: Load) -> Picture:
    panels = []
    for v in VARIANTS:
        drawn = []
        for q in QUEUES:
            times = np.sort(load.pages(q, v))
            share = np.arange(1, times.size + 1) / times.size
            drawn.append(Curve(QUEUES[q], LOOKS[q], times, share, kind="steps"))
        panels.append(Panel(LABELS[v], "time of the page (s)", "share of downloads", drawn, x_log=True, y_top=1.0))
    worst = {q: float(load.pages(q, "cubic").max()) for q in QUEUES}
    reading = (
        f"Single downloads: beside CUBIC the slowest of {load.pages('large', 'cubic').size} takes "
        f"{worst['large']:.1f} s with 100 packets, {worst['codel']:.1f} s under CoDel and {worst['fq_codel']:.1f} "
        "s under FQ-CoDel. One wget is weak evidence."
    )
    return Picture(
        "extra2-downloads",
        "Every download beside the long transfer",
        reading,
        panels,
        columns=2,
        markers=False,
        share_y=True,
    )


def _price(load: Load) -> Picture:
    curves = []
    for v in VARIANTS:
        samples = [load.goodput(q, v) for q in QUEUES]
        x = np.arange(len(QUEUES), dtype=np.float64)
        curves.append(curve_of(LABELS[v], v, x, summarize_all(samples), dots=np.array(samples), kind="bars"))
    panel = Panel(
        "over the whole transfer, pages included", "", "goodput (Mbit/s)", curves, categories=list(QUEUES.values())
    )
    lost = {
        q: 1 - summarize(load.goodput(q, "reno")).value / summarize(load.goodput("large", "reno")).value
        for q in QUEUES
    }
    reading = (
        f"Cost of short queues for the long Reno transfer: {100 * lost['codel']:.1f} % of its goodput under "
        f"CoDel, {100 * lost['small']:.1f} % with 20 packets."
    )
    return Picture("extra3-price", "Goodput of the long transfer", reading, [panel])
