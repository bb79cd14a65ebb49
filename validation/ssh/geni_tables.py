"""Tables of the study geni-fairness between machines that are reached over SSH, beside the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import polars as pl

from dumbbell.report.tables import Table
from dumbbell.results import Results

__all__ = ["tables"]

STARTS = "the machines may have started"
"""Beginning of the sentence about starts that are too far apart."""
MBIT = 1e-6
WORDS = ("simulator", "machines")


def tables(simulated: Mapping[str, Results], measured: Mapping[str, Results]) -> dict[str, Table]:
    """Return the tables by their names: throughputs alone and in pairs, and how the runs were made."""
    day = f"Measured on {datetime.now(UTC):%Y-%m-%d}"
    both = (simulated, measured)
    return {
        "geni-alone": _alone([results["part1"] for results in both], day),
        "geni-pairs": _pairs([results["pairs"] for results in both], day),
        "geni-runs": _runs(measured, day),
    }


def _means(results: Results, keys: list[str], column: str, scale: float) -> dict[tuple[object, ...], float]:
    """Return the mean of a column of flows by keys."""
    grouped = results.flows.group_by(keys, maintain_order=True).agg(pl.col(column).mean() * scale)
    return {tuple(row[:-1]): row[-1] for row in grouped.iter_rows()}


def _text(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _alone(both: list[Results], day: str) -> Table:
    keys = ["network.hops", "flows.iperf.variant", "name"]
    goodput = [_means(results, keys, "goodput_bps", MBIT) for results in both]
    pings = [_means(results, keys, "rtt_mean_ms", 1.0) for results in both]
    cells = dict.fromkeys(key[:2] for key in goodput[0])
    columns = ["hops", "variant"]
    columns += [f"{what}, {word}" for what in ("goodput (Mbit/s)", "RTT of the ping (ms)") for word in WORDS]
    rows = []
    for cell in cells:
        row = [str(value) for value in cell]
        row += [_text(of[*cell, "iperf"], 1) for of in goodput]
        row += [_text(of[*cell, "ping"], 2) for of in pings]
        rows.append(row)
    return Table(columns, rows, day)


def _pairs(both: list[Results], day: str) -> Table:
    keys = ["flows.first.variant", "flows.second.variant", "name"]
    goodput = [_means(results, keys, "goodput_bps", MBIT) for results in both]
    columns = ["first flow", "second flow"]
    columns += [f"{name} (Mbit/s), {word}" for name in ("first", "second") for word in WORDS]
    rows = []
    for cell in dict.fromkeys(key[:2] for key in goodput[0]):
        values = [_text(of[*cell, name], 1) for name in ("first", "second") for of in goodput]
        rows.append([*map(str, cell), *values])
    return Table(columns, rows, day)


def _runs(measured: Mapping[str, Results], day: str) -> Table:
    rows = []
    for name, results in measured.items():
        late = sorted(run.facts["link"]["late_p99_ms"] for run in results.runs)
        marks = [run.facts["invalid"] for run in results.runs]
        apart = sum(any(sentence.startswith(STARTS) for sentence in of_run) for of_run in marks)
        path = sum(any(not sentence.startswith(STARTS) for sentence in of_run) for of_run in marks)
        counts = [len(marks), sum(not of_run for of_run in marks), path, apart]
        rows.append([name, *map(str, counts), f"{late[len(late) // 2]:.2f}", f"{late[-1]:.2f}"])
    columns = ["experiment", "runs", "without a mark", "path measured slower", "starts more than 5 ms apart"]
    columns += ["late p99 (ms), median", "late p99 (ms), largest"]
    return Table(columns, rows, day)
