"""Workloads over QUIC: the transfers of TCP, handshakes, load, streams that share a connection, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from one_link import network
from test_workloads import one_flow

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.exceptions import ScenarioError
from dumbbell.scenario.layout.offered_load import wire_bytes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def over_quic(application: dict[str, Any], **changes: Any) -> Scenario:
    return one_flow(application, **changes).with_changes({"flows.w.transport": "quic"})


SIZES: list[Any] = [
    "imc10",
    {"distribution": "pareto", "mean": "20 kB", "shape": 1.5, "max": "1 MB"},
    {"distribution": "lognormal", "mean": "20 kB", "sigma": 1},
]


@pytest.mark.parametrize("connections", ["new", "reuse"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_tcp_and_quic_carry_the_same_transfers_to_their_ends(sizes: Any, connections: str) -> None:
    application = {"arrivals": {"rate": "100 /s"}, "sizes": sizes, "count": 200, "connections": connections}
    quic = over_quic(application, duration="20 s")
    tcp = quic.with_changes({"flows.w.transport": "tcp"})
    quic_results, tcp_results = dumbbell.run(quic), dumbbell.run(tcp)
    drawn = ["flow", "number", "start_s", "bytes"]
    assert quic_results.transfers.select(drawn).equals(tcp_results.transfers.select(drawn))
    for results in (quic_results, tcp_results):
        (row,) = results.runs[0].flows
        assert (row["transfers_started"], row["transfers_completed"]) == (200, 200)
        assert row["delivered_bytes"] == results.transfers["bytes"].sum()
        assert results.transfers["end_s"].null_count() == 0
        assert results.transfers["slowdown"].to_numpy().min() > 0.98


HANDSHAKES: list[tuple[dict[str, Any], int]] = [
    ({"stack": {"handshake": "1-rtt"}}, 1),
    ({"stack": {"handshake": "0-rtt"}}, 0),
    ({"stack": {"handshake": "none"}}, 0),
    ({"transport": "tcp"}, 1),
    ({"transport": "tcp", "tls": "1.3"}, 2),
    ({"transport": "tcp", "tls": "1.2"}, 3),
    ({"transport": "tcp", "tls": {"version": "1.3", "handshake": "early-data"}}, 1),
]


@pytest.mark.parametrize(("given", "trips"), HANDSHAKES, ids=str)
def test_a_new_connection_costs_the_round_trips_of_its_handshake(given: dict[str, Any], trips: int) -> None:
    """Over 10 Gbit/s, transmission is negligible: times are half round trips of 20 ms."""
    fast = network("10 Gbit/s", "10 ms", access="10 Gbit/s")
    for connections in ("new", "reuse"):
        application = {"arrivals": {"rate": "10 /s", "process": "constant"}, "sizes": "1 kB"}
        scenario = over_quic({**application, "connections": connections}, network=fast, duration="3 s")
        changes = {f"flows.w.{key}": value for key, value in given.items()}
        frame = dumbbell.run(scenario.with_changes(changes)).transfers.drop_nulls("took_s")
        took = frame["took_s"].to_numpy() / 0.020
        assert took[0] == pytest.approx(trips + 0.5, abs=0.01)
        # With "reuse", every later transfer leaves at once.
        later = trips + 0.5 if connections == "new" else 0.5
        assert took[1:] == pytest.approx(np.full(frame.height - 1, later), abs=0.01)
        # The shortest possible time has the same round trips.
        assert frame["slowdown"].to_numpy() == pytest.approx(np.ones(frame.height), abs=0.02)


@pytest.mark.parametrize(("connections", "preset"), [("new", "rfc9002"), ("new", "aioquic"), ("reuse", "rfc9002")])
def test_the_offered_load_is_on_the_link(connections: str, preset: str) -> None:
    """Over 100 s, packets with data take the share of the link that was asked for, within 1 %."""
    application = {"arrivals": {"load": 0.6, "process": "constant"}, "sizes": "20 kB", "connections": connections}
    scenario = over_quic(application, duration="100 s", network=network(delay="1 ms")).with_changes(
        {"flows.w.stack": preset}
    )
    results = dumbbell.run(scenario)
    (row,) = results.runs[0].flows
    assert row["transfers_started"] - row["transfers_completed"] <= 1
    # IP and UDP take 28 bytes; first byte, ID, number and tag 27, the frame 8.
    data = row["sent_bytes"] + row["sent_packets"] * (28 + 27 + 8)
    assert data * 8 / 100 == pytest.approx(6e6, rel=0.01)
    offered = results.transfers.height * wire_bytes(scenario.single_flows[0]) * 8 / 100
    assert offered == pytest.approx(6e6, rel=0.01)
    link = next(queue for queue in results.runs[0].queues if queue["name"] == "r1->r2")
    if connections == "reuse":
        assert link["throughput_bps"] == pytest.approx(6e6, rel=0.01)
    else:  # the handshakes come on top
        assert link["throughput_bps"] > 1.05 * 6e6


def test_streams_of_one_connection_share_it_equally() -> None:
    """M/G/1 with processor sharing [Kleinrock 1976, section 4.4]: a mean slowdown of 1 / (1 - load).

    The server is the sender, which takes a packet of each stream in turn: flow control keeps the queue of the link
    short. Small transfers differ by the data in flight, 15 kB, behind which they wait.
    """
    application = {
        "arrivals": {"load": 0.6},
        "sizes": {"distribution": "pareto", "mean": "25 kB", "shape": 1.5, "max": "500 kB"},
        "connections": "reuse",
    }
    scenario = over_quic(application, duration="300 s", network=network(delay="100 us", access="10 Gbit/s"))
    stack = {"handshake": "none", "window": "15 kB"}
    frame = dumbbell.run(scenario.with_changes({"flows.w.stack": stack})).transfers.drop_nulls("slowdown")
    assert frame["connection"].unique().to_list() == [1]
    for low, high in ((20_000, 60_000), (60_000, 600_000)):
        part = frame.filter((pl.col("bytes") > low) & (pl.col("bytes") <= high))
        assert part["slowdown"].mean() == pytest.approx(2.5, rel=0.10), (low, high, part.height)


def test_the_example_compares_the_transports() -> None:
    results: Results = dumbbell.run(Scenario.load(EXAMPLES / "quic-transfers.toml", {"duration": "10 s"}))
    table = results.slowdowns(metric="took_s").filter((pl.col("size") == "all") & (pl.col("statistic") == "median"))
    took = dict(zip(table["flow"], table["value"], strict=True))
    assert set(took) == {"tcp with tls", "quic", "quic resumed", "quic streams"}
    # Round trips before the data: TCP and TLS 1.3 two, QUIC one, resumed none.
    assert took["tcp with tls"] > took["quic"] > took["quic resumed"] > took["quic streams"]


def test_a_workload_has_no_qlog_files() -> None:
    scenario = over_quic({"arrivals": {"rate": "10 /s"}, "sizes": "10 kB"})
    with pytest.raises(ScenarioError, match="videos, pages of objects and workloads are quic, which have none"):
        scenario.with_changes({"capture": {"qlog": "draft"}})
