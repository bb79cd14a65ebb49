"""The figures of the lab on reading a capture: those of the analysis, not the simulator's own."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from dumbbell.studies.labs.own_runs import OwnRun


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    capture = runs["base"].capture("sender")
    flow = capture.flows.row(by_predicate=(pl.col("flow") == 0) & (pl.col("direction") == 0), named=True)
    return {
        "q1": capture.flows["packets"].sum(),
        "q2": flow["retransmitted_packets"],
        "q3": flow["rtt_min_ms"],
        "q4": flow["goodput_bps"] / 1e6,
        "q5": flow["flight_max"] / flow["payload_max"],
        "q6": 100 * flow["retransmitted_packets"] / flow["data_packets"],
    }
