"""The figures of a flow that decide whether the simulator agrees with the kernel."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FEW", "FIGURES", "Figure"]

FEW = 3
"""Difference in packets that counts as the same, even of a small number of packets."""


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes
    ----------
    name, heading : str
        In sentences, and on the page of stored cases.
    unit : str
        Of printed values: ``factor`` times the column's.
    tolerance : float
        Largest relative difference that counts as the same in a stored case.
    practical : float
        The same of means in a random case.
    few : int
        Difference that counts as the same in any case.
    read : bool
        True if the kernel gives it at intervals.
    """

    name: str
    heading: str
    unit: str
    tolerance: float
    practical: float
    factor: float = 1.0
    few: int = 0
    read: bool = False

    def text(self, value: float, digits: int = 4) -> str:
        """Return a value of the column in the unit, without it."""
        return f"{value * self.factor:.{digits}g}"


FIGURES = {
    "goodput_bps": Figure("goodput", "goodput Mbit/s", " Mbit/s", 0.01, 0.05, factor=1e-6),
    "cwnd_mean_packets": Figure("mean cwnd", "cwnd", " segments", 0.05, 0.05, read=True),
    "srtt_mean_ms": Figure("mean srtt", "srtt ms", " ms", 0.05, 0.05, read=True),
    "retransmitted_packets": Figure("the number of retransmissions", "retransmitted", " packets", 0.15, 0.15, few=FEW),
}
"""By column."""
