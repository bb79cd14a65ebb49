"""More than 10,000 connections at a time in one workload: every transfer is counted, with bounded memory."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import Scenario
from kernels import one_flow
from memory import growth_kib, peak_kib

TRANSFERS = 10_500
RUN = """
from test_many_connections import scenario
import dumbbell

results = dumbbell.run(scenario(*sys.argv[1:]), jobs=1)
assert results.runs[0].flows[0]["transfers_completed"] == 10_500
"""


def scenario(transport: str, rate: str = "30000 /s", delay: str = "1 s") -> Scenario:
    """10,500 transfers of 1 kB; the round trip takes twice the delay."""
    transfers = {"kind": "workload", "arrivals": {"rate": rate}, "sizes": "1 kB", "count": TRANSFERS}
    return one_flow(
        "many connections", "8 s", rate="10 Gbit/s", limit="100000 packets",
        flows=[{"name": "w", "variant": "cubic", "transport": transport, "application": transfers}],
        network__access__rate="100 Gbit/s", network__bottleneck__delay=delay,
    )  # fmt: skip


def most_at_once(frame: pl.DataFrame) -> int:
    """The largest number of transfers under way at a time."""
    begun, ended = np.sort(frame["start_s"].to_numpy()), np.sort(frame["end_s"].to_numpy())
    return int((np.arange(1, begun.size + 1) - np.searchsorted(ended, begun)).max())


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_every_transfer_is_counted_in_any_number_of_threads(transport: str) -> None:
    one = dumbbell.run(scenario(transport), jobs=1)
    two = dumbbell.run(scenario(transport).with_changes({"repetitions": 2}), jobs=2)
    frame = one.transfers
    assert frame.equals(two.transfers.filter(two.transfers["repetition"] == 0))
    assert one.runs[0].flows == two.runs[0].flows != two.runs[1].flows
    assert most_at_once(frame) == TRANSFERS
    assert frame["number"].to_list() == list(range(TRANSFERS))
    assert frame["connection"].to_list() == list(range(1, TRANSFERS + 1))
    (row,) = one.runs[0].flows
    assert (row["transfers_started"], row["transfers_completed"]) == (TRANSFERS, TRANSFERS)
    assert row["delivered_bytes"] == 1000 * TRANSFERS
    # Handshake and data: one and a half round trips. 30,000 packets a second take 3 % of 10 Gbit/s.
    assert frame["took_s"].to_numpy() == pytest.approx(np.full(TRANSFERS, 3.0), rel=1e-3)


@pytest.mark.parametrize(("transport", "kib"), [("tcp", 8), ("quic", 24)])
def test_memory_is_bounded_by_the_connections_at_a_time(transport: str, kib: int) -> None:
    """A connection takes a few KiB while it is open; those of transfers one after the other are freed."""
    limit = TRANSFERS * kib
    few, many = (transport, "3000 /s", "1 ms"), (transport, "30000 /s", "1 s")
    grown = growth_kib(lambda: peak_kib(RUN, *few), lambda: peak_kib(RUN, *many), limit)
    assert TRANSFERS < grown < limit
