"""Labels of metrics on axes, with the unit in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Quantity", "quantity"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric on an axis: its name, its unit, and the factor from the column's unit to the axis's."""

    name: str
    unit: str
    factor: float

    @property
    def title(self) -> str:
        """The name at the start of a sentence."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def label(self) -> str:
        """The axis label."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


_BY_SUFFIX = (("_bps", "Mbit/s", 1e-6), ("_ms", "ms", 1.0), ("_bytes", "kB", 1e-3), ("_packets", "packets", 1.0))
_SHARES = ("drop_rate", "utilization", "mark_rate", "retransmission_rate")
_WORDS = {
    "rtt": "RTT",
    "ack": "ACK",
    "owd": "one-way delay",
    "cwnd": "cwnd",
    "srtt": "srtt",
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
}


def quantity(metric: str) -> Quantity:
    """Name a column of the results, such as ``goodput_bps``: goodput, Mbit/s."""
    unit, factor, name = "", 1.0, metric
    for suffix, shown, times in _BY_SUFFIX:
        if metric.endswith(suffix):
            unit, factor, name = shown, times, metric.removesuffix(suffix)
            break
    else:
        if metric.endswith("_s"):
            unit, name = "s", metric.removesuffix("_s")
    if metric in _SHARES:
        unit, factor = "%", 100.0
    words = [_WORDS.get(part, part) for part in name.split("_")]
    return Quantity(" ".join(words), unit, factor)
