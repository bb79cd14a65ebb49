"""Measurements of a case on one side: figures of each flow, repetition by repetition, and curves of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dumbbell.backends import Finished

__all__ = ["FIGURES", "STEP_S", "FlowMeasured", "Measured", "binned"]

Floats = npt.NDArray[np.float64]

FIGURES = (
    "goodput_bps",
    "cwnd_mean_packets",
    "srtt_mean_ms",
    "rtt_mean_ms",
    "ack_delay_mean_ms",
    "sent_packets",
    "retransmitted_packets",
    "dropped_packets",
    "timeouts",
    "fast_retransmits",
)
"""The columns of a flow that are kept."""
STEP_S = 0.2
"""Width of a curve's bins, s."""


@dataclass(frozen=True)
class FlowMeasured:
    """A flow: each figure's values over the repetitions, and the mean of cwnd and srtt in each bin.

    Attributes
    ----------
    cwnd : (n,) float64, segments
    srtt : (n,) float64, ms
    """

    name: str
    variant: str
    figures: dict[str, list[float | None]]
    cwnd: Floats
    srtt: Floats
    step_s: float = STEP_S

    def thinned(self, bins: int) -> FlowMeasured:
        """Take so many bins of the curves as one."""
        return replace(
            self, cwnd=_grouped(self.cwnd, bins), srtt=_grouped(self.srtt, bins), step_s=round(self.step_s * bins, 9)
        )

    def values(self, figure: str) -> Floats:
        """Return a figure's values that exist."""
        return np.array([v for v in self.figures[figure] if v is not None], dtype=float)


@dataclass(frozen=True)
class Measured:
    """A case on one side."""

    flows: list[FlowMeasured] = field(default_factory=list)

    @classmethod
    def of(cls, runs: Sequence[Finished], duration_s: float) -> Self:
        """Take over the runs of a case, in the order of repetitions."""
        flows = []
        rows = [run.rows.flows for run in runs]
        for n, first in enumerate(rows[0]):
            table = runs[0].tables.get(f"flow/{first['name']}", {})
            cwnd, srtt = np.array([]), np.array([])
            if len(table.get("t_ns", ())):
                time = table["t_ns"].astype(float) * 1e-9
                cwnd = binned(time, table["cwnd"].astype(float), duration_s)
                srtt = binned(time, table["srtt_ns"].astype(float) * 1e-6, duration_s)
                # The trace has bytes; the figures' mean, in segments, gives the bytes of one segment.
                mean = binned(time, table["cwnd"].astype(float), duration_s, duration_s - time[0], time[0])[0]
                cwnd *= (first["cwnd_mean_packets"] or np.nan) / mean
            figures = {key: [each[n].get(key) for each in rows] for key in FIGURES}
            flows.append(FlowMeasured(first["name"], first["variant"], figures, cwnd, srtt))
        return cls(flows)

    def thinned(self, bins: int) -> Measured:
        """Take so many bins of the curves as one."""
        return Measured([flow.thinned(bins) for flow in self.flows])

    def document(self) -> list[dict[str, Any]]:
        """Return it as plain values for JSON; figures in seven digits, curves in tenths."""
        return [
            {
                "name": f.name,
                "variant": f.variant,
                "figures": {key: [_digits(v) for v in values] for key, values in f.figures.items()},
                "step_s": f.step_s,
                "cwnd": _tenths(f.cwnd),
                "srtt_ms": _tenths(f.srtt),
            }
            for f in self.flows
        ]

    @classmethod
    def read(cls, document: list[dict[str, Any]]) -> Self:
        """Read what `document` gave."""
        return cls(
            [
                FlowMeasured(
                    f["name"],
                    f["variant"],
                    f["figures"],
                    np.array(f["cwnd"], dtype=float),
                    np.array(f["srtt_ms"], dtype=float),
                    float(f.get("step_s", STEP_S)),
                )
                for f in document
            ]
        )


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.7g}")


def _grouped(values: Floats, bins: int) -> Floats:
    groups = values[: len(values) // bins * bins].reshape(-1, bins)
    known = ~np.isnan(groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.where(known, groups, 0.0).sum(axis=1) / known.sum(axis=1)
    return means


def _tenths(values: Floats) -> list[float | None]:
    return [None if np.isnan(v) else round(float(v), 1) for v in values]


def binned(time: Floats, values: Floats, end: float, step: float = STEP_S, begin: float = 0.0) -> Floats:
    """Return the mean over time of a quantity within each bin; each value holds until the next.

    Parameters
    ----------
    time : (n,) float64, s, ascending
    values : (n,) float64
        NaN: no value yet.
    end, step, begin : float, s

    Returns
    -------
    (m,) float64
        NaN where a bin has no value at all.
    """
    bins = max(1, int((end - begin) / step + 1e-9))
    edges: Floats = begin + step * np.arange(bins + 1, dtype=np.float64)
    known = ~np.isnan(values)
    sums = _until(edges, time, np.where(known, values, 0.0), end)
    spans = _until(edges, time, known.astype(float), end)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.diff(sums) / np.diff(spans)
    return means


def _until(edges: Floats, time: Floats, values: Floats, end: float) -> Floats:
    """Integrate a step function from its beginning to each edge."""
    whole = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(time))])
    at = np.searchsorted(time, np.minimum(edges, end), side="right") - 1
    inside = np.maximum(at, 0)
    sums: Floats = whole[inside] + values[inside] * (np.minimum(edges, end) - time[inside])
    return np.where(at >= 0, sums, 0.0)
