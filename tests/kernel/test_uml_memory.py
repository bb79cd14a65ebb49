"""The memory of a guest: for the packets that its flows' bottlenecks can carry."""

from __future__ import annotations

from dumbbell import Scenario
from dumbbell.kernel.uml.backend import bottleneck_packets, packets_of
from dumbbell.plan.build import build

BASE = """
name = "memory"
duration = "120 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "1 Mbit/s", delay = "10 ms", queue = { discipline = "droptail", limit = "20 packets" } }
access = { rate = "1 Gbit/s", delay = "0 ms" }

[[flows]]
name = "a"
variant = "reno"
count = 3
"""


def test_flows_over_one_bottleneck_count_it_once() -> None:
    plan = build(Scenario.from_toml(BASE))
    # 1e6 x 120 / 12000 = 10,000 packets of 1500 bytes, four times; the access links have a thousand times as many.
    assert bottleneck_packets(plan) == 4 * 10_000
    assert packets_of(plan) > 100 * bottleneck_packets(plan)


def test_each_slow_link_between_two_hosts_counts_for_its_flows() -> None:
    plan = build(Scenario.from_toml(BASE, {"network.access.rate": "1 Mbit/s"}))
    # Links of one rate: three flows cross three links each, and no more than three bottlenecks limit them.
    assert bottleneck_packets(plan) == 3 * 4 * 10_000
