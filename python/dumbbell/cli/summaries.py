"""The tables of means over repetitions that ``run`` and ``results`` print."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["print_results"]


def print_results(results: Results, *, every_row: bool) -> None:
    """Print the flows, the queues that matter, and the transfers of workloads."""
    from dumbbell.results.frames.summary import LARGE, flow_summary, queue_summary

    if not len(results):
        output.line("no run is finished yet")
        return
    counts = results.repetitions
    n = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    each = f"mean of {n} repetitions" if counts[-1] > 1 else "one repetition"
    for what, table in (("flows", flow_summary(results)), ("queues", queue_summary(results))):
        if table.rows:
            output.print_summary(f"{results.scenario.name}: {what} ({each})", table, every_row=every_row)
    if len(results) <= LARGE and any(row["application"] == "workload" for row in results.runs[0].flows):
        from dumbbell.exceptions import ResultsError
        from dumbbell.results.statistics.slowdowns import transfer_summary  # imports polars

        with suppress(ResultsError):  # none began in the measured time
            title = f"{results.scenario.name}: transfers ({each})"
            output.print_summary(title, transfer_summary(results), every_row=every_row)
    if results.scenario.preset is not None and results.scenario.preset.is_evaluated:
        from dumbbell.results.statistics.responsiveness import test_summary  # imports polars

        title = f"{results.scenario.name}: round trips per minute ({each})"
        output.print_summary(title, test_summary(results), every_row=every_row)
