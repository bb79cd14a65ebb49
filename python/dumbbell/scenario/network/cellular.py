"""Cellular links in place of a rate: generated packet-delivery traces.

::

    in each interval of the scheduler (1 ms with LTE, 0.5 ms with 5G) the device is served with the probability
    `share`; it then gets bandwidth x min(0.6 log2(1 + SNR), limit) x interval bits        [3GPP TR 36.942 Annex A.2]
    SNR in dB: mean + slow fading + fast fading, each normal with an exponential correlation, constant for 10 ms
    handover: after times that are exponential around a mean, nothing is delivered for a constant time

The limit is 4.4 bit/s/Hz with LTE (64-QAM, that annex) and 8/6 of it with 5G (256-QAM, our assumption); below -10 dB
nothing is delivered. Links with the same seed fade and hand over together, as the directions of one device do. The
values describe a plausible cell, not a measured one: for that, use a trace. A trace depends on its `seed` alone and
repeats after `length`, so all variants and repetitions have the same link. Not modeled: HARQ, carrier aggregation,
uplink grants.
"""

from __future__ import annotations

import math
import random
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from dumbbell.scenario.base import Part, Whole, problem
from dumbbell.scenario.units import ChannelWidth, Decibels, Duration, Percentage, PositiveDuration, Ratio

if TYPE_CHECKING:
    from dumbbell import mahimahi

__all__ = ["Cellular"]

EFFICIENCY, LTE_LIMIT = 0.6, 4.4
"""Share of Shannon's capacity; largest spectral efficiency, bit/s/Hz [3GPP TR 36.942 Annex A.2]."""
LEAST_SNR = -10.0
"""dB [3GPP TR 36.942 Annex A.2]."""
BLOCK_MS = 10
"""Time in which the fading is constant."""
SLOW_MS, FAST_MS = 5000, 50
"""Correlation times of the slow and the fast fading."""


class Share(Percentage):
    """A share above zero."""

    __slots__ = ()
    minimum = (1e-4, "above zero")


class TraceLength(PositiveDuration):
    """Length of a generated trace."""

    __slots__ = ()
    example = '"5 min"'
    minimum = (1_000_000_000, "at least 1 s")
    maximum = (3_600_000_000_000, "at most 1 h")


class Carrier(ChannelWidth):
    """The width of a carrier: a channel of 5G has at most 400 MHz [3GPP TS 38.104 §5.3.2]."""

    __slots__ = ()
    maximum = (400, "at most 400 MHz")


class MeanRatio(Ratio):
    """A mean signal-to-noise ratio."""

    __slots__ = ()
    example = '"15 dB"'
    minimum = (LEAST_SNR, "at least -10 dB, below which nothing is delivered")
    maximum = (60, "at most 60 dB")


class HandoverTime(PositiveDuration):
    """The mean time between handovers."""

    __slots__ = ()
    example = '"60 s"'
    minimum = (100_000_000, "at least 100 ms")


class Cellular(Part):
    """A generated packet-delivery trace of a cellular link."""

    cellular: Literal["lte", "5g"]
    """The cell: "lte" (20 MHz, scheduled every 1 ms) or "5g" (100 MHz, scheduled every 0.5 ms)."""
    bandwidth: Carrier | None = None
    """Width of the channel. Default: 20 MHz with LTE, 100 MHz with 5G."""
    snr: MeanRatio = MeanRatio("15 dB")
    """Mean signal-to-noise ratio."""
    share: Share = Share("30 %")
    """Share of the scheduler's intervals in which the device is served."""
    shadowing: Decibels = Decibels("4 dB")
    """Standard deviation of the slow fading, whose correlation time is 5 s."""
    fading: Decibels = Decibels("3 dB")
    """Standard deviation of the fast fading, whose correlation time is 50 ms."""
    handover_every: HandoverTime | None = None
    """Mean time between the end of a handover and the next one. Default: 60 s with LTE, 30 s with 5G."""
    handover: Duration = Duration("50 ms")
    """Length of a handover; "0 s": no handovers."""
    length: TraceLength = TraceLength("5 min")
    """Length of the trace, after which it repeats."""
    seed: Annotated[Whole, Field(ge=0)] = 1
    """Seed of the fading and of the handovers; links with the same seed have the same ones."""

    @model_validator(mode="after")
    def _consistent(self) -> Cellular:
        if self.handover.ns > self._every_ms * 1_000_000:
            raise problem(f"'{self.handover}' given: at most the mean time between handovers", "handover")
        return self

    @property
    def _every_ms(self) -> int:
        """Mean time between handovers, ms."""
        if self.handover_every is not None:
            return self.handover_every.ns // 1_000_000
        return 60_000 if self.cellular == "lte" else 30_000

    @property
    def trace(self) -> mahimahi.Trace:
        """The generated trace."""
        lte = self.cellular == "lte"
        width = self.bandwidth.mhz if self.bandwidth is not None else (20 if lte else 100)
        return _generate(
            self.length.ns // 1_000_000,
            self.seed,
            width * 1e6,
            (1, LTE_LIMIT) if lte else (2, LTE_LIMIT * 8 / 6),
            self.snr.db,
            self.share.share,
            (self.shadowing.db, self.fading.db),
            (self._every_ms, self.handover.ns // 1_000_000),
        )


@lru_cache(maxsize=16)
def _generate(
    length_ms: int,
    seed: int,
    bandwidth: float,
    scheduler: tuple[int, float],
    snr_db: float,
    share: float,
    deviations: tuple[float, float],
    handover_ms: tuple[int, int],
) -> mahimahi.Trace:
    """Generate a trace. Python's own generator gives the same numbers in all versions."""
    import numpy as np  # only links with a generated trace need it

    from dumbbell import mahimahi  # imports numpy

    grants, limit = scheduler
    draws = random.Random(f"cellular {seed}")
    per_block = []
    slow = deviations[0] * draws.gauss()
    fast = deviations[1] * draws.gauss()
    for _ in range(0, length_ms, BLOCK_MS):
        snr = snr_db + slow + fast
        capacity = min(EFFICIENCY * math.log2(1 + 10 ** (snr / 10)), limit) if snr >= LEAST_SNR else 0.0
        per_block.append(bandwidth * capacity / 1000 / grants)
        slow = _next(slow, deviations[0], SLOW_MS, draws)
        fast = _next(fast, deviations[1], FAST_MS, draws)
    served = np.array([draws.random() < share for _ in range(length_ms * grants)]).reshape(length_ms, grants)
    bits = served.sum(axis=1) * np.repeat(per_block, BLOCK_MS)[:length_ms]
    every, outage = handover_ms
    at = draws.expovariate(1 / every)
    while outage > 0 and at < length_ms:
        bits[int(at) : int(at) + outage] = 0
        at += outage + draws.expovariate(1 / every)
    sent = np.floor(np.cumsum(bits) / (mahimahi.OPPORTUNITY * 8)).astype(np.int64)
    counts = np.diff(sent, prepend=0)
    counts[-1] += 1  # the last line is the length of the trace
    times = np.flatnonzero(counts)
    return mahimahi.Trace(times + 1, counts[times])


def _next(value: float, deviation: float, correlation_ms: int, draws: random.Random) -> float:
    """Return the fading of the next block."""
    kept = math.exp(-BLOCK_MS / correlation_ms)
    return kept * value + deviation * math.sqrt(1 - kept * kept) * draws.gauss()
