"""Measurements of the experiments: throughput by variant, delay, loss and repetition, and the formulas beside it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell import _core
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.studies.cells import Cells
from dumbbell.studies.shared import Floats, endpoint

__all__ = [
    "DELAY",
    "DELAYS",
    "LOSS",
    "LOSSES",
    "MSS",
    "RATE",
    "VARIANT",
    "VARIANTS",
    "Grid",
    "cubic",
    "mathis",
    "payload",
]

VARIANTS = ("reno", "cubic")
DELAYS = (10.0, 50.0, 100.0)
"""One-way delays, ms."""
LOSSES = (0.1, 0.5, 1.0)
"""Percent."""
RATE = 100.0
"""Mbit/s."""
MSS = 1448
"""Payload of a full segment, bytes."""
DELAY, LOSS, VARIANT = "network.bottleneck.delay", "network.bottleneck.loss", "flows.iperf.variant"


def payload(scenario: Scenario) -> int:
    """Return the payload of a scenario's full segments, bytes: timestamps take 12 bytes of the MSS."""
    given = endpoint(scenario)
    return int(_core.parse("bytes", str(given["mss"]))) - (12 if given["timestamps"] else 0)


class Grid:
    """An experiment over delays, losses and variants; ``n`` repetitions, segments with a payload of ``mss`` bytes."""

    def __init__(self, results: Results) -> None:
        flows = results.flows
        delays = {t: _core.parse("duration", t) / 1e6 for t in flows[DELAY].unique()}
        losses = {t: 100 * _core.parse("probability", t) for t in flows[LOSS].unique()}
        numbers = flows.with_columns(
            pl.col(DELAY).replace_strict(delays, return_dtype=pl.Float64),
            pl.col(LOSS).replace_strict(losses, return_dtype=pl.Float64).round(6),
        )
        self._cells = Cells(numbers, [VARIANT, DELAY, LOSS])
        self.n = results.scenario.repetitions
        self.mss = payload(results.scenario)

    def get(self, variant: str, delay: float, loss: float, metric: str = "goodput_bps") -> Floats:
        """Return a metric of a cell by repetition, rates in Mbit/s; (n,) float64."""
        factor = 1e-6 if metric.endswith("_bps") else 1.0
        return factor * self._cells.get(metric, variant, delay, loss)

    def median(self, variant: str, delay: float, loss: float, metric: str = "goodput_bps") -> float:
        """Return the median of a cell."""
        return float(np.median(self.get(variant, delay, loss, metric)))


def mathis(delay: npt.ArrayLike, loss: npt.ArrayLike, mss: int = MSS) -> Floats:
    """Return Reno's throughput by Mathis et al., Mbit/s, at most the link's.

    A window that grows by one segment a round trip and halves at each loss has sqrt(3/2) / sqrt(p) segments in the
    mean where the losses are periodic; Linux counts all segments that a delayed ACK covers, so those need no factor.

    Parameters
    ----------
    delay : float64, ms, one way
    loss : float64, %
    mss : int, bytes

    References
    ----------
    Mathis, M., Semke, J., Mahdavi, J., Ott, T., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm",
    CCR 27(3), 1997.
    """
    rtt, p = 2e-3 * np.asarray(delay, dtype=np.float64), 0.01 * np.asarray(loss, dtype=np.float64)
    return np.asarray(np.minimum(RATE, 8e-6 * mss / rtt * math.sqrt(1.5) / np.sqrt(p)))


def cubic(delay: npt.ArrayLike, loss: npt.ArrayLike, mss: int = MSS) -> Floats:
    """Return CUBIC's throughput [RFC 9438 §5.1], Mbit/s, where its growth is the cubic one.

    Parameters as in `mathis`.
    """
    rtt, p = 2e-3 * np.asarray(delay, dtype=np.float64), 0.01 * np.asarray(loss, dtype=np.float64)
    window = 1.054 * rtt**0.75 / p**0.75
    return np.asarray(np.minimum(RATE, 8e-6 * mss * window / rtt))
