"""The report's figures, and further ones that explain them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.plots import Curve, Panel, Picture, sampled
from dumbbell.studies.netem_iperf.captured import Captured, inflight_pictures
from dumbbell.studies.netem_iperf.data import DELAYS, LOSSES, VARIANTS, Grid, cubic, mathis
from dumbbell.studies.shared import LABELS

__all__ = ["pictures"]

THROUGHPUT = "throughput (Mbit/s)"
FINE = np.geomspace(DELAYS[0], DELAYS[-1], 30)
FINE_LOSS = np.geomspace(LOSSES[0], LOSSES[-1], 30)


def pictures(grid: Grid, long: Grid, offload: Grid, captured: Captured) -> list[Picture]:
    """Draw all of it."""
    return [
        _over_delay(grid, "fig01-03-throughput-over-delay", "Figures 1 to 3: throughput of 20 MB over delay"),
        _over_loss(grid, "fig04-06-throughput-over-loss", "Figures 4 to 6: throughput of 20 MB over loss"),
        *inflight_pictures(captured),
        _over_loss(long, "extra1-long", "Throughput of long transfers over loss"),
        _trap(grid, offload),
        _boxes(grid),
    ]


def _curves(grid: Grid, cells: Sequence[tuple[float, float]], x: Sequence[float]) -> list[Curve]:
    return [sampled(LABELS[v], v, [grid.get(v, d, p) for d, p in cells], x) for v in VARIANTS]


def _over_delay(grid: Grid, name: str, title: str) -> Picture:
    panels = []
    for figure, p in enumerate(LOSSES, start=1):
        line = Curve("Mathis et al. (Reno)", "total", FINE, mathis(FINE, p))
        curves = [*_curves(grid, [(d, p) for d in DELAYS], DELAYS), line]
        words = f"Figure {figure}: loss {p:g} %"
        panels.append(Panel(words, "delay, one way (ms)", THROUGHPUT, curves, x_log=True, y_log=True))
    near, far = (grid.median("reno", d, 0.5) for d in (DELAYS[0], DELAYS[-1]))
    reading = (
        f"At 0.5 % loss Reno gets {near:.1f} Mbit/s at 10 ms and {far:.2f} at 100 ms, {near / far:.1f} times less "
        f"over ten times the delay; Mathis' formula gives {float(mathis(10, 0.5)):.1f} and "
        f"{float(mathis(100, 0.5)):.2f}."
    )
    return Picture(name, title, reading, panels, columns=3, share_y=True)


def _over_loss(grid: Grid, name: str, title: str) -> Picture:
    report = name.startswith("fig04")
    panels = []
    for figure, d in enumerate(DELAYS, start=4):
        curves = [
            *_curves(grid, [(d, p) for p in LOSSES], LOSSES),
            Curve("Mathis et al. (Reno)", "total", FINE_LOSS, mathis(d, FINE_LOSS)),
            Curve("RFC 9438 §5.1 (CUBIC)", "cbr", FINE_LOSS, cubic(d, FINE_LOSS)),
        ]
        words = f"Figure {figure}: delay {d:g} ms" if report else f"delay {d:g} ms"
        panels.append(Panel(words, "loss (%)", THROUGHPUT, curves, x_log=True, y_log=True))
    off = [grid.median("reno", d, p) / float(mathis(d, p)) for d in DELAYS for p in LOSSES]
    cells = [(d, p) for d in DELAYS for p in LOSSES]
    above = [float(cubic(d, p) / mathis(d, p)) for d, p in cells]
    faster = [grid.median("cubic", d, p) / grid.median("reno", d, p) for d, p in cells]
    near = f"{min(off):.2f} to {max(off):.2f} of Mathis' formula"
    if report:
        reading = f"Reno lies at {near}, which has neither slow start nor timeouts."
    else:
        reading = (
            f"Without its start Reno lies at {near}. CUBIC's formula lies above Reno's in "
            f"{sum(c > 1 for c in above)} of {len(above)} cells, CUBIC's median above Reno's in "
            f"{sum(c > 1 for c in faster)}."
        )
    return Picture(name, title, reading, panels, columns=3, share_y=True)


def _boxes(grid: Grid) -> Picture:
    names = [f"{d:g} ms" for d in DELAYS]
    panels = []
    for p in LOSSES:
        curves = [sampled(LABELS[v], v, [grid.get(v, d, p) for d in DELAYS], kind="box") for v in VARIANTS]
        panels.append(Panel(f"loss {p:g} %", "delay, one way", THROUGHPUT, curves, categories=names, y_log=True))
    spread = summarize(grid.get("reno", 10.0, 0.1))
    reading = (
        f"One run is weak evidence: at 10 ms and 0.1 % Reno's {spread.n} runs lie between {spread.min:.0f} and "
        f"{spread.max:.0f} Mbit/s, depending on when the first packet is lost."
    )
    return Picture("extra3-single-runs", "Each run of 20 MB", reading, panels, columns=3)


def _trap(grid: Grid, offload: Grid) -> Picture:
    panels = []
    for d in DELAYS:
        curves = [
            sampled(f"{LABELS[v]}, {label}", v + suffix, [source.get(v, d, p) for p in LOSSES], LOSSES, dots=False)
            for label, source, suffix in (("segments of 1448 bytes", grid, ""), ("segments of 64 KiB", offload, ":2"))
            for v in VARIANTS
        ]
        panels.append(Panel(f"delay {d:g} ms", "loss (%)", THROUGHPUT, curves, x_log=True, y_log=True))
    small, large = (g.median("reno", 100.0, 1.0) for g in (grid, offload))
    lost = offload.median("reno", 100.0, 1.0, "dropped_packets")
    reading = (
        f"At 100 ms and 1 % Reno gets {large:.0f} instead of {small:.2f} Mbit/s: a transfer is then 306 packets, "
        f"of which {lost:.0f} are lost in the median run, and one window's growth is 64 KiB."
    )
    return Picture(
        "extra2-loopback-trap", "The loopback device: segments of 64 KiB", reading, panels, columns=3, share_y=True
    )
