"""The figures of the study: sawtooth, CUBIC's curve, ping times, shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.metrics import jain, shares
from dumbbell.plots.spec import Curve, Mark, Panel, Picture, Span, sampled
from dumbbell.studies.quickstart.claims_one import crossing
from dumbbell.studies.quickstart.data import PAIRS, QUEUES, Bloat, Pair, Series, stages
from dumbbell.studies.shared import LABELS

__all__ = ["pictures"]

TIME = "time (s)"
LOOKS = {"droptail-20": "droptail", "droptail-200": "constant", "codel-200": "codel", "fq_codel-200": "pie"}
"""Colors of the queues: four that differ, where CoDel and FQ-CoDel would share one."""


def pictures(sawtooth: Series, cubic: Series, bloat: Bloat, pair: Pair) -> list[Picture]:
    """Draw everything."""
    return [_sawtooth(sawtooth), _cubic(cubic), _ping(bloat), _trade(bloat), _over_time(pair), _shares(pair)]


def _spans(series: Series) -> list[Span]:
    """Shade slow start and recovery; the rest is congestion avoidance."""
    phase = np.array(series.phase)
    starts = np.flatnonzero(np.concatenate(([True], phase[1:] != phase[:-1])))
    ends = np.concatenate((series.t[starts[1:]], series.t[-1:]))
    return [
        Span(float(series.t[a]), float(b), str(phase[a]), str(phase[a]))
        for a, b in zip(starts, ends, strict=True)
        if phase[a] in {"slow start", "recovery"}
    ]


def _window(series: Series, variant: str, extra: Sequence[Curve] = ()) -> Panel:
    shown = np.where(series.ssthresh > 2 * series.cwnd.max(), np.nan, series.ssthresh)
    curves = [
        Curve("ssthresh", "cbr", series.t, shown, kind="steps"),
        *extra,
        Curve("cwnd", variant, series.t, series.cwnd, kind="steps"),
    ]
    return Panel(f"{LABELS[variant]}'s window", TIME, "segments", curves, spans=_spans(series))


def _queue(series: Series) -> Panel:
    return Panel(
        "the bottleneck's queue: mean, and from the smallest to the largest", TIME, "packets", [series.waiting]
    )


def _sawtooth(series: Series) -> Picture:
    whole = stages(series)
    period = float(np.median(np.diff([s.t[0] for s in whole])))
    top, low = (float(np.median([s.cwnd[k] for s in whole])) for k in (-1, 0))
    return Picture(
        "sawtooth",
        "Reno: the sawtooth, and the queue that it fills and empties",
        f"The window climbs from {low:.0f} to {top:.0f} segments in {period:.1f} s, a segment per round trip, and "
        "is halved when the queue overflows; the queue follows it, and just becomes empty. The spikes are fast "
        "recovery: each duplicate ACK inflates the window by a segment until the hole is filled.",
        [_window(series, "reno"), _queue(series)],
        markers=False,
    )


def _cubic(series: Series) -> Picture:
    plateau = Curve("W_max", "constant", series.t, series.w_max, kind="steps")
    found = [crossing(s) for s in stages(series) if s.cwnd[-1] >= s.w_max]
    took, k = np.median(np.array(found), axis=0) if found else (np.nan, np.nan)
    return Picture(
        "cubic",
        "CUBIC: concave, a plateau at W_max, convex",
        f"After each loss the window rises fast, flattens at W_max, reached after {took:.1f} s in the median (K: "
        f"{k:.1f} s), and rises again until the next loss.",
        [_window(series, "cubic", [plateau]), _queue(series)],
        markers=False,
    )


def _ping(data: Bloat) -> Picture:
    curves = [Curve(words, LOOKS[q], *data.series(q), kind="line") for q, words in QUEUES.items()]
    middle = {q: float(np.median(data.ping(q))) for q in QUEUES}
    panel = Panel(
        "first repetition", TIME, "round trip of a ping (ms)", curves,
        marks=[Mark(data.START, "download starts", "top")], y_log=True,
    )  # fmt: skip
    return Picture(
        "ping",
        "A ping before and during a download, over four queues at 5 Mbit/s",
        f"Idle {np.median(data.idle()):.0f} ms; during the download the median is "
        + ", ".join(f"{middle[q]:.0f} ms with {words}" for q, words in QUEUES.items()) + ".",
        [panel],
        markers=False,
    )  # fmt: skip


def _trade(data: Bloat) -> Picture:
    panels = []
    for title, label, values in (
        ("ping during the download", "round trip, median (ms)", [data.ping(q) for q in QUEUES]),
        ("the download", "goodput (Mbit/s)", [data.goodput(q) for q in QUEUES]),
    ):
        curve = sampled("median of runs", "droptail", values, kind="bars")
        panels.append(Panel(title, "queue", label, [curve], categories=list(QUEUES.values())))
    low, high = (float(np.median(data.goodput(q))) for q in ("fq_codel-200", "droptail-200"))
    return Picture(
        "trade",
        "Delay and goodput of each queue",
        f"The download gets {high:.2f} Mbit/s through the long queue and {low:.2f} through FQ-CoDel: the delay buys "
        f"{100 * (high / low - 1):.1f} %.",
        panels,
        columns=2,
    )


def _title(pair: tuple[str, str]) -> str:
    return " and ".join(LABELS[v] for v in pair)


def _over_time(data: Pair) -> Picture:
    middle = (data.edges[:-1] + data.edges[1:]) / 2
    panels = []
    for pair in PAIRS:
        looks = (pair[0], pair[1] if pair[1] != pair[0] else f"{pair[1]}:2")
        curves = [
            Curve(f"{LABELS[v]}{'' if pair[0] != pair[1] else (', first', ', second')[n]}", look, middle, rate)
            for n, (v, look, rate) in enumerate(zip(pair, looks, data.over_time(pair), strict=True))
        ]
        panels.append(Panel(_title(pair), TIME, "goodput per 2 s (Mbit/s)", curves))
    index = {p: float(np.median(jain(data.goodput(p)))) for p in PAIRS}
    return Picture(
        "pair-over-time",
        "Two flows over time, the second from 5 s on; first repetition",
        "Jain's index from 20 s on, median over runs: "
        + ", ".join(f"{_title(p)} {index[p]:.2f}" for p in PAIRS)
        + ".",
        panels,
        columns=2,
        markers=False,
        share_y=True,
    )  # fmt: skip


def _shares(data: Pair) -> Picture:
    rows = np.array([shares(data.goodput(p))[:, 0] for p in PAIRS])
    curve = sampled("share of the first", "droptail", rows, kind="points")
    panel = Panel(
        f"{data.n} repetitions, 95 % interval of the median", "", "share of the first flow",
        [curve], categories=[_title(p) for p in PAIRS], y_top=1.0,
    )  # fmt: skip
    middle = [float(np.median(r)) for r in rows]
    return Picture(
        "pair-shares",
        "How two flows share: the first one's part",
        ", ".join(f"{_title(p)}: {100 * m:.0f} %" for p, m in zip(PAIRS, middle, strict=True)) + " for the first.",
        [panel],
    )
