"""Measurements of the experiments with series of the window: one flow, two flows, and two flows over four queues."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from dumbbell import _core
from dumbbell.capture import analyze
from dumbbell.metrics import rate_per_window
from dumbbell.results import Results, Run
from dumbbell.results.frames.run_frames import label
from dumbbell.studies.cells import Cells
from dumbbell.studies.ns2_cbr.data import METRICS, RATE, Sizes, mbps
from dumbbell.studies.ns2_cbr.data_exp3 import queue_name
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.shared import Floats
from dumbbell.studies.windows import Window, early_repairs

__all__ = ["BLIND", "Fair", "PairWindows", "Windows"]

BLIND = "vegas without delay"
"""Name of the case of Vegas whose thresholds are out of reach."""
EDGES = np.arange(0.0, 10.01, 0.5)
"""Windows of a rate, s."""


def _case(variant: object) -> str:
    return BLIND if isinstance(variant, dict) else str(variant)


def _rate(run: Run) -> float:
    return float(_core.parse("rate", str(run.cell[RATE])) / 1e6)


class Windows:
    """One TCP flow against CBR of 8 to 10 Mbit/s, with the series of its window and a capture at the sender.

    Attributes
    ----------
    rates : list of float, Mbit/s
    sizes : Sizes
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self.sizes = Sizes.of(results.scenario)
        self._runs: dict[tuple[str, float], list[Run]] = {}
        names = {}
        for run in results.runs:
            variant = run.cell["flows.tcp.variant"]
            names[str(label(variant))] = _case(variant)
            self._runs.setdefault((_case(variant), _rate(run)), []).append(run)
        frame = mbps(results.flows.filter(pl.col("name") == "tcp"))
        self._flow = Cells(
            frame.with_columns(pl.col("flows.tcp.variant").replace_strict(names, return_dtype=pl.String)),
            ["flows.tcp.variant", RATE],
        )
        self.rates = sorted({rate for _, rate in self._runs})

    def metric(self, name: str, variant: str, rate: float) -> Floats:
        """Return a metric of `METRICS` by repetition; (n,) float64."""
        column, factor, _unit = METRICS[name]
        return factor * self._flow.get(column, variant, rate)

    def each(self, variant: str, rate: float, what: Callable[[Window, Sizes], float]) -> Floats:
        """Return a property of the window by repetition; (n,) float64."""
        runs = self._of(variant, rate)
        return np.array([what(Window.read(self._results.table(run, "flow/tcp")), self.sizes) for run in runs])

    def early_repairs(self, variant: str, rate: float) -> Floats:
        """Return the share of repairs before the third duplicate ACK by repetition; (n,) float64, %."""
        return np.array([early_repairs(self._frames(run)) for run in self._of(variant, rate)])

    def _of(self, variant: str, rate: float) -> list[Run]:
        if (variant, rate) not in self._runs:
            raise NotRunError(f"{variant} at CBR {rate:g} Mbit/s was not run")
        return self._runs[variant, rate]

    def _frames(self, run: Run) -> pl.DataFrame:
        """Read the frames of the flow from the capture."""
        capture = analyze(list(self._results.captures(run).values()), rules="dumbbell")
        sender = capture.flows.sort("payload_bytes", descending=True).row(0, named=True)
        mine = capture.packets.filter(pl.col("flow") == sender["flow"])
        return (
            mine.select("t_ns", "len", "seq", "ack", data=pl.col("direction") == sender["direction"])
            .sort("t_ns", maintain_order=True)
            .collect()
        )


class PairWindows:
    """NewReno beside Reno and beside Vegas against CBR, with the series of both windows.

    Attributes
    ----------
    rates : list of float, Mbit/s
    sizes : Sizes
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self.sizes = Sizes.of(results.scenario)
        self._runs: dict[tuple[str, float], list[Run]] = {}
        for run in results.runs:
            pair = f"newreno/{run.cell['flows.second.variant']}"
            self._runs.setdefault((pair, _rate(run)), []).append(run)
        self.rates = sorted({rate for _, rate in self._runs})

    def each(self, pair: str, flow: str, what: Callable[[Window, Sizes], float]) -> Floats:
        """Return the mean over the CBR rates of a property of a flow's window, by repetition; (n,) float64."""
        rows = [
            [what(Window.read(self._results.table(run, f"flow/{flow}")), self.sizes) for run in self._runs[pair, rate]]
            for rate in self.rates
        ]
        return np.asarray(np.nanmean(rows, axis=0))

    def used(self, pair: str, flow: str, rate: float) -> Floats:
        """Return the mean window in use, the smaller of cwnd and the TCP window; (n,) float64, packets."""
        found = []
        for run in self._runs.get((pair, rate), []):
            table = self._results.table(run, f"flow/{flow}")
            t, cwnd = table["t_ns"].to_numpy() * 1e-9, table["cwnd"].cast(pl.Float64).to_numpy()
            found.append(
                float(np.average(np.minimum(cwnd, self.sizes.limit)[:-1], weights=np.diff(t))) / self.sizes.packet
            )
        return np.array(found)

    def variation(self, pair: str, flow: str) -> Floats:
        """Return the standard deviation of throughput over half seconds as a part of its mean; (n,) float64.

        The mean over the CBR rates, by repetition.
        """
        rows = []
        for rate in self.rates:
            found = []
            for run in self._runs[pair, rate]:
                table = self._results.table(run, f"flow/{flow}")
                t, delivered = table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy()
                each = rate_per_window(t, delivered, EDGES)
                found.append(float(each.std() / each.mean()))
            rows.append(found)
        return np.asarray(np.mean(rows, axis=0))


class Fair:
    """Two flows of the same variant over four queues, while the CBR stream runs."""

    def __init__(self, results: Results) -> None:
        names = {str(label(run.cell["network.bottleneck.queue"])): queue_name(run.cell["network.bottleneck.queue"])
                 for run in results.runs}  # fmt: skip
        frame = results.flows.with_columns(
            pl.col("network.bottleneck.queue").replace_strict(names, return_dtype=pl.String).alias("queue")
        )
        keys = ["flows.first.variant", "queue"]
        self._flows = [Cells(frame.filter(pl.col("name") == name), keys) for name in ("first", "second")]

    def both(self, variant: str, queue: str) -> Floats:
        """Return the goodput of both flows by repetition; (n, 2) float64, bit/s."""
        return np.stack([cells.get("goodput_bps", variant, queue) for cells in self._flows], axis=-1)
