"""Labels of metrics on axes, with the unit in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.results.columns import column

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
    found = column(metric)
    name = metric if found is None else found.stem
    unit, factor = ("", 1.0) if found is None else found.shown
    words = [_WORDS.get(part, part) for part in name.split("_")]
    return Quantity(" ".join(words), unit, factor)
