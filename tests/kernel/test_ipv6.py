"""Flows over IPv6: longer headers, addresses and captures, on each back end that has it, and refusals elsewhere."""

from __future__ import annotations

import struct
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

import pytest

from captures import blocks
from dumbbell import Scenario, _core, run
from dumbbell.backends import Job
from dumbbell.exceptions import BackendError, ScenarioError
from dumbbell.kernel.host import host_kernel
from dumbbell.kernel.host.backend import Kernel
from dumbbell.kernel.host.features import why_no_veth
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.uml.backend import Uml
from hosts import once, scenario
from kernels import bottleneck, flow
from required import require, require_programs

PING = {"kind": "ping", "interval": "100 ms", "packet": "100 bytes"}
ICMPV6, TCP = 58, 6


def packets(path: Path) -> list[tuple[int, bytes]]:
    """Return length and first bytes of the packets of a pcapng file, each from its IP header on."""
    found = []
    for body in (body for kind, body in blocks(path) if kind == 6):
        kept, whole = struct.unpack_from("<II", body, 12)
        found.append((whole, body[20 : 20 + kept]))
    return found


def test_a_full_packet_has_the_same_length_and_a_smaller_payload(tmp_path: Path) -> None:
    flows = [{"name": "f", "variant": "cubic", "ip": 6}, {"name": "p", "ip": 6, "application": PING}]
    given = scenario(duration="2 s", flows=flows, capture=["r1->r2"])
    results = run(given, out=tmp_path)
    captured = packets(results.captures(0)["r1->r2"])
    assert {packet[0] >> 4 for _, packet in captured} == {6}
    segments = [(length, packet) for length, packet in captured if packet[6] == TCP]
    # 40 bytes of IP, 20 of TCP, 12 of timestamps: the MSS of 1440 [RFC 9293 §3.7.1] without the timestamps.
    assert max(length for length, _ in segments) == 40 + 20 + 12 + 1428 == 1500
    _, syn = segments[0]
    assert bytes([2, 4]) + struct.pack(">H", 1440) in syn[60:]
    ends = IPv6Address(syn[8:24]), IPv6Address(syn[24:40])
    assert all(address in IPv6Network("2001:db8::/64") for address in ends)
    assert {packet[8:40] for _, packet in segments} == {syn[8:40]}  # the capture has one direction
    echoes = {(packet[40], length) for length, packet in captured if packet[6] == ICMPV6}
    assert echoes == {(128, 100)}
    analysis = _core.analyze([results.captures(0)["r1->r2"]])
    assert not analysis.damage
    row = flow(results)
    assert row["goodput_bps"] < 10e6 * 1428 / 1500 * 1.001
    assert row["goodput_bps"] > 0.9 * 10e6 * 1428 / 1500


def test_both_versions_share_a_network_and_an_mss_that_is_given_is_kept() -> None:
    stack = {"preset": "linux", "mss": "1460 bytes"}
    flows = [{"name": "four", "variant": "reno"}, {"name": "six", "variant": "reno", "ip": 6, "stack": stack}]
    given = scenario(duration="1 s", flows=flows)
    plan = Job(given.cells[0], 0, 1).plan()
    assert [f.get("ip") for f in plan["flows"]] == [None, 6]
    results = run(given)
    four, six = (flow(results, name) for name in ("four", "six"))
    for row in (four, six):  # whole segments of the same payload
        assert row["delivered_bytes"] % 1448 == 0 < row["delivered_bytes"]


def test_a_sweep_compares_the_versions() -> None:
    given = Scenario.from_dict({**scenario(duration="1 s").to_dict(), "sweep": {"flows.f.ip": [4, 6]}})
    delivered = [r.flows[0]["delivered_bytes"] for r in run(given).runs]
    assert [n % size for n, size in zip(delivered, (1448, 1428), strict=True)] == [0, 0]


def test_quic_packets_are_twenty_bytes_longer() -> None:
    def largest(ip: int) -> int:
        flows = [{"name": "f", "variant": "reno", "transport": "quic", "ip": ip, "stack": {"mtu_discovery": False}}]
        given = scenario(duration="1 s", flows=flows, trace={"series": ["departures"]})
        sizes: list[int] = run(given).table(0, "departures/r1->r2")["bytes"].to_list()
        return max(sizes)

    assert [largest(4), largest(6)] == [1200 + 28, 1200 + 48]


@pytest.mark.parametrize(("ip", "least"), [(4, 28), (6, 48)])
def test_a_datagram_has_its_headers(ip: int, least: int) -> None:
    def given(size: int) -> Scenario:
        application = {"kind": "cbr", "rate": "1 Mbit/s", "packet": f"{size} bytes"}
        return scenario(flows=[{"name": "c", "transport": "udp", "ip": ip, "application": application}])

    given(least)
    with pytest.raises(ScenarioError, match=f"at least {least} bytes"):
        given(least - 1)


@pytest.mark.parametrize(("ip", "shown"), [(5, "5"), ("6", "'6'"), (True, "true"), ([4, 6], "a list")])
def test_other_versions_are_refused(ip: object, shown: str) -> None:
    with pytest.raises(ScenarioError, match=rf"flows\.f\.ip: {shown} given: 4 or 6 is needed"):
        scenario(flows=[{"name": "f", "variant": "reno", "ip": ip}])


def test_back_ends_without_it_refuse_it_by_name() -> None:
    given = scenario(flows=[{"name": "f", "variant": "reno", "ip": 6}])
    with pytest.raises(BackendError, match=r"flows\.f\.ip: 6 given: the kernel in virtual time is built without IPv6"):
        run(given, backend=Uml())


def test_a_program_has_the_address_as_its_place_needs_it() -> None:
    ping = {"kind": "ping", "tool": "ping", "packet": "100 bytes"}
    http = {"kind": "http", "size": "1 kB"}
    flows = [
        {"name": "p", "ip": 6, "application": ping},
        {"name": "h", "variant": "reno", "ip": 6, "application": http},
    ]
    p, h = (f["application"] for f in Job(scenario(flows=flows).cells[0], 0, 1).plan()["flows"])
    assert p["client"]["command"][p["client"]["command"].index("-s") + 1] == "52"  # 100 - 40 - 8
    assert "http://{url_from}:8080/file" in h["client"]["command"]


@pytest.mark.usefixtures("require_link_emulation")
def test_the_hosts_kernel_runs_it_over_link_emulation(tmp_path: Path) -> None:
    flows: list[dict[str, Any]] = [
        {"name": "f", "variant": "reno", "ip": 6},
        {"name": "p", "ip": 6, "application": PING},
        {"name": "c", "transport": "udp", "ip": 6, "application": {"kind": "cbr", "rate": "0.5 Mbit/s"}},
    ]
    given = scenario(duration="2 s", flows=flows, capture=["r1->r2"])
    results = run(given, backend=LinkEmulation(calibration="mark"), out=tmp_path)
    row, ping, cbr = (flow(results, name) for name in ("f", "p", "c"))
    assert row["delivered_bytes"] > 0 and ping["pings_sent"] > 0 and cbr["delivered_bytes"] > 0
    captured = packets(results.captures(0)["r1->r2"])
    assert {packet[0] >> 4 for _, packet in captured} == {6}
    assert max(length for length, packet in captured if packet[6] == TCP) == 1500
    assert {str(IPv6Address(packet[8:24])) for _, packet in captured} == {f"2001:db8:1::{n}" for n in (1, 2, 3)}
    # The link counts each packet of IPv6 once.
    assert len(captured) == bottleneck(results)["arrivals"]
    assert results.runs[0].facts["calibration"][0]["rtt_ms"]["measured"] > 0


@pytest.mark.usefixtures("require_link_emulation")
def test_programs_talk_over_it() -> None:
    require_programs("iperf3", "curl", "ping")
    flows: list[dict[str, Any]] = [
        {"name": "i", "variant": "reno", "ip": 6, "application": {"kind": "iperf3"}},
        {"name": "h", "variant": "reno", "ip": 6, "application": {"kind": "http", "size": "100 kB"}},
        {"name": "p", "ip": 6, "application": {**PING, "tool": "ping", "count": 5}},
    ]
    results = once(scenario(flows=flows), calibration="off")
    i, h, p = (flow(results, name) for name in ("i", "h", "p"))
    programs = results.runs[0].facts["programs"]
    assert "2001:db8:2::1" in programs["i"]["client"]["command"]
    assert i["delivered_bytes"] >= programs["i"]["figures"]["delivered_bytes"] > 0
    assert i["cwnd_mean_packets"] > 0  # sampled by sock_diag: the sockets are the program's
    assert h["transfers_completed"] == 1
    assert p["pings_sent"] == 5


@pytest.mark.host_clock
def test_the_hosts_queue_disciplines_carry_it() -> None:
    require("host", why_no_veth())
    flows = [{"name": "f", "variant": "reno", "ip": 6}, {"name": "p", "ip": 6, "application": PING}]
    given = scenario(duration="2 s", flows=flows, network__bottleneck__delay="0 ms")
    results = run(given, backend=Kernel(emulation="tc", calibration="off"))
    row = flow(results)
    assert row["delivered_bytes"] > 0 and flow(results, "p")["pings_sent"] > 0
    assert results.runs[0].facts["link"]["strays"] == 0


def test_a_kernel_without_it_refuses_it_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_kernel, "why_no_ipv6", lambda: "this kernel has no IPv6 (it says why)")
    given = scenario(flows=[{"name": "f", "variant": "reno", "ip": 6}])
    with pytest.raises(BackendError, match=r"flows\.f\.ip: 6 given: this kernel has no IPv6"):
        LinkEmulation().check([Job(given.cells[0], 0, 1)])
