"""Persistent queues of algorithms that react to delay or to marks, beside the equilibria of their papers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

import dumbbell
from dumbbell import Results, Scenario

STACK = {"preset": "rfc", "ack_every": 1}


@dataclass(frozen=True)
class Row:
    """One quantity of one algorithm in one setting.

    Attributes
    ----------
    quantity, setting, source : str
        The quantity, the path and its flows, and the paper or RFC.
    low, high, measured : float
        The expected range (or one number), and the measured value.
    slack : float
        How far beyond is allowed.
    why : str
        The reason for the slack.
    """

    quantity: str
    setting: str
    source: str
    low: float
    high: float
    measured: float
    slack: float
    why: str

    @property
    def holds(self) -> bool:
        """True if the measured value is within the expected range and its slack."""
        return self.low - self.slack <= self.measured <= self.high + self.slack


def run(
    variant: str | dict[str, Any],
    flows: int,
    rate: str,
    delay: str,
    queue: dict[str, Any],
    seconds: tuple[float, float],
) -> Results:
    """Equal flows through one bottleneck, counted from the first to the second time."""
    start, end = seconds
    document = {
        "name": "standing",
        "duration": f"{end} s",
        "measure_from": f"{start} s",
        "start_jitter": "5 ms",
        "network": {
            "bottleneck": {"rate": rate, "delay": delay, "queue": queue},
            "access": {"rate": "10 Gbit/s", "delay": "1 ms"},
        },
        "flows": [{"name": f"f{i}", "variant": variant, "stack": STACK} for i in range(flows)],
        "trace": {"series": ["flows"], "interval": "1 ms"},
    }
    return dumbbell.run(Scenario.from_dict(document))


def queue_of(results: Results) -> dict[str, Any]:
    """The bottleneck's row."""
    return results.queues.filter(pl.col("name") == "r1->r2").row(0, named=True)


def in_system(queue: dict[str, Any]) -> float:
    """Mean packets waiting or in transmission."""
    return float(queue["mean_backlog_packets"] + queue["utilization"])


def flows_of(n: int) -> str:
    """So many, in words."""
    return "1 flow" if n == 1 else f"{n} flows"


DEEP = {"limit": "100000 packets"}


def vegas() -> Iterator[Row]:
    """Each flow keeps between alpha and beta segments in the queue [Brakmo and Peterson 1995 §III.B]."""
    variant = {"name": "vegas", "alpha": 2, "beta": 4, "rounded": False}
    for n in (1, 2, 4):
        packets = in_system(queue_of(run(variant, n, "20 Mbit/s", "18 ms", DEEP, (20, 80))))
        why = "a base RTT that holds a packet of another flow's: half a segment for each flow"
        yield Row("vegas: segments queued", flows_of(n), "BP §III.B", 2 * n, 4 * n, packets, 0.5 * n, why)


def ledbat() -> Iterator[Row]:
    """Growth is zero where the queueing delay is the target: 100 ms [RFC 6817], LEDBAT++ 60 ms."""
    for variant, source, target in (
        ("ledbat", "RFC 6817", 100.0),
        ("ledbat++", "draft-irtf-iccrg-ledbat-plus-plus-01 §4.5", 60.0),
    ):
        for n in (1, 2):
            queue = queue_of(run(variant, n, "20 Mbit/s", "18 ms", DEEP, (100, 300)))
            # The median, since LEDBAT++ slows down now and then to see the empty queue.
            delay = float(queue["p50_sojourn_ms"])
            why = "the current delay is the smallest of four samples, a segment a flow is 0.6 ms"
            yield Row(f"{variant}: delay, ms", flows_of(n), source, target, target, delay, 0.6 * (n + 1), why)


def copa() -> Iterator[Row]:
    """A rate of 1 / (delta d) is 1 / delta segments queued; n flows swing from none to 2.5 n / delta [AB]."""
    for n in (1, 2, 4):
        queue = queue_of(run({"name": "copa", "competitive": False}, n, "20 Mbit/s", "18 ms", DEEP, (20, 80)))
        mean = 1.25 * n / 0.5
        why = "whole segments, one of them in transmission"
        yield Row("copa: segments queued, mean", flows_of(n), "AB", mean, mean, in_system(queue), 1.0, why)
        largest = float(queue["max_sojourn_ms"]) / 0.6
        why = "one segment"
        yield Row("copa: segments queued, largest", flows_of(n), "AB", 0.0, 2 * mean, largest, 1.0, why)


def dctcp() -> Iterator[Row]:
    """The share of marks of n flows in step, each with W = (C RTT + K) / n when the queue is at the threshold K.

    A window's marks are answered once, by alpha / 2 of it, and grow back by one segment a round trip: the last of
    W alpha / 2 round trips is marked, so that alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2, about sqrt(2 / W)
    [Alizadeh et al. 2010].
    """
    for rate, delay, rtt_ms, threshold_ms in ((100, 1.0, 6.0, 2.4), (100, 5.0, 14.0, 4.8), (1000, 0.5, 5.0, 0.6)):
        for n in (1, 2):
            queue = {
                "discipline": "codel",
                "limit": "100000 packets",
                "target": "1 s",
                "interval": "2 s",
                "ce_threshold": f"{threshold_ms} ms",
            }
            results = run("dctcp", n, f"{rate} Mbit/s", f"{delay} ms", queue, (5, 20))
            series = results.series(0, "alpha", flow="f0")
            alpha = float(series.filter(pl.col("time_s") > 5)["alpha"].to_numpy().mean())
            window = rate * 1000 * (rtt_ms + threshold_ms) / 8 / 1500 / n
            expected = 1.0
            for _ in range(100):
                expected = math.sqrt((2 * window + 1) / (window + 1) ** 2 / (1 - expected / 4))
            setting = f"{flows_of(n)}, {rate} Mbit/s, {rtt_ms:g} ms, K = {threshold_ms} ms"
            # The queue grows by a segment a round trip, so that it passes K within one: marks last 1 +- 1/2 of them,
            # and alpha is proportional to the square root of that.
            slack = (math.sqrt(1.5) - 1) * expected
            why = "marks last 1 ± 1/2 round trip"
            yield Row("dctcp: alpha", setting, "Alizadeh et al. 2010", expected, expected, alpha, slack, why)


def bbr() -> Iterator[Row]:
    """At most cwnd_gain BDP is in flight, however deep the buffer, as the largest RTT at the full rate shows.

    Above 2 BDP (BBRv3: 2.25) it allows three bursts of two segments, the extra_acked allowance, and two segments
    while it probes: 12 packets at most. min_rtt holds three transmissions more than the propagation.
    """
    for variant, gain in (("bbr1", 2.0), ("bbr3", 2.25)):
        for rate, rtt in ((10, 40), (50, 20), (10, 200)):
            results = run(variant, 1, f"{rate} Mbit/s", f"{rtt / 2 - 2} ms", DEEP, (10, 40))
            packet = 12 / rate
            bdp = float(results.flows["rtt_max_ms"][0]) / (rtt + 3 * packet)
            slack = 12 * packet / (rtt + 3 * packet)
            source, why = "draft-ietf-ccwg-bbr", "12 packets, see the algorithm"
            yield Row(f"{variant}: BDP outstanding", f"{rate} Mbit/s, {rtt} ms", source, 0.0, gain, bdp, slack, why)


ALGORITHMS = (vegas, ledbat, copa, dctcp, bbr)
