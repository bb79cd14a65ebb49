"""Scenarios of many flows: each flow has the links that it crosses, found in one pass."""

from __future__ import annotations

from dumbbell import Scenario


def test_each_flow_crosses_its_own_links_and_the_shared_one() -> None:
    access = {"rate": "1 Gbit/s", "delay": "1 ms"}
    scenario = Scenario(
        name="many",
        duration="1 s",
        network={"bottleneck": access, "access": access},
        flows=[{"name": f"f{n}", "variant": "cubic"} for n in range(1, 301)],
    )
    layout = scenario.layout
    names = [edge.name for edge in layout.drawing.edges]
    for n, crossed in enumerate(layout.crossed, 1):
        # Data from its sender over both routers to its receiver, and acknowledgments back.
        there = {f"s{n}->r1", "r1->r2", f"r2->d{n}"}
        back = {f"d{n}->r2", "r2->r1", f"r1->s{n}"}
        assert sorted(crossed) == crossed
        assert {names[edge] for edge in crossed} == there | back
    assert layout.base_rtt_ns == [6_000_000] * len(names)  # six links of 1 ms
