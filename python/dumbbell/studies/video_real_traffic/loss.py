"""Responses of the variants to random losses and to a full queue, and the cost of losses over TCP and QUIC."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from dumbbell.results import Results, Run
from dumbbell.studies.shared import Floats
from dumbbell.studies.video_real_traffic.player import QUIC
from dumbbell.studies.windows import Window

__all__ = ["Cost", "Lossy"]

LOSSES = {"1 %": "random", "0 %": "full queue"}
"""Loss of the scenario `lossy` -> its name in the rules."""


class Lossy:
    """A long transfer with random losses, or with a queue that fills, by loss and variant."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in results.runs:
            key = (LOSSES[str(run.cell["network.bottleneck.loss"])], str(run.cell["flows.bulk.variant"]))
            self._runs.setdefault(key, []).append(run)
        waiting = results.queues.filter(pl.col("name") == "r1->r2")
        self._waiting = dict(zip(waiting["run"], waiting["mean_backlog_packets"], strict=True))
        self._full = dict(zip(waiting["run"], waiting["drops_full"], strict=True))

    def get(self, metric: str, loss: str, variant: str) -> Floats:
        """Return a metric by repetition; (n,) float64.

        Parameters
        ----------
        metric : str
            "throughput" (Mbit/s), "backlog" (mean number of waiting packets), "drops" (of a full queue), or "kept"
            (part of the window that a fast recovery leaves, %).
        """
        return np.array([self._value(metric, run) for run in self._runs.get((loss, variant), [])])

    def _value(self, metric: str, run: Run) -> float:
        if metric == "throughput":
            return 1e-6 * float(run.flows[0]["goodput_bps"])
        if metric == "backlog":
            return float(self._waiting[run.index])
        if metric == "drops":
            return float(self._full[run.index])
        return Window.read(self._results.table(run, "flow/bulk")).kept(np.inf)


class Cost:
    """The transfers of 2 MB with and without losses, by transport and variant."""

    def __init__(self, results: Results) -> None:
        self._end = results.scenario.duration.seconds
        self._rows: dict[tuple[str, bool], list[dict[str, Any]]] = {}
        for run in results.runs:
            quic = run.cell.get("flows.file.transport") == "quic"
            who = QUIC if quic else str(run.cell["flows.file.variant"])
            lossy = str(run.cell["network.bottleneck.loss"]) != "0 %"
            self._rows.setdefault((who, lossy), []).append(run.flows[0])

    def prolonged(self, variant: str) -> Floats:
        """Return the time of the transfer with losses minus that without, by repetition; (n,) float64, s."""
        lossy, clean = (
            np.array([self._end if row["completion_time_s"] is None else row["completion_time_s"] for row in rows])
            for rows in (self._rows.get((variant, True), []), self._rows.get((variant, False), []))
        )
        return np.asarray(lossy - clean) if lossy.size and clean.size else np.array([], dtype=np.float64)
