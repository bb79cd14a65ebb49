"""The figures of the study: load times, shares, waits."""

from __future__ import annotations

import numpy as np

from dumbbell.plots.spec import Panel, Picture, sampled
from dumbbell.studies.quic_beside_tcp.data import STREAMS, TRANSPORTS, Pages, Shares, Streams, label
from dumbbell.studies.shared import LABELS

__all__ = ["pictures"]

LOOKS = {"tls": "reno", "early": "vegas", "quic": "cubic", "zero": "bbr"}
"""Colors of the transports: four that differ."""


def pictures(pages: Pages, shares: Shares, streams: Streams) -> list[Picture]:
    """Draw everything."""
    return [_pages(pages), _shares(shares), _waits(streams)]


def _pages(data: Pages) -> Picture:
    panels = []
    for loss in data.losses:
        curves = [
            sampled(words, LOOKS[flow], [data.took(rtt, loss, flow) / rtt for rtt in data.rtts], data.rtts)
            for flow, words in TRANSPORTS.items()
        ]
        title = "no loss" if loss == 0 else f"{loss:g} % loss"
        panels.append(
            Panel(title, "round-trip time (ms)", "load time (round trips)", curves, x_log=True, x_ticks=data.rtts)
        )
    first = data.rtts[-1]
    listed = ", ".join(f"{np.mean(data.took(first, 0.0, f)) / first:.1f} with {w}" for f, w in TRANSPORTS.items())
    return Picture(
        "pages",
        "A page of 60 kB over four transports, 20 Mbit/s",
        f"Round trips until the last byte, at {first:g} ms without loss: {listed}. At short round trips the "
        "transmission time of 60 kB, 25 ms, is a larger part.",
        panels,
        columns=2,
        share_y=True,
    )


def _shares(data: Shares) -> Picture:
    panels = []
    for variant in data.variants:
        both = [data.throughput(variant, limit) for limit in data.limits]
        rows = np.array([b[:, 1] / b.sum(axis=1) for b in both])
        curve = sampled("share of QUIC", variant, rows, kind="points")
        words = [limit.split()[0] for limit in data.limits]
        panels.append(Panel(LABELS[variant], "queue (packets)", "share of QUIC", [curve], categories=words, y_top=1.0))
    return Picture(
        "shares",
        "TCP and QUIC with the same congestion control at one bottleneck, 20 Mbit/s and 40 ms",
        "An even share is 0.5. Mean over runs: "
        + "; ".join(
            f"{LABELS[v]} "
            + ", ".join(
                f"{np.mean(data.throughput(v, x)[:, 1] / data.throughput(v, x).sum(axis=1)):.2f}" for x in data.limits
            )
            for v in data.variants
        )
        + ".",
        panels,
        columns=3,
        share_y=True,
    )


def _waits(data: Streams) -> Picture:
    rows = np.array([data.wait(n) for n in STREAMS])
    curve = sampled("wait", "cubic", rows, kind="bars")
    goodput = np.array([data.goodput(n) for n in STREAMS])
    rate = sampled("goodput", "reno", goodput, kind="bars")
    words = [label(n) for n in STREAMS]
    listed = ", ".join(f"{np.mean(r):.1f} ms with {w}" for r, w in zip(rows, words, strict=True))
    return Picture(
        "waits",
        "How long data wait behind a lost packet: 10 Mbit/s, 40 ms, 1 % loss",
        f"From a byte's arrival until the application can read it, mean over all bytes: {listed}.",
        [
            Panel("head-of-line blocking", "", "mean wait of a byte (ms)", [curve], categories=words),
            Panel("goodput", "", "goodput (Mbit/s)", [rate], categories=words),
        ],
        columns=2,
    )
