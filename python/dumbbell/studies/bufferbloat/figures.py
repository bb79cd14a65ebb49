"""Windows and queues over time, ping and page before and beside the long transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dumbbell.plots import Curve, Panel, Picture, sampled
from dumbbell.studies import reference
from dumbbell.studies.bufferbloat.data import ANY, QUEUES, SETTLED, VARIANTS, Curves, Load
from dumbbell.studies.bufferbloat.quantities import CUBIC_BEND
from dumbbell.studies.shared import LABELS

__all__ = ["pictures"]

LOOKS = {"large": "droptail", "small": "red", "two": "drr", "codel": "codel", "fq_codel": "fq_codel:2"}
LENGTHS = {"large": 150.0, "small": 60.0, "codel": 20.0}
"""Length of the time that is shown from the start on, s: slow start and a few teeth."""
DRAWN = 20
"""Teeth of a run that are drawn over each other."""
WITH_PAGES = 180.0
"""The same while pages load, from some 40 s on, s."""


def pictures(load: Load, pages: Curves, curves: Curves, reported: Mapping[str, Any]) -> list[Picture]:
    """Draw all of it."""
    return [
        _over_time(curves, "reno", "item3-reno", "Item 3"),
        _over_time(curves, "cubic", "item4-cubic", "Item 4"),
        _teeth(curves),
        _bars(load, "ping", "item6-9-ping", reported),
        _bars(load, "page", "item6-9-page", reported),
        _over_time(pages, "reno", "experiments1-2-reno", "Experiments 1 and 2, while pages load", pages=True),
        _over_time(pages, "cubic", "experiments3-4-cubic", "Experiments 3 and 4, while pages load", pages=True),
        _start(curves),
        _downloads(load),
        _price(load),
        _since(load, reported),
    ]


def _over_time(curves: Curves, variant: str, name: str, title: str, *, pages: bool = False) -> Picture:
    panels = []
    shown_queues = {q: length for q, length in LENGTHS.items() if q in curves.queues}
    for q, length in shown_queues.items():
        end = WITH_PAGES if pages else length
        drawn = []
        for (t, values), label, look in (
            (curves.window(q, variant), "cwnd (segments)", variant),
            (curves.waiting(q, variant), "waiting at the bottleneck (packets)", "droptail"),
        ):
            shown = t <= end
            drawn.append(Curve(label, look, t[shown], values[shown], kind="steps"))
        panels.append(Panel(QUEUES[q], "time (s)", "packets", drawn))
    heights = {q: float(np.nanmedian(curves.each(q, variant, "height"))) for q in shown_queues}
    listed = ", ".join(f"{h:.0f} segments ({QUEUES[q]})" for q, h in heights.items())
    together = ", ".join(f"{_together(curves, q, variant):.2f} ({QUEUES[q]})" for q in shown_queues)
    reading = (
        f"Correlation of {LABELS[variant]}'s window and the waiting packets: {together}. A tooth rises by {listed}."
    )
    return Picture(name, f"{title}: window and queue, {LABELS[variant]}", reading, panels, columns=1, markers=False)


def _together(curves: Curves, queue: str, variant: str) -> float:
    """Return the correlation of window and waiting packets over the first run, from `SETTLED` on."""
    (t, window), (at, waiting) = curves.window(queue, variant), curves.waiting(queue, variant)
    times = np.arange(SETTLED, min(t[-1], at[-1]), 0.1)
    steps = [y[np.searchsorted(x, times, side="right") - 1] for x, y in ((t, window), (at, waiting))]
    return float(np.corrcoef(steps[0], steps[1])[0, 1])


def _teeth(curves: Curves) -> Picture:
    """Draw the teeth of the first run over each other: the part of the rise over the part of the time."""
    panels, shares = [], {}
    for v in VARIANTS:
        for q in (q for q in ("large", "small") if q in curves.queues):
            drawn = [
                Curve(
                    f"a tooth of {LABELS[v]}",
                    v,
                    (t - t[0]) / (t[-1] - t[0]),
                    100 * (w - w[0]) / (w[-1] - w[0]),
                    kind="steps",
                )
                for t, w in curves.rises(q, v)[:DRAWN]
            ]
            line = np.array([0.0, 1.0])
            drawn.append(Curve("straight", "total", line, 100 * line))
            shares[f"{LABELS[v]}, {QUEUES[q]}"] = 100 * float(np.nanmean(curves.straight(q, v, CUBIC_BEND)))
            panels.append(
                Panel(f"{LABELS[v]}, {QUEUES[q]}", "part of the time of the tooth", "part of its rise (%)", drawn)
            )
    listed = ", ".join(f"{words} {share:.0f} %" for words, share in shares.items())
    return Picture(
        "item4-teeth",
        "Items 4 and 5: the shape of the teeth in congestion avoidance",
        f"Straight teeth, mean over the runs: {listed}.",
        panels,
        columns=2,
        markers=False,
        share_y=True,
        note=f"The first {DRAWN} teeth of the first run, after the start. Straight: each outer third rises as the "
        f"middle third does, up to {CUBIC_BEND:g} of the whole.",
    )


BARS = {
    "ping": ("Items 6, 8 and 9: ping alone and beside a long transfer", "mean RTT of ten pings (ms)"),
    "page": ("Items 6, 8 and 9: the page alone and beside a long transfer", "time of the page (s)"),
}


def _reported(reported: Mapping[str, Any], what: str, variant: str) -> list[Curve]:
    """Return the report's measurements as points: the mean of its printed pings, or its download."""
    found = {
        float(k): reported[name]
        for k, q in enumerate(QUEUES)
        if (name := f"{variant}_{'two_queues' if q == 'two' else f'{q}_queue'}") in reported
    }
    curves = []
    for number, when in enumerate(("alone", "beside")):
        y = [float(np.mean(f["ping_ms"][number])) if what == "ping" else f["page_s"][number] for f in found.values()]
        words = f"{when}{', mean of three pings' if what == 'ping' else ''}"
        curves.append(reference.points(list(found), y, words, second=when == "alone"))
    return curves


def _bars(load: Load, what: str, name: str, reported: Mapping[str, Any]) -> Picture:
    title, label = BARS[what]
    values = load.ping if what == "ping" else load.page
    panels = []
    for v in VARIANTS:
        curves = [
            sampled("alone", "newreno", [values(q, v, ANY, loaded=False) for q in QUEUES], kind="bars"),
            sampled("beside a long transfer", "sack", [values(q, v, ANY) for q in QUEUES], kind="bars"),
            *_reported(reported, what, v),
        ]
        panels.append(Panel(LABELS[v], "", label, curves, categories=list(QUEUES.values())))
    middle = {q: float(np.median(values(q, "reno", ANY))) for q in QUEUES}
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
        "where the path holds two to three."
    )
    return Picture(
        "extra1-start", "The start of the long transfer", reading, panels, columns=2, markers=False, share_y=True
    )


def _downloads(load: Load) -> Picture:
    panels = []
    for v in VARIANTS:
        drawn = []
        for q in QUEUES:
            times = np.sort(load.page(q, v, ANY))
            share = np.arange(1, times.size + 1) / times.size
            drawn.append(Curve(QUEUES[q], LOOKS[q], times, share, kind="steps"))
        panels.append(Panel(LABELS[v], "time of the page (s)", "share of downloads", drawn, x_log=True, y_top=1.0))
    worst = {q: float(load.page(q, "cubic", ANY).max()) for q in QUEUES}
    reading = (
        f"Single downloads: beside CUBIC the slowest of {load.page('large', 'cubic', ANY).size} takes "
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
    curves = [
        sampled(LABELS[v], v, [load.goodput(q, v, load.since[-1]) for q in QUEUES], kind="bars") for v in VARIANTS
    ]
    panel = Panel(
        "over the whole transfer, pages included", "", "goodput (Mbit/s)", curves, categories=list(QUEUES.values())
    )
    lost = {
        q: 1
        - np.median(load.goodput(q, "reno", load.since[-1])) / np.median(load.goodput("large", "reno", load.since[-1]))
        for q in QUEUES
    }
    reading = (
        f"Cost of short queues for the long Reno transfer: {100 * lost['codel']:.1f} % of its goodput under "
        f"CoDel, {100 * lost['small']:.1f} % with 20 packets."
    )
    return Picture("extra3-price", "Goodput of the long transfer", reading, [panel])


def _since(load: Load, reported: Mapping[str, Any]) -> Picture:
    """Draw the page's time over the time since the start of the transfer, with the large queue."""
    panels = []
    for v in VARIANTS:
        curve = sampled(LABELS[v], v, [load.page("large", v, since) for since in load.since], kind="points")
        panel = Panel(LABELS[v], "from the start of the transfer to the page", "time of the page (s)", [curve],
                      categories=load.since)  # fmt: skip
        printed = float(reported[f"{v}_large_queue"]["page_s"][1])
        panels.append(replace(panel, curves=[curve, reference.level(panel, printed, "one download")]))
    middles = "; ".join(
        f"{since}: Reno {np.median(load.page('large', 'reno', since)):.1f} s, CUBIC "
        f"{np.median(load.page('large', 'cubic', since)):.1f} s"
        for since in load.since
    )
    return Picture(
        "extra4-since",
        "The page beside the transfer, by the time since the transfer's start",
        f"Medians with 100 packets: {middles}. The report doesn't state that time.",
        panels,
        columns=2,
        share_y=True,
    )
