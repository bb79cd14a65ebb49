"""The memory of a guest: for the packets that its flows' bottlenecks can carry."""

from __future__ import annotations

from dumbbell.kernel.uml.backend import bottleneck_packets, packets_of
from dumbbell.plan.build import build
from kernels import one_flow

SLOW = one_flow(
    "memory", "120 s", rate="1 Mbit/s", limit="20 packets",
    flows=[{"name": "a", "variant": "reno", "count": 3}], network__access__rate="1 Gbit/s",
)  # fmt: skip


def test_flows_over_one_bottleneck_count_it_once() -> None:
    plan = build(SLOW)
    # 1e6 x 120 / 12000 = 10,000 packets of 1500 bytes, four times; the access links have a thousand times as many.
    assert bottleneck_packets(plan) == 4 * 10_000
    assert packets_of(plan) > 100 * bottleneck_packets(plan)


def test_each_slow_link_between_two_hosts_counts_for_its_flows() -> None:
    plan = build(SLOW.with_changes({"network.access.rate": "1 Mbit/s"}))
    # Links of one rate: three flows cross three links each, and no more than three bottlenecks limit them.
    assert bottleneck_packets(plan) == 3 * 4 * 10_000
