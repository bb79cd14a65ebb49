"""Measurements of the three experiments, as arrays."""

from __future__ import annotations

import numpy as np

from dumbbell.results import Results, Run
from dumbbell.studies.shared import Floats, column, seconds

__all__ = ["STREAMS", "TRANSPORTS", "Pages", "Shares", "Streams", "label", "waited"]

TRANSPORTS = {"tls": "TCP + TLS 1.3", "early": "TCP + TLS 1.3, early data", "quic": "QUIC", "zero": "QUIC, 0-RTT"}
"""The flows of the experiment `pages`."""
LIMITS = ("25 packets", "50 packets", "100 packets", "200 packets")
STREAMS = (0, 1, 4, 16)
"""Streams of the downloads; 0: TCP."""


def _number(text: object) -> float:
    return float(str(text).split()[0])


class Pages:
    """Load times of pages."""

    def __init__(self, results: Results) -> None:
        self._took: dict[tuple[float, float], list[dict[str, float]]] = {}
        self.unfinished = 0
        for run in results.runs:
            place = (2 * _number(run.cell["network.bottleneck.delay"]), _number(run.cell["network.bottleneck.loss"]))
            means = {}
            for flow in TRANSPORTS:
                took = [t["took_s"] for t in run.transfers if t["flow"] == flow]
                self.unfinished += sum(t is None for t in took)
                means[flow] = 1000 * float(np.mean([t for t in took if t is not None]))
            self._took.setdefault(place, []).append(means)
        self.rtts = sorted({rtt for rtt, _ in self._took})
        self.losses = sorted({loss for _, loss in self._took})

    def took(self, rtt: float, loss: float, flow: str) -> Floats:
        """Return the mean load time of each run, ms, by repetition."""
        return np.array([means[flow] for means in self._took[rtt, loss]])

    def saved(self, rtt: float, loss: float, flow: str, beside: str = "tls") -> Floats:
        """Return the time by which a flow's pages load sooner than those of another one, in round trips."""
        return (self.took(rtt, loss, beside) - self.took(rtt, loss, flow)) / rtt


class Shares:
    """Two flows at one bottleneck."""

    def __init__(self, results: Results) -> None:
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in results.runs:
            limit = str(run.cell["network.bottleneck.queue.limit"])
            self._runs.setdefault((run.cell["flows.tcp.variant"], limit), []).append(run)
        self.variants = ("reno", "cubic", "bbr")
        self.limits = tuple(limit for limit in LIMITS if ("reno", limit) in self._runs)

    def _rows(self, variant: str, limit: str, metric: str) -> Floats:
        return np.array([[f[metric] for f in run.flows] for run in self._runs[variant, limit]], dtype=np.float64)

    def throughput(self, variant: str, limit: str) -> Floats:
        """Return the throughput of TCP and of QUIC, Mbit/s; (n, 2)."""
        return self._rows(variant, limit, "throughput_bps") * 1e-6

    def rtt(self, variant: str, limit: str) -> Floats:
        """Return the mean round-trip time of TCP and of QUIC, ms; (n, 2)."""
        return self._rows(variant, limit, "rtt_mean_ms")


def waited(t: Floats, arrived: Floats, readable: Floats) -> float:
    """Return the mean time of a byte from its arrival until the application can read it, in the unit of t.

    Parameters
    ----------
    t, arrived, readable : (n,) float64
        Times, and the bytes that have arrived, and that the application can read, from each time on.
    """
    behind = np.sum((arrived - readable)[:-1] * np.diff(t))
    return float(behind / arrived[-1]) if arrived[-1] else float("nan")


class Streams:
    """Downloads over a lossy path."""

    def __init__(self, results: Results) -> None:
        self._wait: dict[int, list[float]] = {}
        self._goodput: dict[int, list[float]] = {}
        for run in results.runs:
            stack = run.cell.get("flows.download.stack")
            streams = int(stack["streams"]) if isinstance(stack, dict) else 0
            table = results.arrays(run, "flow/download")
            wait = waited(seconds(table), column(table, "delivered"), column(table, "delivered_in_order"))
            self._wait.setdefault(streams, []).append(1000 * wait)
            self._goodput.setdefault(streams, []).append(run.flows[0]["goodput_bps"] * 1e-6)

    def wait(self, streams: int) -> Floats:
        """Return the mean wait of a byte, ms, by repetition; 0 streams: TCP."""
        return np.array(self._wait[streams])

    def goodput(self, streams: int) -> Floats:
        """Return the goodput, Mbit/s, by repetition."""
        return np.array(self._goodput[streams])


def label(streams: int) -> str:
    """Name a download."""
    if streams == 0:
        return "TCP"
    return f"QUIC, {streams} stream{'s' if streams > 1 else ''}"
