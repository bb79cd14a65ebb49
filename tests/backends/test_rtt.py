"""The RTT is the delay of the network: of a lone flow it is that of the idle path, the queue and the delayed ACK."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.plots.catalog import make

Floats = npt.NDArray[np.float64]

FULL = 1500
"""IP bytes of a full packet, which `idle_rtt_ms` assumes."""
SACK_OPTION = 32
"""Bytes by which an ACK with three SACK blocks exceeds the ACK that `idle_rtt_ms` assumes."""
DELAYED_ACK_MS = 200
"""`ack_delay` of the stacks used here: the longest time for which a receiver waits for a second segment."""
VARIANTS = ("tahoe", "reno", "newreno", "sack", "cubic", "vegas", "westwood", "bbr1")
QUEUES = ("droptail", "red", "codel", "fq_codel", "pie", "sfq", "cake", "fq_pie")
LIMITED = ("droptail", "red")
EXACT = 1e-6
"""Times are whole nanoseconds; ms."""


def lone_flow(
    variant: str, stack: Any, queue: str, rate_mbps: int = 10, limit: str = "40 ms", **changes: Any
) -> Results:
    """Run one flow between two routers: the bottleneck is the only queue on its path."""
    flow = {"name": "a", "variant": variant, "stack": stack, "at": "routers"}
    options = {"limit": limit} if queue in LIMITED else {}
    bottleneck = {"rate": f"{rate_mbps} Mbit/s", "delay": "20 ms", "queue": {"discipline": queue, **options}}
    document = {"name": "lone", "duration": "10 s", "repetitions": 1, "flows": [flow], **changes}
    return dumbbell.run(Scenario(**document, network={"bottleneck": bottleneck}), trace=True)


def beyond_path_and_queue(results: Results, rate_mbps: int = 10) -> Floats:
    """Return each RTT sample less the idle RTT less the time that its packet waited in the queue, ms.

    A packet enters the queue at the time at which it is sent. Of packets sent at the same time, a sample takes the
    longest wait that it can contain.
    """
    idle = results.flows["idle_rtt_ms"][0]
    departures = results.table(0, "departures/r1->r2").filter((pl.col("flow") == 0) & (pl.col("bytes") > 100))
    rows = departures.select(pl.col("t_ns") - pl.col("sojourn_ns"), "sojourn_ns", "bytes").iter_rows()
    sent: dict[int, list[float]] = {}
    for at, sojourn, size in rows:
        sent.setdefault(at, []).append(sojourn * 1e-6 + idle - 8e-3 * (FULL - size) / rate_mbps)
    samples = results.table(0, "rtt/a")
    beyond = []
    for at, rtt in samples.select(pl.col("t_ns") - pl.col("rtt_ns"), pl.col("rtt_ns") * 1e-6).iter_rows():
        explained = max((e for e in sent[at] if e <= rtt + EXACT), default=max(sent[at]))
        sent[at].remove(explained)
        beyond.append(rtt - explained)
    return np.array(beyond)


@pytest.mark.parametrize("seed", range(8))
def test_each_sample_is_path_queue_and_delayed_ack(seed: int) -> None:
    draw = random.Random(seed)
    for variant in VARIANTS:
        queue, rate = draw.choice(QUEUES), draw.choice((2, 10, 40))
        stack = {"preset": draw.choice(("rfc", "linux")), "ack_every": draw.choice((1, 2)), "sack_delay": "0 ms"}
        limit = draw.choice(("10 ms", "40 ms", "100 ms"))
        results = lone_flow(variant, stack, queue, rate, limit, seed=seed, start_jitter="20 ms")
        beyond = beyond_path_and_queue(results, rate)
        label = f"{variant}, {stack}, {queue}, {rate} Mbit/s, {limit}"
        assert len(beyond) > 100, label
        longest = 8e-3 * SACK_OPTION / rate + (DELAYED_ACK_MS if stack["ack_every"] == 2 else 0)
        assert -EXACT <= beyond.min() <= beyond.max() <= longest + EXACT, label
        # A delayed ACK waits for the next packet, and for its timer only where a window ends.
        assert np.median(beyond) <= 1.1 * 8e-3 * FULL / rate, label


@pytest.mark.parametrize("stack", ["rfc", "linux"])
@pytest.mark.parametrize("variant", ["cubic", "newreno"])
def test_cubic_over_red_shows_the_wait_in_the_queue(variant: str, stack: str) -> None:
    # 10 Mbit/s, 40 ms, a queue of at most 40 ms: idle path, mean wait, half a packet time of delayed ACKs.
    results = lone_flow(variant, stack, "red", duration="60 s")
    flow = results.flows.row(0, named=True)
    queue = results.queues.filter(name="r1->r2").row(0, named=True)
    assert flow["retransmitted_packets"] > 20
    assert flow["rtt_excess_ms"] - queue["mean_sojourn_ms"] == pytest.approx(0.6, abs=0.6)
    assert flow["rtt_p95_ms"] - flow["idle_rtt_ms"] <= queue["p99_sojourn_ms"] + 1.2
    # The time to the cumulative ACK includes the repairs.
    assert flow["ack_delay_mean_ms"] > flow["rtt_mean_ms"] + 1
    assert flow["ack_delay_first_mean_ms"] > flow["ack_delay_mean_ms"]
    assert flow["ack_delay_min_ms"] == flow["rtt_min_ms"]


def test_without_losses_both_are_equal() -> None:
    flow = lone_flow("vegas", "rfc", "droptail").flows.row(0, named=True)
    assert flow["retransmitted_packets"] == 0
    for statistic in ("mean", "min", "p50", "p95", "p99", "max"):
        assert flow[f"rtt_{statistic}_ms"] == flow[f"ack_delay_{statistic}_ms"]


def test_table_series_and_figure_agree() -> None:
    results = lone_flow("cubic", "linux", "droptail")
    flow = results.flows.row(0, named=True)
    rtt = results.series(0, "rtt", flow="a")
    assert rtt["rtt"].mean() == pytest.approx(flow["rtt_mean_ms"])
    assert (rtt["rtt"].min(), rtt["rtt"].max()) == pytest.approx((flow["rtt_min_ms"], flow["rtt_max_ms"]))
    assert results.series(0, "rtt").columns == ["time_s", "rtt", "flow"]
    (panel,) = make(results, "rtt").panels
    assert panel.y_label == "RTT, ms"
    assert float(panel.curves[0].y.mean()) == pytest.approx(flow["rtt_mean_ms"])
    (smoothed,) = make(results, "srtt").panels
    assert smoothed.y_label == "srtt, ms"


@pytest.mark.usefixtures("require_uml")
@pytest.mark.parametrize("variant", ["cubic", "reno"])
def test_linux_measures_the_same(variant: str) -> None:
    bottleneck = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"discipline": "droptail", "limit": "1 bdp"}}
    network = {"bottleneck": bottleneck, "access": {"rate": "100 Mbit/s", "delay": "0 ms"}}
    flow = {"name": "a", "variant": variant, "stack": "linux-tuned"}
    scenario = Scenario(name="same", duration="20 s", repetitions=1, network=network, flows=[flow])
    simulator, linux = (dumbbell.run(scenario, backend=b, trace=True) for b in ("sim", "uml"))
    assert simulator.flows["retransmitted_packets"][0] > 10
    columns = [c for c in simulator.flows.columns if c.startswith(("rtt_", "ack_delay_"))]
    assert len(columns) == 14  # six statistics of both, rtt_excess_ms, ack_delay_first_mean_ms
    for column in columns:
        assert linux.flows[column][0] == pytest.approx(simulator.flows[column][0], abs=0.02), column
    mine, theirs = (results.table(0, "rtt/a")["rtt_ns"].to_numpy() for results in (simulator, linux))
    assert len(mine) == len(theirs)
    # A delayed-ACK timer may end at another packet: it changes a few samples by two packet times at most.
    apart = np.abs(mine.astype(np.int64) - theirs.astype(np.int64))
    assert np.mean(apart < 1000) > 0.999
    assert apart.max() <= 2_401_000
