"""The quantities that the report's claims compare: values by repetition for a metric and a setting.

Report: Brian Mackwan, "Lab 8: Comparing TCP Variants using iperf and Wireshark". Rules: `paper.toml`.
"""

from __future__ import annotations

import numpy as np

from dumbbell.metrics import rtt_slope
from dumbbell.studies.declared import Setting
from dumbbell.studies.judge import Quantities
from dumbbell.studies.netem_iperf.data import DELAYS, Grid
from dumbbell.studies.netem_iperf.inflight import Inflight
from dumbbell.studies.rule_words import Words
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["WORDS", "quantities"]

MORE = {"sent again": ("sent_bytes", "delivered_bytes"), "later": ("ack_delay_first_mean_ms", "ack_delay_mean_ms")}
"""Metric -> the columns of the results of which the first one is larger in the transfers that count."""

WORDS = Words(
    metrics={
        "grid throughput": ("throughput of 20 MB", "Mbit/s"),
        "grid rtt": ("mean RTT", "ms"),
        "grid power of the rtt": ("power of the RTT to which throughput is proportional", ""),
        "grid sent again": ("share of transfers with a loss that send more than arrives", "%"),
        "grid later": (
            "share of transfers with a loss whose mean time from the first transmission of a segment to its ACK is "
            "longer than that of the segments that were sent once",
            "%",
        ),
        "offload throughput": ("throughput of 20 MB in segments of 64 KiB", "Mbit/s"),
        "grid formula": ("throughput as a part of mean window / mean RTT", ""),
        "inflight kept": ("part of the window that a loss leaves", "%"),
        "inflight taken": ("part of the window that a loss takes", "%"),
        "inflight taken again": ("part of the window that a loss takes before the window has recovered", "%"),
        "inflight answered": ("share of loss events that a reduction of the window follows", "%"),
        "inflight growth": ("growth of the window between two losses", "packets/s"),
        "inflight reductions": ("number of reductions of the window in a minute", ""),
        "inflight overshoot": ("largest window after slow start as a multiple of the mean data in flight", ""),
        "inflight variation": ("standard deviation of the rate over seconds as a part of its mean", ""),
    },
    keys={"delay": "{} ms", "loss": "{} %"},
    values=LABELS,
)
"""The words for the metrics and settings of the rules."""

COLUMNS = {"throughput": "goodput_bps", "rtt": "rtt_mean_ms", "window": "cwnd_mean_packets"}


def quantities(grid: Grid, offload: Grid, inflight: Inflight) -> Quantities:
    """Return the quantities of all experiments."""

    def get(metric: str, at: Setting) -> Floats:
        experiment, _, name = metric.partition(" ")
        variant = str(at["variant"])
        if experiment == "inflight":
            cell = str(at.get("cell", "")) or f"{float(at['delay']):g} ms, {float(at['loss']):g} %"
            return inflight.get(name.replace(" ", "_"), cell, variant)
        return _of_grid(grid if experiment == "grid" else offload, name, variant, at)

    return Quantities(get, WORDS)


def _of_grid(grid: Grid, name: str, variant: str, at: Setting) -> Floats:
    loss = float(at["loss"])
    if name == "power of the rtt":
        rows = np.array([grid.get(variant, d, loss) for d in DELAYS])
        return np.array([rtt_slope(DELAYS, rows[:, k]) for k in range(rows.shape[1])])
    delay = float(at["delay"])
    if name in MORE:
        more, less = (grid.get(variant, delay, loss, column) for column in MORE[name])
        lost = grid.get(variant, delay, loss, "dropped_packets") > 0
        return np.where(lost, np.where(more > less, 100.0, 0.0), np.nan)
    if name == "formula":
        rate, rtt, window = (grid.get(variant, delay, loss, COLUMNS[c]) for c in ("throughput", "rtt", "window"))
        return np.asarray(1e3 * rate * rtt / (8 * grid.mss * window))
    return grid.get(variant, delay, loss, COLUMNS[name])
