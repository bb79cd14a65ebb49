"""Bytes in flight and phases of the report's Figures 7 to 10, read from captures at the sender."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import polars as pl

from dumbbell import _core
from dumbbell.capture import Capture, analyze
from dumbbell.capture.figures import inflight_panel
from dumbbell.plots import Picture
from dumbbell.report.finding import Table
from dumbbell.results import Results, Run
from dumbbell.studies.netem_iperf.data import DELAY, LOSS, VARIANT
from dumbbell.studies.shared import LABELS

__all__ = ["Captured", "inflight_pictures", "phases_table"]

FIGURES = {("10 ms", "reno"): 7, ("10 ms", "cubic"): 8, ("100 ms", "reno"): 9, ("100 ms", "cubic"): 10}
"""The report's numbers of its figures of bytes in flight."""
ZOOM = 10.0
"""Seconds from the start that are drawn apart where a transfer lasts more than twice as long."""
PHASES = ("slow start", "congestion avoidance", "recovery", "timeout")


class Captured:
    """The experiment with captures, in the order of the report's figures."""

    def __init__(self, results: Results) -> None:
        runs = [OneTransfer(results, run) for run in results.runs]
        self.transfers = sorted(runs, key=lambda one: one.figure)


class OneTransfer:
    """A captured transfer."""

    def __init__(self, results: Results, run: Run) -> None:
        self._files = list(results.captures(run).values())
        self.delay, self.loss, self.variant = (str(run.cell[path]) for path in (DELAY, LOSS, VARIANT))

    @property
    def figure(self) -> int:
        """The report's number of its figure."""
        return FIGURES[self.delay, self.variant]

    @property
    def where(self) -> str:
        """Its cell in words."""
        return f"{LABELS[self.variant]}, delay {self.delay}, loss {self.loss}"

    @cached_property
    def capture(self) -> Capture:
        """The analysis, over intervals of half a round trip."""
        return analyze(self._files, rules="dumbbell", interval_s=1e-9 * _core.parse("duration", self.delay))

    @cached_property
    def sender(self) -> dict[str, Any]:
        """The row of the direction that carries the file."""
        return self.capture.flows.sort("payload_bytes", descending=True).row(0, named=True)

    @property
    def seconds(self) -> float:
        """Length of the connection, s."""
        return 1e-9 * float(self.sender["end_ns"] - self.sender["start_ns"])

    def phases(self) -> dict[str, tuple[int, float]]:
        """Return the number of each phase and the seconds in it."""
        mine = self.capture.phases.filter(
            (pl.col("flow") == self.sender["flow"]) & (pl.col("direction") == self.sender["direction"])
        )
        length = (1e-9 * (pl.col("end_ns") - pl.col("start_ns"))).sum()
        rows = mine.group_by("phase").agg(pl.len().alias("n"), length.alias("s")).iter_rows(named=True)
        return {row["phase"]: (row["n"], row["s"]) for row in rows}


def inflight_pictures(captured: Captured) -> list[Picture]:
    """Draw Figures 7 to 10: the whole transfer, and its first seconds where it is long."""
    return [_picture(one) for one in captured.transfers]


def _picture(one: OneTransfer) -> Picture:
    whole = inflight_panel(one.capture, one.sender, "the whole transfer")
    panels = [whole]
    if one.seconds > 2 * ZOOM:
        panels.append(inflight_panel(one.capture, one.sender, f"its first {ZOOM:g} s", ZOOM))
    found = one.phases()
    start = found.get("slow start", (0, 0.0))[1]
    reading = (
        f"{one.where}: {start:.2f} s of slow start in {one.seconds:.1f} s; {one.sender['recoveries']} fast "
        f"recoveries and {one.sender['timeouts']} timeouts for {one.sender['retransmitted_packets']} "
        f"retransmissions; {1e-3 * one.sender['flight_mean']:.1f} kB in flight in the mean."
    )
    name = f"fig{one.figure:02}-inflight-{one.variant}-{one.delay.replace(' ', '')}"
    note = f"Phases and losses are read from the capture; values over {1e3 * one.capture.interval_s:g} ms each."
    title = f"Figure {one.figure}: bytes in flight, {one.where}"
    return Picture(name, title, reading, panels, markers=False, note=note)


def phases_table(captured: Captured) -> Table:
    """List the phases of each captured transfer."""
    rows = []
    for one in captured.transfers:
        found = one.phases()
        row = {"figure": f"{one.figure}", "transfer": one.where, "seconds": f"{one.seconds:.1f}"}
        for phase in PHASES:
            count, seconds = found.get(phase, (0, 0.0))
            row[phase] = f"{count}; {seconds:.2f} s ({100 * seconds / one.seconds:.1f} %)"
        row["retransmissions"] = f"{one.sender['retransmitted_packets']}"
        rows.append(row)
    return Table(
        "phases", "Figures 7 to 10: number of each phase and time in it, from the captures", pl.DataFrame(rows)
    )
