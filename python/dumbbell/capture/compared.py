"""Captures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dumbbell.capture.capture import Capture
from dumbbell.capture.output import SPIKE, error_rates
from dumbbell.metrics import spikes

__all__ = ["medians", "short_names"]


def medians(captures: Sequence[Capture]) -> pl.DataFrame:
    """Put captures side by side: one row for each figure, one column for each file, and their median."""
    figures: dict[str, list[float]] = {}
    for capture in captures:
        flows = capture.flows
        data = flows.filter(pl.col("payload_bytes") > 0)
        seconds = capture.seconds
        rtt = data["rtt_p50_ms"].drop_nulls()
        peaks = spikes(error_rates(capture), SPIKE)
        values = {
            "packets": float(sum(p["packets"] for p in capture.properties)),
            "bytes": float(sum(p["bytes"] for p in capture.properties)),
            "elapsed s": seconds,
            "throughput kB/s": float(data["bytes"].sum()) / seconds / 1000 if seconds else float("nan"),
            "goodput Mbit/s": float(data["new_bytes"].sum()) * 8e-6 / seconds if seconds else float("nan"),
            "retransmitted bytes": float(flows["retransmitted_bytes"].sum()),
            "retransmitted packets": float(flows["retransmitted_packets"].sum()),
            "timeouts": float(flows["timeouts"].sum()),
            "duplicate ACKs": float(flows["duplicate_ack"].sum()),
            "out of order": float(flows["out_of_order"].sum()),
            "RTT p50 ms": float(rtt.median() or "nan"),  # type: ignore[arg-type]
            "mean packet length": float(np.mean([p["mean_length"] or 0 for p in capture.properties])),
            f"spikes > {SPIKE:g}/s": float(peaks.count),
            "largest spike /s": peaks.maximum,
        }
        for name, value in values.items():
            figures.setdefault(name, []).append(value)
    unique = short_names(captures)
    rows = []
    for figure, column in figures.items():
        row: dict[str, Any] = {"figure": figure, **dict(zip(unique, column, strict=True))}
        rows.append(row | {"median": float(np.nanmedian(column)) if not np.isnan(column).all() else None})
    return pl.DataFrame(rows).fill_nan(None)


def short_names(captures: Sequence[Capture]) -> list[str]:
    """Name each capture by its file, with a number before it where files of several folders have the same name."""
    names = [Path(c.files[0]).name for c in captures]
    return [n if names.count(n) == 1 else f"{k + 1}-{n}" for k, n in enumerate(names)]
