"""Plans of each topology."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dumbbell import Scenario
from dumbbell.plan.build import build
from dumbbell.scenario.network.routes import Routes

LINK = {"rate": "1 Mbit/s", "delay": "10 ms"}
ACCESS = {"rate": "10 Mbit/s", "delay": "1 ms"}


def plan_of(scenario: Scenario) -> dict[str, Any]:
    (cell,) = scenario.cells
    return build(cell.scenario)


def links_of(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    for link in plan["links"]:
        assert link["name"] == f"{plan['nodes'][link['from']]}->{plan['nodes'][link['to']]}"
    return {link["name"]: link for link in plan["links"]}


def ends_of(plan: dict[str, Any]) -> list[tuple[str, str]]:
    return [(plan["nodes"][f["from"]], plan["nodes"][f["to"]]) for f in plan["flows"]]


def flows(*more: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"f{n}", "variant": "reno", **m} for n, m in enumerate(more)]


def test_dumbbell(base: Scenario) -> None:
    plan = plan_of(base)
    assert plan["nodes"] == ["s1", "r1", "r2", "d1"]
    assert list(links_of(plan)) == ["r1->r2", "r2->r1", "s1->r1", "r1->s1", "r2->d1", "d1->r2"]
    assert ends_of(plan) == [("s1", "d1"), ("r1", "r2")]
    assert links_of(plan)["r1->r2"] == {
        "name": "r1->r2",
        "from": 1,
        "to": 2,
        "rate_bps": 2_000_000,
        "delay_ns": 10_000_000,
        "overhead_bytes": 0,
        "base_rtt_ns": 40_000_000,  # 2 x (5 + 10 + 5) ms
        "queue": {"name": "droptail", "params": {"limit": "10 packets"}},
        "drops": [],
    }
    assert plan["flows"][0] == {
        "name": "tcp",
        "from": 0,
        "to": 3,
        "start_ns": 0,
        "stop_ns": None,
        "class": 0,
        "application": {"kind": "bulk"},
        "transport": {
            "kind": "tcp",
            "variant": {"name": "newreno", "params": {}},
            "stack": {"name": "ns2", "params": {}},
        },
    }
    assert plan["flows"][1]["transport"] == {"kind": "udp"}
    assert plan["flows"][1]["application"] == {
        "kind": "cbr",
        "rate_bps": 1_000_000,
        "packet_bytes": 1000,
        "jitter": 0.0,
        "phase_ns": None,
    }
    assert (plan["duration_ns"], plan["measure_from_ns"], plan["start_jitter_ns"]) == (2 * 10**9, 0, 10**8)


def test_pairs_and_named_hosts(changed: Callable[..., Scenario]) -> None:
    given_flows = flows({}, {"from": "s1", "to": "d3"}, {}, {"direction": "reverse"}, {"at": "routers"})
    plan = plan_of(changed({"flows": given_flows}))
    # f1 takes s1 and d3, so the pairs 1 and 3 belong to no flow alone.
    assert ends_of(plan) == [("s2", "d2"), ("s1", "d3"), ("s4", "d4"), ("d5", "s5"), ("r1", "r2")]
    plan = plan_of(changed({"network.pairs": 3}))
    assert plan["nodes"] == ["s1", "s2", "s3", "r1", "r2", "d1", "d2", "d3"]


def test_access_of_one_flow(changed: Callable[..., Scenario]) -> None:
    own = {"delay": "50 ms", "reverse": {"rate": "1 Mbit/s"}}
    links = links_of(plan_of(changed({"flows": flows({"access": own}, {})})))
    assert (links["s1->r1"]["delay_ns"], links["s1->r1"]["rate_bps"]) == (50_000_000, 10_000_000)
    assert (links["r1->s1"]["delay_ns"], links["r1->s1"]["rate_bps"]) == (50_000_000, 1_000_000)
    assert links["d1->r2"]["rate_bps"] == 1_000_000
    assert links["s2->r1"]["delay_ns"] == 5_000_000
    # The largest base RTT counts: 2 x (50 + 10 + 50) ms.
    assert links["r1->r2"]["base_rtt_ns"] == links["r2->r1"]["base_rtt_ns"] == 220_000_000
    assert links["s2->r1"]["base_rtt_ns"] == 40_000_000


def test_reverse_inherits_the_link_but_not_its_impairments(changed: Callable[..., Scenario]) -> None:
    impaired: dict[str, Any] = {
        **LINK,
        "queue": "red",
        "overhead": "14 bytes",
        "loss": "1 %",
        "jitter": "2 ms",
        "drops": [{"flow": "tcp", "packets": [3, 1], "count": "all"}, {"from": "1 s", "to": "2 s"}],
    }
    links = links_of(plan_of(changed({"network.bottleneck": impaired})))
    there, back = links["r1->r2"], links["r2->r1"]
    for key in ("rate_bps", "delay_ns", "queue", "overhead_bytes"):
        assert there[key] == back[key]
    assert (there["loss"], there["jitter"]) == (0.01, {"distribution": "uniform", "max_ns": 2_000_000})
    assert there["drops"] == [
        {"flow": 0, "data_only": False, "packets": [1, 3], "spans_ns": []},
        {"flow": None, "data_only": True, "packets": [], "spans_ns": [[10**9, 2 * 10**9]]},
    ]
    assert (back.get("loss"), back.get("jitter"), back["drops"]) == (None, None, [])
    impaired["reverse"] = {"loss": "2 %", "queue": "droptail", "rate": "3 Mbit/s"}
    back = links_of(plan_of(changed({"network.bottleneck": impaired})))["r2->r1"]
    assert (back["loss"], back["queue"]["name"], back["rate_bps"]) == (0.02, "droptail", 3_000_000)
    assert back["overhead_bytes"] == 14


def test_drops_of_a_flow_go_to_the_links_that_it_crosses(changed: Callable[..., Scenario]) -> None:
    access = {**ACCESS, "drops": [{"flow": "f1", "packets": [1]}]}
    links = links_of(plan_of(changed({"flows": flows({}, {}), "network.access": access})))
    assert {name for name, link in links.items() if link["drops"]} == {"s2->r1", "r2->d2"}


def test_chain(changed: Callable[..., Scenario]) -> None:
    network = {"topology": "chain", "hops": 3, "bottleneck": LINK, "access": ACCESS}
    plan = plan_of(changed({"network": network}))
    assert plan["nodes"] == ["s1", "r1", "r2", "r3", "r4", "d1"]
    assert ends_of(plan) == [("s1", "d1"), ("r1", "r4")]
    assert links_of(plan)["r2->r3"]["base_rtt_ns"] == 2 * (1 + 30 + 1) * 10**6
    one_by_one = {"topology": "chain", "bottlenecks": [LINK, {**LINK, "rate": "5 Mbit/s"}], "access": ACCESS}
    links = links_of(plan_of(changed({"network": one_by_one})))
    assert (links["r1->r2"]["rate_bps"], links["r3->r2"]["rate_bps"]) == (1_000_000, 5_000_000)


def test_parking_lot(changed: Callable[..., Scenario]) -> None:
    network = {"topology": "parking-lot", "hops": 3, "bottleneck": LINK, "access": ACCESS}
    cross = [{}, {"leave": "r2"}, {"enter": "r2", "leave": "r3"}, {"enter": "r3", "at": "routers"}]
    plan = plan_of(changed({"network": network, "flows": flows(*cross)}))
    links = links_of(plan)
    assert {"s2->r1", "r2->d2", "s3->r2", "r3->d3", "s1->r1", "r4->d1"} <= set(links)
    assert ends_of(plan) == [("s1", "d1"), ("s2", "d2"), ("s3", "d3"), ("r3", "r4")]
    assert links["s3->r2"]["base_rtt_ns"] == 2 * (1 + 10 + 1) * 10**6


def test_custom(changed: Callable[..., Scenario]) -> None:
    network = {
        "topology": "custom",
        "nodes": ["a", "b", "c"],
        "links": [{"from": "a", "to": "b", **LINK}, {"from": "b", "to": "c", **LINK, "reverse": {"delay": "100 ms"}}],
    }
    given_flows = flows({"from": "a", "to": "c"}, {"from": "c", "to": "b"})
    plan = plan_of(changed({"network": network, "flows": given_flows}))
    links = links_of(plan)
    assert list(links) == ["a->b", "b->a", "b->c", "c->b"]
    assert links["b->c"]["base_rtt_ns"] == (10 + 10 + 100 + 10) * 10**6
    assert ends_of(plan) == [("a", "c"), ("c", "b")]


@given(st.data())
def test_routes_are_shortest(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(2, 7))
    node = st.integers(0, nodes - 1)
    edges = data.draw(st.lists(st.tuples(node, node).filter(lambda e: e[0] != e[1]), max_size=20))
    start, end = data.draw(st.tuples(node, node))
    # Bellman-Ford over hops.
    far = nodes + 1
    distance = [0 if n == start else far for n in range(nodes)]
    for _ in range(nodes):
        for a, b in edges:
            distance[b] = min(distance[b], distance[a] + 1)
    path = Routes(nodes, edges).path(start, end)
    if path is None:
        assert distance[end] >= far
        return
    assert len(path) == distance[end]
    at = start
    for edge in path:
        assert edges[edge][0] == at
        at = edges[edge][1]
    assert at == end
