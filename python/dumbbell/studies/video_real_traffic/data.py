"""Content of the captures, by the host where the variant was set, variant and run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.capture import Capture, analyze
from dumbbell.metrics import spikes
from dumbbell.results import Results

__all__ = ["CLIENT", "METRICS", "RETRANSMISSIONS", "SERVER", "VARIANTS", "Shaped"]

Floats = npt.NDArray[np.float64]

VARIANTS = ("cubic", "veno", "vegas")
SERVER, CLIENT = "server", "client"
"""The host where the variant is set."""
METRICS = {
    "throughput": "throughput (kB/s)",
    "retransmitted": "retransmitted (kB)",
    "duplicate ACKs": "duplicate ACKs",
    "out of order": "segments out of order",
    "spikes": "spikes above 50 packets/s",
    "largest spike": "most packets in a second",
}
"""Quantities read from each capture, with their axes."""
RETRANSMISSIONS = ("retransmission", "fast_retransmission", "spurious_retransmission")
"""Wireshark's labels of segments sent again."""
THRESHOLD = 50.0
"""Packets per second, the report's."""


class Shaped:
    """An experiment: the captures of its runs, analyzed."""

    def __init__(self, results: Results) -> None:
        self.captures: dict[tuple[str, str], list[Capture]] = {}
        for runs in results.by_cell():
            video, requests = (str(runs[0].cell[f"flows.{name}.variant"]) for name in ("video", "requests"))
            found = [
                analyze(list(results.captures(run).values()), rules="wireshark-4.0", interval_s=1.0) for run in runs
            ]
            if video == requests:
                self.captures[SERVER, video] = found
            if video == "cubic":
                self.captures[CLIENT, requests] = found
        self.n = results.scenario.repetitions
        self._values = {key: [_read(c) for c in found] for key, found in self.captures.items()}

    def get(self, metric: str, where: str, variant: str) -> Floats:
        """Return a metric by repetition; (n,) float64, its unit as in `METRICS`."""
        return np.array([row[metric] for row in self._values[where, variant]])

    def total(self, where: str, variant: str, repetition: int = 0) -> tuple[Floats, Floats]:
        """Return packets per second over time: s, packets/s."""
        return per_second(self.captures[where, variant][repetition])


def per_second(capture: Capture) -> tuple[Floats, Floats]:
    """Count packets in each second of a capture; seconds without any are zero."""
    total = capture.total
    second = total["t_ns"].to_numpy() // 1_000_000_000
    counts = np.zeros(int(second.max()) + 1)
    counts[second] = total["packets"].to_numpy()
    return np.arange(counts.size, dtype=np.float64) + 0.5, counts


def _read(capture: Capture) -> dict[str, float]:
    """Read the metrics from a capture: of the video's connection, the one with most bytes, in both directions."""
    flows = capture.flows
    number = flows.sort("bytes", descending=True)["flow"][0]
    rows = flows.filter(pl.col("flow") == number).sort("bytes", descending=True)
    data = rows.row(0, named=True)
    sent_again = capture.packets.filter(
        (pl.col("flow") == number)
        & (pl.col("direction") == data["direction"])
        & pl.any_horizontal(pl.col(name) for name in RETRANSMISSIONS)
    )
    _, counts = per_second(capture)
    found = spikes(counts, THRESHOLD)
    return {
        "throughput": data["bytes"] / 1e3 / ((data["end_ns"] - data["start_ns"]) * 1e-9),
        "retransmitted": sent_again.select(pl.col("len").sum()).collect().item() / 1e3,
        "duplicate ACKs": float(rows["duplicate_ack"].sum()),
        "out of order": float(rows["out_of_order"].sum()),
        "spikes": float(found.count),
        "largest spike": found.maximum,
    }
