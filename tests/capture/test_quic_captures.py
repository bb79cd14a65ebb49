"""Captures with QUIC, read by `dumbbell analyze`: of the simulator, and of aioquic on the host's kernel."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Results, run
from dumbbell.kernel.host.link_emulation import LinkEmulation
from hosts import scenario
from kernels import one_flow
from required import require_packages, require_programs

SIZE = 300_000
POINTS = ["sender", "receiver"]


def analyzed(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the directions of the only UDP conversation, and its QUIC connection."""
    capture = dumbbell.read_capture(path)
    assert capture.flows.is_empty()
    (connection,) = capture.quic.to_dicts()
    directions = capture.udp.to_dicts()
    assert [d["conversation"] for d in directions] == [connection["conversation"]] * 2
    # Every frame was read, and belongs to the conversation.
    assert sum(d["packets"] for d in directions) == capture.total["packets"].sum()
    assert capture.total["errors"].sum() == 0
    return directions, connection


def same_as_tshark(path: Path, directions: list[dict[str, Any]]) -> None:
    """Compare the numbers of packets and bytes with tshark's, by direction."""
    require_programs("tshark")
    fields = [word for name in ("ip.src", "ip.len", "_ws.malformed") for word in ("-e", name)]
    done = subprocess.run(["tshark", "-r", path, "-T", "fields", *fields], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert not any(row[2] for row in rows)
    for found in directions:
        own = [int(row[1]) for row in rows if row[0] == found["src"]]
        # The simulator's frames begin with the IP header, as those of a TUN device do.
        assert (len(own), sum(own)) == (found["packets"], found["bytes"])


def point(results: Results, name: str) -> Path:
    return results.captures(0)[name]


def test_of_the_simulator(tmp_path: Path, cli: Callable[..., Any]) -> None:
    given = one_flow(
        "q", "4 s", rate="5 Mbit/s", limit="20 packets",
        capture=POINTS, flows=[{"name": "q", "transport": "quic", "variant": "cubic"}],
        network__access__delay="1 ms", network__bottleneck__delay="10 ms",
    )  # fmt: skip
    results = run(given, out=tmp_path)
    row = results.flows.row(0, named=True)
    directions, connection = analyzed(point(results, "sender"))
    assert (connection["version"], connection["client_direction"]) == ("1", 0)
    assert len({connection["client_cid"], connection["server_cid"]}) == 2
    # The server's first packet comes one round trip after the client's; the path has 24 ms and 2 ms of transmission.
    assert connection["server_rtt_ms"] == pytest.approx(26.3, abs=0.2)
    # The spin bit changes once per round trip, which queueing makes longer.
    assert row["rtt_min_ms"] < connection["client_spin_rtt_p50_ms"] < 1.2 * row["rtt_max_ms"]
    sent = directions[0]
    # `sent_packets` are those with payload: of the handshake, and with ACKs only, there are a few more.
    assert row["sent_packets"] <= sent["packets"] <= row["sent_packets"] + 10
    assert connection["client_short_packets"] + 5 >= sent["packets"]
    same_as_tshark(point(results, "sender"), directions)
    arrived = analyzed(point(results, "receiver"))[0][0]
    # Those in flight at the end are missing, besides those that the queue has dropped.
    in_flight = sent["packets"] - row["dropped_packets"] - arrived["packets"]
    assert 0 <= in_flight <= 20 + 5
    text = cli("analyze", point(results, "sender")).stdout
    assert f"{sum(d['packets'] for d in directions)} packets in " in text
    assert "\nQUIC\n" in text


@pytest.mark.usefixtures("require_link_emulation")
def test_of_aioquic_on_the_kernel(tmp_path: Path) -> None:
    require_packages("aioquic", "hypercorn")
    application = {"kind": "http", "version": 3, "size": f"{SIZE} bytes"}
    flow = {"name": "h3", "transport": "quic", "variant": "reno", "application": application}
    # Whole packets: the name of the server is in the client's Initial packet, which is decrypted.
    given = scenario(flows=[flow], duration="12 s", capture={"at": POINTS, "snaplen": "65535 bytes"})
    results = run(given, backend=LinkEmulation(calibration="off"), out=tmp_path)
    row = results.flows.row(0, named=True)
    assert row["transfers_completed"] == 1
    directions, connection = analyzed(point(results, "sender"))
    assert (connection["version"], connection["sni"], connection["alpn"]) == ("1", "server.test", "h3")
    client = directions[connection["client_direction"]]
    server = directions[1 - connection["client_direction"]]
    assert client["dst_port"] == 8443
    assert server["payload_bytes"] > SIZE  # retransmissions, of which a busy host has more, and headers
    same_as_tshark(point(results, "sender"), directions)
    assert server["packets"] > SIZE / 1200
