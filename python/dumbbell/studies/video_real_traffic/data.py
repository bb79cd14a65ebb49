"""Content of the captures, by setting, variant and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from dumbbell.capture import Capture, analyze
from dumbbell.results import Results, Run
from dumbbell.studies.shared import Floats

__all__ = [
    "CLIENT",
    "DATA",
    "ETHERNET",
    "LABELED",
    "MERGED",
    "METRICS",
    "SERVER",
    "THRESHOLD",
    "VARIANTS",
    "WIRE",
    "Captured",
    "Key",
    "fast_keys",
    "lossy_keys",
    "per_second",
    "read",
    "shaped_keys",
]

Key = tuple[str, ...]

VARIANTS = ("cubic", "veno", "vegas")
SERVER, CLIENT = "server", "client"
"""The host where the variant is set."""
METRICS = {
    "throughput": "throughput (kB/s)",
    "retransmitted": "retransmitted (kB)",
    "duplicate ACKs": "duplicate ACKs",
    "out of order": "packets out of order",
    "spikes": "seconds with 50 packets or more",
    "largest spike": "most packets in a second",
    "packets": "packets",
    "packet size": "mean length of a packet (bytes)",
    "medium packets": "packets of 1280 to 2559 bytes (%)",
    "errors": "most error packets in a second",
}
"""Quantities read from each capture, with their axes."""
LABELED = {
    "duplicate ACK": ("duplicate_ack",),
    "retransmission": ("retransmission",),
    "out of order, or a segment missing": ("out_of_order", "lost_segment", "ack_lost_segment"),
}
"""Wireshark's labels of errors, as they are drawn; fast and spurious retransmissions are retransmissions too."""
RETRANSMISSIONS = ("retransmission", "fast_retransmission", "spurious_retransmission")
THRESHOLD = 50.0
"""Packets per second from which a second is a spike, the report's."""
MEDIUM = 1280
"""Shortest length of the row of Wireshark's table in which most of the report's packets over QUIC are, bytes."""
ETHERNET = 14
"""Bytes of an Ethernet header. The report's frames have it, those of the simulator don't: it is added to each."""
DRAWN = 3
"""Captures of a setting that are kept for figures: as many as the report draws of one."""
WIRE, MERGED = "1460 bytes", "8760 bytes"
"""Sizes of segments over the fast access: those on the wire, and those that the host merges them to (fitted)."""
DATA, REQUESTS = "flows.video.variant", "flows.requests.variant"


class Captured:
    """An experiment: the captures of its runs, analyzed.

    Parameters
    ----------
    results : Results
    keys : callable
        Given the cell of a run, returns the keys under which it is found; a cell may have several.
    """

    def __init__(self, results: Results, keys: Callable[[Mapping[str, Any]], list[Key]]) -> None:
        self.n = results.scenario.repetitions
        self.captures: dict[Key, list[Capture]] = {}
        self._values: dict[Key, list[dict[str, float]]] = {}
        for runs in results.by_cell():
            values = []
            kept: list[Capture] = []
            for run in runs:
                capture = _analyzed(results, run)
                values.append(read(capture))
                kept += [capture] if len(kept) < DRAWN else []
            for key in keys(runs[0].cell):
                self._values[key], self.captures[key] = values, kept

    def get(self, metric: str, *key: str) -> Floats:
        """Return a metric by repetition; (n,) float64, its unit as in `METRICS`. Empty if no such setting was run."""
        return np.array([row[metric] for row in self._values.get(key, [])])

    def same(self, *keys: Key) -> int:
        """Return the number of runs whose captures have the same metrics under all of some keys."""
        return sum(
            all(row == rows[0] for row in rows) for rows in zip(*(self._values.get(k, []) for k in keys), strict=False)
        )

    @property
    def settings(self) -> list[Key]:
        """The settings, in the order of the sweep."""
        return list(self._values)


def _analyzed(results: Results, run: Run) -> Capture:
    return analyze(list(results.captures(run).values()), rules="wireshark-4.0", interval_s=1.0)


def shaped_keys(cell: Mapping[str, Any]) -> list[Key]:
    """Name a cell of the shaped link by the host where the variant is set, and the variant."""
    video, requests = str(cell[DATA]), str(cell[REQUESTS])
    found: list[Key] = [(SERVER, video)] if video == requests else []
    return [*found, (CLIENT, requests)] if video == "cubic" else found


def fast_keys(cell: Mapping[str, Any]) -> list[Key]:
    """Name a cell of the fast access by the access, the size of segments and the variant."""
    access = {"44.03 Mbit/s": "Wi-Fi", "100 Mbit/s": "Ethernet"}[str(cell["network.bottleneck.rate"])]
    return [(access, str(cell["flows.video.stack.mss"]), str(cell[DATA]))]


def lossy_keys(cell: Mapping[str, Any]) -> list[Key]:
    """Name a cell by its loss and variant."""
    return [(str(cell["network.bottleneck.loss"]), str(cell[DATA]))]


def per_second(capture: Capture, labels: tuple[str, ...] = ()) -> tuple[Floats, Floats]:
    """Count packets in each second of a capture, all or those with one of some labels.

    Returns
    -------
    (n,) float64, s
        The middles of the seconds.
    (n,) float64, packets
        Zero in a second without any.
    """
    total = capture.total
    second = total["t_ns"].to_numpy() // 1_000_000_000
    counts = np.zeros(int(second.max()) + 1)
    if labels:
        series = capture.series
        at = series["t_ns"].to_numpy() // 1_000_000_000
        np.add.at(counts, at, series.select(pl.sum_horizontal(labels)).to_series().to_numpy())
    else:
        counts[second] = total["packets"].to_numpy()
    return np.arange(counts.size, dtype=np.float64) + 0.5, counts


def _medium(capture: Capture) -> float:
    """Return the share of packets in the row `MEDIUM` of the table of lengths, %."""
    row = capture.lengths.filter(pl.col("low") == MEDIUM).row(0, named=True)
    return float(row["percent"] or 0.0)


def read(capture: Capture) -> dict[str, float]:
    """Read the metrics from a capture, of all its connections, as Wireshark's properties and display filters do."""
    flows = capture.flows
    sent_again = capture.packets.filter(pl.any_horizontal(pl.col(name) for name in RETRANSMISSIONS))
    _, counts = per_second(capture)
    _, errors = per_second(capture, ("errors",))
    whole = capture.lengths.row(0, named=True)
    size = whole["average"] + ETHERNET
    return {
        "throughput": 1e-3 * whole["count"] * size / capture.seconds,
        "retransmitted": 1e-3 * sent_again.select((pl.col("frame_len") + ETHERNET).sum()).collect().item(),
        "duplicate ACKs": float(flows["duplicate_ack"].sum()),
        "out of order": float(flows["out_of_order"].sum()),
        "spikes": float((counts >= THRESHOLD).sum()),
        "largest spike": float(counts.max()),
        "variation": float(counts.std() / counts.mean()),
        "packets": float(whole["count"]),
        "packet size": float(size),
        "medium packets": _medium(capture),
        "errors": float(errors.max()),
    }
