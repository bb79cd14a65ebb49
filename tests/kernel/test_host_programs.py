"""Real programs on the host's own kernel: their output, and their congestion control."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell import run
from dumbbell.backends import Job
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.features import available_variants, bpf_variants
from dumbbell.kernel.programs import program_outputs
from dumbbell.kernel.uml.backend import Uml
from hosts import once, scenario
from kernels import flow
from required import require, require_programs

pytestmark = pytest.mark.usefixtures("require_link_emulation")


def test_programs_run_and_their_output_is_read() -> None:
    shown = "echo {from} {to} {seconds} $(cat /proc/sys/net/ipv4/tcp_congestion_control)"
    applications: dict[str, dict[str, Any]] = {
        "i": {"kind": "iperf3"},
        "h": {"kind": "http", "size": "200 kB", "repeat": 2},
        "c": {"kind": "command", "client": ["sh", "-c", shown]},
    }
    flows = [{"name": name, "variant": "reno", "application": each} for name, each in applications.items()]
    require_programs("iperf3", "curl")
    results = once(scenario(flows=flows, trace={"series": ["flows"]}), calibration="off", allow_programs="on")
    i, h = flow(results, "i"), flow(results, "h")
    programs = results.runs[0].facts["programs"]
    figures = programs["i"]["figures"]
    assert figures["congestion"] == "reno"
    assert i["delivered_bytes"] >= figures["delivered_bytes"] > 500_000  # its control connection sends a little too
    # iperf3 doesn't count the packets in flight when it stops: up to a window, 34 + 33 packets here.
    assert i["delivered_bytes"] == pytest.approx(figures["delivered_bytes"], abs=80 * 1448)
    assert i["retransmitted_packets"] == pytest.approx(figures["retransmits"], abs=2)
    assert i["cwnd_mean_packets"] > 5  # sampled by sock_diag: the sockets are the program's
    assert len(results.table(0, "iperf3/i")) == 3
    assert (h["transfers_completed"], h["delivered_bytes"] > 400_000) == (2, True)
    downloads = [r for r in results.transfers.rows(named=True) if r["flow"] == "h"]
    assert [r["bytes"] for r in downloads] == [200_000, 200_000]
    assert programs["c"]["client"]["stdout"] == "10.1.0.2 10.2.0.2 3 reno\n"
    assert not results.runs[0].facts["warnings"] or "processors" in results.runs[0].facts["warnings"][0]


@pytest.mark.parametrize("variant", ["cubic", "veno"])
def test_programs_have_any_variant_that_the_kernel_has(variant: str) -> None:
    """Also one that may be no namespace's default; both ends, without choosing."""
    absent = variant not in {**available_variants(), **dict.fromkeys(bpf_variants()[0])}
    require("host", f"this kernel has no {variant}, and it can't be loaded: {bpf_variants()[1]}" if absent else None)
    report = "print(s.getsockopt(6, 13, 16).rstrip(bytes(1)).decode(), flush=True)"
    serve = f"import socket; l = socket.create_server(('{{to}}', 9000)); s = l.accept()[0]; {report}; s.recv(1)"
    ask = f"import socket; s = socket.create_connection(('{{to}}', 9000)); {report}; s.recv(1)"
    commands = {"server": ["python3", "-Ic", serve], "client": ["python3", "-Ic", f"{ask}; print('{{variant}}')"]}
    flows = [{"name": "c", "variant": variant, "application": {"kind": "command", **commands}}]
    results = once(scenario(flows=flows, duration="2 s"), calibration="off", allow_programs="on")
    output = results.runs[0].facts["programs"]["c"]
    # A variant that is loaded as BPF has a name that only this run uses.
    names = {output["server"]["stdout"].strip(), *output["client"]["stdout"].split()}
    assert len(names) == 1
    assert (names == {variant}) == (variant in available_variants())


def test_the_output_of_ping_is_read() -> None:
    output = """PING 10.2.0.0 (10.2.0.0) 72(100) bytes of data.
80 bytes from 10.2.0.0: icmp_seq=1 ttl=64 time=40.3 ms
80 bytes from 10.2.0.0: icmp_seq=3 ttl=64 time=42.5 ms

--- 10.2.0.0 ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 402ms
"""
    ping = {"kind": "ping", "tool": "ping", "interval": "200 ms", "packet": "100 bytes", "count": 3}
    plan = Job(scenario(flows=[{"name": "p", "application": ping}]).cells[0], 0, 1).plan()
    command = plan["flows"][0]["application"]["client"]["command"]
    assert command == ["ping", "-n", "-i", "0.2", "-W", "10", "-s", "72", "-c", "3", "{to}"]
    row: dict[str, Any] = {"name": "p", "start_s": 1.0}
    client = {"command": command, "exit": 1, "stdout": output, "stderr": ""}
    result = {"flows": [row], "transfers": [], "facts": {"programs": {"p": {"client": client}}}}
    tables: dict[str, Any] = {}
    read = program_outputs.read(plan, result, tables)
    assert (row["pings_sent"], row["pings_lost"], row["rtt_min_ms"], row["rtt_p50_ms"]) == (3, 1, 40.3, 40.3)
    # 402 ms for the two intervals, not quite what was asked for.
    assert list(tables["ping/p"]["t_ns"]) == [1_000_000_000, 1_201_000_000, 1_402_000_000]
    # ping ends with 1 if a reply is missing.
    assert (read.failures, read.contradictions, read.warnings) == ([], [], [])


def test_the_hosts_ping_measures_the_path() -> None:
    require_programs("ping")
    ping = {"kind": "ping", "tool": "ping", "interval": "50 ms", "packet": "1000 bytes", "count": 20}
    given = scenario(flows=[{"name": "p", "application": ping}], duration="2 s", trace={"series": True})
    results = once(given, calibration="off")
    row = flow(results, "p")
    # As with our own ping: 0.8 ms at 10 Mbit/s, 0.08 ms on each of two access links; both directions, and 2 x 20 ms.
    # It rounds to 0.1 ms.
    exact = 2 * (20 + 0.8 + 2 * 0.08)
    assert row["idle_rtt_ms"] == pytest.approx(exact)
    assert exact - 0.05 <= row["rtt_min_ms"] < exact + 0.5
    assert (row["pings_sent"], row["pings_lost"], row["variant"]) == (20, 0, "ping")
    assert len(results.table(0, "ping/p")) == 20
    assert results.runs[0].facts["programs"]["p"]["client"]["exit"] == 0


def test_programs_are_refused_elsewhere_and_where_they_are_missing() -> None:
    nowhere = {"kind": "command", "client": ["no-such-program"]}
    given = scenario(flows=[{"name": "f", "variant": "reno", "application": nowhere}])
    with pytest.raises(BackendError, match=r"flows\.f\.application: 'no-such-program' isn't installed"):
        once(given, allow_programs="on")
    with pytest.raises(BackendError, match=r"flows\.f\.application: 'command' is a real program"):
        run(given)
    with pytest.raises(BackendError, match=r"flows\.f\.application: 'no-such-program' isn't installed"):
        Uml(allow_programs="on").check([Job(given.cells[0], 0, 1)])
