"""TLS of TCP flows in scenarios: plan, errors, results, back ends that refuse it."""

from __future__ import annotations

from typing import Any

import pytest
from one_link import one_link

from dumbbell import DumbbellError, Scenario, ScenarioError, run
from dumbbell.plan.build import build
from dumbbell.results.runs.derived_columns import idle_paths

CBR = {"kind": "cbr", "rate": "1 Mbit/s"}


def scenario(**flow: Any) -> Scenario:
    return one_link({"name": "a", "variant": "newreno", **flow}, duration="5 s")


def test_the_plan_has_the_version_and_its_changes_only_where_given() -> None:
    assert "tls" not in build(scenario())["flows"][0]["transport"]
    for given, name, params in (
        ("1.3", "1.3", {}),
        ({"version": "1.2", "handshake": "resumed"}, "1.2", {"handshake": "resumed"}),
    ):
        assert build(scenario(tls=given))["flows"][0]["transport"]["tls"] == {"name": name, "params": params}
    again = Scenario.from_toml(scenario(tls={"version": "1.3", "record": "4096 bytes"}).to_toml())
    assert again.flows[0].tls is not None
    assert again.flows[0].tls.params == {"record": "4096 bytes"}


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"tls": "1.1"}, r"flows\.a\.tls: unknown TLS version '1.1'"),
        ({"tls": {"version": "1.3", "record": "20 kB"}}, r"tls\.record: 20000 bytes given: 1 to 16384 bytes"),
        ({"tls": {"version": "1.2", "handshake": "early-data"}}, r"tls\.handshake: .*full"),
        ({"tls": {"handshake": "full"}}, r"tls\.version: needed"),
        ({"tls": "1.3", "transport": "quic"}, r"tls: a quic flow has TLS 1.3 already"),
        ({"tls": "1.3", "application": {"kind": "iperf3"}}, r"tls: 'iperf3' runs real programs"),
        ({"tls": "1.3", "transport": "udp", "variant": None, "application": CBR}, "tls: a udp flow has none"),
    ],
)
def test_wrong_values_are_refused(flow: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario(**flow)


def test_the_kernel_back_ends_refuse_tls() -> None:
    with pytest.raises(DumbbellError, match=r"flows\.a\.tls: the kernel's flows have no TLS: back end 'sim' runs it"):
        run(scenario(tls="1.3", variant="cubic"), backend="uml")


def test_the_best_time_of_a_transfer_has_the_sizes_and_round_trips_of_its_transport() -> None:
    def path(**flow: Any) -> tuple[int, int, int]:
        p = idle_paths(scenario(**flow).cells[0])["a"]
        return p.packet_bytes, p.header_bytes, p.handshake_rtts

    assert path() == (1500, 52, 1)
    assert path(stack={"preset": "rfc", "timestamps": False, "handshake": False}) == (1500, 40, 0)
    assert path(tls="1.2") == (1500, 52, 3)
    assert path(tls={"version": "1.3", "handshake": "early-data"}) == (1500, 52, 1)
    # 28 + 1 + 8 + 2 + 16 + 8: the payload of a full datagram is the column snd_mss_bytes of the results.
    assert path(transport="quic") == (1480, 63, 1)
    assert path(transport="quic", stack={"handshake": "0-rtt"}) == (1480, 63, 0)
    transfer = {"kind": "transfer", "size": "2 MB"}
    for flow in ({}, {"tls": "1.3"}, {"transport": "quic"}, {"transport": "quic", "stack": {"handshake": "0-rtt"}}):
        results = run(scenario(application=transfer, **flow))
        payload = results.flows["snd_mss_bytes"][0]
        sizes = path(**flow)
        assert payload == sizes[0] - sizes[1]
        # The slow start takes some round trips of 40 ms; 2 MB take 1.66 s at least.
        assert 1 <= results.transfers["slowdown"][0] < 1.25
