"""Measurements of the experiments, in the report's terms: arrays by CBR rate and repetition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell import _core
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.studies.cells import Cells
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.shared import Floats, endpoint

__all__ = ["METRICS", "RATE", "VARIANTS", "Experiment1", "Experiment2", "Sizes", "Start", "mbps", "report_rates"]

VARIANTS = ("tahoe", "reno", "newreno", "sack", "vegas", "bic", "cubic")
"""In this order on pages; SACK, BIC and CUBIC are not in the report's experiment 1."""
RATE = "flows.cbr.application.rate"

METRICS = {
    "throughput": ("goodput_bps", 1e-6, "Mbit/s"),
    "latency": ("ack_delay_mean_ms", 1.0, "ms"),
    "first latency": ("ack_delay_first_mean_ms", 1.0, "ms"),
    "least latency": ("ack_delay_min_ms", 1.0, "ms"),
    "drop rate": ("drop_rate", 100.0, "%"),
    "packets": ("delivered_bytes", 1e-3, "packets"),
    "timeouts": ("timeouts", 1.0, "timeouts"),
    "mean window": ("cwnd_mean_packets", 1.0, "packets"),
    "queue delay": ("mean_sojourn_ms", 1.0, "ms"),
    "largest queue delay": ("max_sojourn_ms", 1.0, "ms"),
}
"""Name -> column, factor, unit. The report's latency ends at the cumulative ACK, as an ns-2 trace shows it, so that
it is the ACK delay and not `rtt_mean_ms`. Latency is over packets sent once, "first latency" over all, from their
first transmission. Packets carry 1000 bytes."""


def mbps(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn the column of CBR rates into numbers, Mbit/s."""
    numbers = {text: _core.parse("rate", text) / 1e6 for text in frame[RATE].unique()}
    return frame.with_columns(pl.col(RATE).replace_strict(numbers, return_dtype=pl.Float64))


def report_rates(rates: Sequence[float]) -> list[float]:
    """Keep the whole numbers: the rates that the report ran."""
    return [r for r in rates if r == round(r)]


class Experiment1:
    """One TCP flow against CBR.

    Attributes
    ----------
    rates : (m,) float64, Mbit/s
        CBR rates, increasing.
    n : int
        Repetitions.
    window : int
        The TCP window, packets.
    variants : tuple of str
        The variants that were run, in the order of `VARIANTS`: a real kernel has no Tahoe.
    reported : tuple of str
        Those of them that the report has.
    """

    def __init__(self, results: Results) -> None:
        keys = [RATE, "variant"]
        flows = mbps(results.flows)
        queues = mbps(results.queues.rename({"flows.tcp.variant": "variant"}))
        self._flow = Cells(flows.filter(pl.col("name") == "tcp"), keys)
        self._queue = Cells(queues.filter(pl.col("name") == "r1->r2"), keys)
        self.rates = np.array(sorted(flows[RATE].unique()))
        self.n = results.scenario.repetitions
        self.window = Sizes.of(results.scenario).window
        self.variants = tuple(v for v in VARIANTS if v in set(flows["variant"]))
        self.reported = tuple(v for v in self.variants if v != "sack")

    def get(self, metric: str, variant: str, rate: float) -> Floats:
        """Return a metric (a name of `METRICS`) by repetition; (n,) float64."""
        if variant not in self.variants:
            raise NotRunError(f"{variant} was not run")
        column, factor, _unit = METRICS[metric]
        cells = self._queue if metric.endswith("queue delay") else self._flow
        return factor * cells.get(column, rate, variant)

    def grid(self, metric: str, variant: str, rates: Sequence[float] | Floats | None = None) -> Floats:
        """Return a metric by CBR rate and repetition; (m, n) float64. Default: all rates."""
        wanted = self.rates if rates is None else rates
        return np.array([self.get(metric, variant, float(r)) for r in wanted])

    def average(self, metric: str, rates: Sequence[float], variants: Sequence[str]) -> dict[str, Floats]:
        """Return each variant's mean over CBR rates by repetition; (n,) float64 each."""
        return {v: self.grid(metric, v, rates).mean(axis=0) for v in variants}

    def medians(self, metric: str, variant: str, rates: Sequence[float] | Floats | None = None) -> Floats:
        """Return the median over repetitions by CBR rate; (m,) float64."""
        return np.asarray(np.median(self.grid(metric, variant, rates), axis=1))


class Start(Experiment1):
    """The start of one TCP flow against CBR, with its series."""

    def __init__(self, results: Results) -> None:
        super().__init__(results)
        self._results = results

    def growth(self, variant: str, rate: float) -> Floats:
        """Return the factor by which cwnd grows in a round trip of slow start, by repetition; (n,) float64, no unit.

        A straight line through the logarithm of cwnd over time, from the first ACK to the end of slow start; the
        round trip is the shortest one of the run.
        """
        if variant not in self.variants:
            raise NotRunError(f"{variant} was not run")
        shortest = self.get("least latency", variant, rate)
        found: list[float] = []
        for run in self._results.runs:
            cell = run.cell
            if cell["flows.tcp.variant"] != variant or _core.parse("rate", str(cell[RATE])) != 1e6 * rate:
                continue
            table = self._results.table(run, "flow/tcp")
            t, cwnd, phase = (table[c].to_numpy() for c in ("t_ns", "cwnd", "phase"))
            found.append(growth_of(1e-9 * t, cwnd, phase == SLOW_START, 1e-3 * float(shortest[len(found)])))
        return np.array(found)


def growth_of(t: Floats, cwnd: Floats, starting: npt.NDArray[np.bool_], rtt: float) -> float:
    """Return the factor by which a window grows in a round trip before `starting` first is false.

    Parameters
    ----------
    t : (n,) float64, s
    cwnd : (n,) float64, any unit
    starting : (n,) bool
        True in slow start.
    rtt : float, s

    Returns
    -------
    float, no unit
        NaN with fewer than two rows after the first one, which is the initial window.
    """
    end = int(np.argmin(starting)) if not starting.all() else starting.size
    if end < 3:
        return float("nan")
    slope = np.polyfit(t[1:end], np.log(cwnd[1:end]), 1)[0]
    return float(np.exp(slope * rtt))


SLOW_START = 0
"""Code of slow start in the series' column ``phase``."""


class Sizes(NamedTuple):
    """The TCP window in packets, and the payload of a packet in bytes."""

    window: int
    packet: int

    @classmethod
    def of(cls, scenario: Scenario) -> Sizes:
        """Read them from a scenario, or take the preset's defaults."""
        given = endpoint(scenario)
        return cls(int(_core.parse("packets", str(given["window"]))), int(_core.parse("bytes", str(given["mss"]))))

    @property
    def limit(self) -> float:
        """The TCP window, bytes."""
        return float(self.window * self.packet)


class Experiment2:
    """Two TCP flows against CBR.

    Attributes
    ----------
    rates : (m,) float64, Mbit/s
        CBR rates, increasing.
    variants : set of str
        Those of the first flow.
    n : int
        Repetitions.
    """

    def __init__(self, results: Results) -> None:
        frame = mbps(results.flows)
        keys = ["flows.first.variant", "flows.second.variant", RATE]
        self._cells = {name: Cells(frame.filter(pl.col("name") == name), keys) for name in ("first", "second")}
        self.rates = np.array(sorted(frame[RATE].unique()))
        self.variants = set(frame["flows.first.variant"])
        self.n = results.scenario.repetitions

    def both(self, first: str, second: str, metric: str = "throughput") -> tuple[Floats, Floats]:
        """Return a metric of both flows of a pair, by CBR rate and repetition; (m, n) float64 each."""
        column, factor, _unit = METRICS[metric]

        def of(flow: str) -> Floats:
            cells = self._cells[flow]
            return factor * np.array([cells.get(column, first, second, float(r)) for r in self.rates])

        return of("first"), of("second")

    def contested(self, first: str, second: str) -> npt.NDArray[np.bool_]:
        """Return the rates at which the pair has less than 95 % of its goodput at the lowest rate; (m,) bool."""
        total = np.median(sum(self.both(first, second)), axis=1)
        return np.asarray(total < 0.95 * total[0])
