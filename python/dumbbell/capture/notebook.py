"""A capture in a Jupyter notebook: the largest connections and one figure."""

from __future__ import annotations

import polars as pl

from dumbbell.capture.capture import Capture
from dumbbell.capture.figures import pictures, talkers
from dumbbell.plots.notebook import page_of

__all__ = ["page"]


def page(capture: Capture) -> str:
    """Return HTML with a table and a figure."""
    drawn = {picture.name: picture for picture in pictures(capture)}
    table = talkers(capture).select(
        "flow",
        sender=pl.format("{}:{}", "src", "src_port"),
        receiver=pl.format("{}:{}", "dst", "dst_port"),
        payload_bytes="payload_bytes",
        retransmission="retransmission",
    )
    return page_of(repr(capture), [table], lambda: drawn.get("throughput") or next(iter(drawn.values())))
