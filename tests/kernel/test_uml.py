"""The real kernel in virtual time: physics, repeatability, series, captures."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell import _core, registry, run
from dumbbell.backends import Job
from dumbbell.kernel.uml.backend import Uml
from dumbbell.kernel.uml.virtual_machine import run_guest
from kernels import PAYLOAD, bottleneck, flow
from machines import KERNELS, once, scenario
from required import require_programs

pytestmark = pytest.mark.usefixtures("require_uml")


# ---------------------------------------------------------------- physics


def test_one_flow_obeys_physics() -> None:
    results = once(scenario())
    f, q = flow(results), bottleneck(results)
    capacity = 10e6 * PAYLOAD
    assert 0.85 * capacity < f["goodput_bps"] <= capacity
    # 40 ms of propagation; a full packet takes 1.2 ms here and 0.12 ms on each access link, its ACK less.
    assert 41.4 < f["rtt_min_ms"] < 42
    # The queue holds 33 packets of 1.2 ms.
    assert q["max_sojourn_ms"] == pytest.approx(33 * 1.2, abs=1.2)
    assert q["waiting_at_start"] + q["arrivals"] == q["departures"] + q["drops"] + q["waiting_at_end"]
    assert q["on_wire_at_start"] + q["departures"] == q["delivered"] + q["wire_losses"] + q["on_wire_at_end"]
    assert f["dropped_packets"] == q["drops"] > 0
    assert f["retransmitted_packets"] == f["dropped_packets"]
    assert f["timeouts"] == 0
    assert f["fast_retransmits"] > 0


def test_shorter_queues_lose_more_and_longer_ones_delay() -> None:
    short, long = (once(scenario(limit=f"{n} packets", duration="20 s")) for n in (8, 133))
    assert flow(short)["goodput_bps"] < flow(long)["goodput_bps"]
    assert flow(short)["srtt_mean_ms"] + 20 < flow(long)["srtt_mean_ms"]
    assert flow(short)["fast_retransmits"] > flow(long)["fast_retransmits"]


def test_a_lone_ping_takes_propagation_and_transmission() -> None:
    flows = [{"name": "f", "application": {"kind": "ping", "interval": "100 ms", "packet": "1000 bytes", "count": 20}}]
    f = flow(once(scenario(flows=flows)))
    # 1000 bytes: 0.8 ms at 10 Mbit/s, 0.08 ms on each of two access links; both directions, and 2 x 20 ms. Each
    # read of the clock takes a step; each stage and the programs may take a few.
    exact = 2 * (20 + 0.8 + 2 * 0.08)
    assert f["rtt_min_ms"] == pytest.approx(exact, abs=0.02)
    assert f["rtt_max_ms"] == pytest.approx(exact, abs=0.02)
    assert (f["pings_sent"], f["pings_lost"]) == (20, 0)


def test_constant_rate_arrives_whole_and_in_time() -> None:
    cbr = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "500 bytes", "phase": "0 s"}
    f = flow(once(scenario(flows=[{"name": "f", "transport": "udp", "application": cbr}])))
    # A packet each 4 ms for 10 s.
    assert f["sent_packets"] == 2500
    assert f["goodput_bps"] == pytest.approx(1e6, rel=0.01)
    # 0.4 ms at 10 Mbit/s, 0.04 ms on each access link, 20 ms.
    assert f["owd_mean_ms"] == pytest.approx(20 + 0.4 + 0.08, abs=0.01)
    assert f["dropped_packets"] == 0


def test_random_loss_has_its_share() -> None:
    lossy = scenario(duration="20 s", network__bottleneck__loss="1 %")
    results = once(lossy)
    q = bottleneck(results)
    n = q["departures"]
    # Binomial: 4 standard deviations.
    assert abs(q["wire_losses"] - 0.01 * n) < 4 * (n * 0.01 * 0.99) ** 0.5
    assert flow(results)["dropped_packets"] == pytest.approx(q["wire_losses"] + q["drops"], abs=2)
    other = once(lossy.with_changes({"seed": 2}))
    assert flow(other)["goodput_bps"] != flow(results)["goodput_bps"]


def test_transfers_and_pages_complete() -> None:
    transfer = {"kind": "transfer", "size": "100 kB", "repeat": 3}
    page = {"kind": "page", "size": "20 kB", "repeat": 2, "every": "1 s"}
    flows = [{"name": name, "variant": "cubic", "application": each} for name, each in (("t", transfer), ("p", page))]
    results = once(scenario(flows=flows))
    t, p = flow(results, "t"), flow(results, "p")
    assert (t["transfers_completed"], p["transfers_completed"]) == (3, 2)
    assert (t["delivered_bytes"], p["delivered_bytes"]) == (300_000, 40_000)
    rows = results.transfers.rows(named=True)
    assert [r["number"] for r in rows if r["flow"] == "t"] == [0, 1, 2]
    # Three rounds of slow start from 10 segments after a handshake: never in less than 4 round trips.
    assert all(r["end_s"] - r["start_s"] > 4 * 0.04 for r in rows if r["flow"] == "t")
    starts = [r["start_s"] for r in rows if r["flow"] == "p"]
    assert starts[1] - starts[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("discipline", ["codel", "fq_codel", "pie", "fq_pie", "sfq", "cake"])
def test_disciplines(discipline: str) -> None:
    given = scenario(network__bottleneck__queue=discipline, duration="15 s", measure_from="5 s")
    results = once(given)
    f, q = flow(results), bottleneck(results)
    assert f["goodput_bps"] > 0.8 * 10e6 * PAYLOAD
    assert q["drops"] > 0
    if discipline != "sfq":
        # An AQM keeps the queue far below what drop-tail would have (1000 packets, 1.2 s).
        assert q["mean_sojourn_ms"] < 30
        assert q["drops_early"] == q["drops"]
    else:
        assert q["drops_full"] == q["drops"]


def test_dctcp_is_marked_instead_of_dropped() -> None:
    queue = {"discipline": "codel", "limit": "1000 packets", "target": "1 s", "ce_threshold": "2 ms"}
    given = scenario(network__bottleneck__queue=queue, duration="5 s")
    plan = Job(given.cells[0], 0, 1).plan()
    # With stock buffers the ACKs of marks are delayed from the 17th segment on, and 5 s are too short for the start.
    plan["flows"][0]["transport"] |= {
        "variant": {"name": "dctcp", "params": {}},
        "stack": {"name": "linux-tuned", "params": {}},
    }
    order = {"plan": plan, "sample_ns": 10_000_000}
    result = run_guest(KERNELS[0], order, memory_mb=256, seed=1, limit_s=300).result
    q = next(q for q in result["queues"] if q["name"] == "r1->r2")
    assert q["marks"] > 100
    assert q["drops"] == 0
    assert result["flows"][0]["goodput_bps"] > 0.8 * 10e6 * PAYLOAD


def test_parameters_reach_the_kernels_modules() -> None:
    flows = [{"name": "f", "variant": {"name": "vegas", "alpha": 8, "beta": 10}, "stack": "linux"}]
    q = bottleneck(once(scenario(flows=flows, limit="200 packets", measure_from="5 s")))
    # Vegas keeps alpha to beta segments in the queue, the one in transmission among them.
    assert 6 < q["mean_backlog_packets"] < 10


def test_initial_window_and_segment_size() -> None:
    stack = {"preset": "linux", "initial_window": "4 packets", "mss": "1012 bytes"}
    flows = [{"name": "f", "variant": "reno", "stack": stack}]
    results = once(scenario(flows=flows, duration="1 s", trace={"series": ["flows"]}))
    cwnd = results.series(0, "cwnd", flow="f")["cwnd"]
    assert cwnd[0] == 4 * 1000  # 12 of 1012 bytes are timestamps


def test_flows_are_many_and_begin_when_they_should() -> None:
    """More interfaces than the kernel switches on in a second, more descriptors than a process has by default."""
    flows = [{"name": f"f{n}", "variant": "reno"} for n in range(64)]
    exact: dict[str, Any] = {"start_jitter": "0 s", "trace": {"series": ["departures"]}}
    given = scenario(flows=flows, duration="500 ms", rate="20 Mbit/s", **exact)
    first = once(given).table(0, "departures/r1->r2")["t_ns"][0]
    # The first SYN: 60 bytes at 100 Mbit/s, 4.8 µs, and some clock reads of 256 ns.
    assert 4800 <= first < 10_000


# ---------------------------------------------------------------- what a host's kernel would be given


def test_a_hosts_steps_with_netem_are_as_good() -> None:
    """The network of emulation=tc, made in a kernel that has netem."""
    plan = Job(scenario(measure_from="2 s").cells[0], 0, 1).plan()
    orders = [{"plan": plan, "sample_ns": 10_000_000, "kernel": kernel} for kernel in ("guest", "host")]
    guest, host = (run_guest(KERNELS[0], o, memory_mb=256, seed=1, limit_s=300).result for o in orders)
    f, other = guest["flows"][0], host["flows"][0]
    # A bucket that is deeper by 1250 bytes, and access links without a transmitter of their own: 4 x 0.12 ms less of
    # 41.5 ms.
    assert other["goodput_bps"] == pytest.approx(f["goodput_bps"], rel=0.02)
    assert f["rtt_min_ms"] - 0.6 < other["rtt_min_ms"] < f["rtt_min_ms"]
    q = next(q for q in host["queues"] if q["name"] == "r1->r2")
    assert q["max_sojourn_ms"] == pytest.approx(33 * 1.2, abs=1.2)
    assert other["dropped_packets"] == q["drops"] > 0


def test_offloads_put_super_packets_on_the_path() -> None:
    given = scenario(duration="5 s")
    on, off = once(given, offloads="on"), once(given)
    sizes = [flow(r)["sent_bytes"] / flow(r)["sent_packets"] for r in (on, off)]
    # At so low a rate the kernel makes them of two segments.
    assert sizes[0] > 1.3 * 1448
    assert sizes[1] == pytest.approx(1448, rel=0.01)
    assert flow(on)["delivered_bytes"] > 0
    # ACKs, SACK blocks and retransmissions that cover a part of a super-packet don't lengthen the RTT.
    assert flow(on)["retransmitted_packets"] > 0
    longest = 41.5 + bottleneck(on)["max_sojourn_ms"] + 2 * 1.2
    assert flow(on)["rtt_max_ms"] < longest < flow(on)["ack_delay_max_ms"]


# ---------------------------------------------------------------- repeatability


def test_the_same_seed_gives_the_same_tables() -> None:
    given = scenario(duration="5 s", trace={"series": True})
    first, second = once(given), once(given)
    assert first.runs[0].flows == second.runs[0].flows
    assert first.runs[0].queues == second.runs[0].queues
    assert first.tables(0) == second.tables(0)
    for name in first.tables(0):
        assert first.table(0, name).equals(second.table(0, name))


def test_series_have_the_simulators_columns() -> None:
    given = scenario(duration="3 s", trace={"series": True})
    kernel, simulator = once(given), run(given)
    assert set(kernel.tables(0)) == set(simulator.tables(0))
    for name in simulator.tables(0):
        ours = set(simulator.table(0, name).columns)
        assert ours <= set(kernel.table(0, name).columns), name
    facts = kernel.runs[0].facts["host"]
    assert facts["offloads"] == {"tso": False, "gso": False, "gro": False}
    assert facts["sysctl"]["tcp_no_metrics_save"] == "1"
    assert any("tbf rate 10000000bit" in line and "pfifo limit 33" in line for line in facts["disciplines"])
    again = kernel.arrays(0, "flow/f")["retransmits"][-1]
    assert again == pytest.approx(flow(kernel)["retransmitted_packets"], abs=2)  # the last sample is 10 ms old
    cwnd = kernel.series(0, "cwnd", flow="f")
    assert cwnd["time_s"].is_sorted()
    assert cwnd["cwnd"][0] == 10 * 1448
    assert set(flow(kernel)) == set(flow(simulator))
    assert set(bottleneck(kernel)) == set(bottleneck(simulator))


def test_private_state_of_variants_has_the_simulators_names() -> None:
    flows = [{"name": name, "variant": name} for name in ("vegas", "bbr", "yeah", "westwood", "illinois", "nv")]
    exact: dict[str, Any] = {"start_jitter": "0 s", "trace": {"series": ["flows"]}}
    given = scenario(flows=flows, duration="6 s", limit="400 packets", **exact)
    kernel = once(given, sample_ms=1)
    taken = {f["name"]: kernel.arrays(0, f"flow/{f['name']}") for f in flows}
    # A sample each ms from the handshake on, exactly: virtual time waits.
    t = taken["vegas"]["t_ns"]
    assert set(np.diff(t)) == {1_000_000}
    assert len(t) > 5900
    # Propagation, and transmission of a full packet and its ACK: the first packets found the queue empty.
    assert taken["vegas"]["base_rtt"][-1] == pytest.approx(0.0415, abs=1e-4)
    bbr = taken["bbr"]
    high = 739 / 256  # 2/ln 2, in the kernel's 256ths
    assert {high, 1.25} <= set(bbr["pacing_gain"])
    assert bbr["cwnd_gain"][-1] in (1.0, 2.0)
    assert 0 < bbr["bw"].max() <= 10e6 / 8
    for name in ("vegas", "bbr", "yeah", "westwood", "illinois", "nv"):
        own = set(taken[name]) & set(registry.variant(name).columns)
        assert own, name


def test_dctcp_reports_its_alpha() -> None:
    queue = {"discipline": "codel", "limit": "1000 packets", "target": "1 s", "ce_threshold": "2 ms"}
    flows = [{"name": "f", "variant": "dctcp", "stack": "linux-tuned"}]
    given = scenario(network__bottleneck__queue=queue, duration="5 s", flows=flows, trace={"series": ["flows"]})
    columns = once(given).arrays(0, "flow/f")
    # It begins with 1 and falls to the share that is really marked, for one flow about sqrt(2 / W).
    assert columns["alpha"][0] == 1
    assert 0.05 < columns["alpha"][-1] < 0.5
    assert np.nanmax(np.asarray(columns["marked_share"], np.float64)) <= 1


# ---------------------------------------------------------------- captures


def test_captures_are_the_simulators(tmp_path: Path) -> None:
    points = ["sender", "bottleneck", "receiver"]
    given = scenario(capture=points, duration="5 s", network__bottleneck__loss="0.1 %")
    kernel = run(given, backend=Uml(), out=tmp_path / "kernel")
    simulator = run(given, out=tmp_path / "simulator")
    files = kernel.captures(0)
    assert set(files) == set(simulator.captures(0)) == set(points)
    analyzed = {point: _core.analyze([files[point]]) for point in points}
    names = {point: re.findall(r"Name = (.+)", analyzed[point].properties_text()[0]) for point in points}
    assert names == {"sender": ["s1"], "bottleneck": ["r1->r2", "r2->r1"], "receiver": ["d1"]}
    f, q = flow(kernel), bottleneck(kernel)
    there, back = (int(n) for n in analyzed["bottleneck"].table("flows")["packets"])
    returning = next(q for q in kernel.runs[0].queues if q["name"] == "r2->r1")
    assert (there, back) == (q["arrivals"], returning["arrivals"])
    assert analyzed["bottleneck"].damage == []
    # The handshake and the packets of the flow; at the receiver those that neither queue nor wire has lost.
    sent = int(analyzed["sender"].table("flows")["packets"][0])
    assert sent == f["sent_packets"] + 2


def test_tshark_reads_captures_without_a_complaint(tmp_path: Path) -> None:
    require_programs("tshark")
    flows = [
        {"name": "f", "variant": "cubic", "stack": {"preset": "linux", "ecn": True}},
        {"name": "p", "application": {"kind": "ping", "interval": "100 ms", "packet": "100 bytes"}},
        {"name": "u", "transport": "udp", "application": {"kind": "cbr", "rate": "1 Mbit/s", "packet": "501 bytes"}},
    ]
    queue = {"discipline": "codel", "ecn": True}
    given = scenario(capture=["sender", "bottleneck"], duration="3 s", flows=flows, network__bottleneck__queue=queue)
    files = run(given, backend=Uml(), out=tmp_path).captures(0)
    checks = [o for layer in ("ip", "tcp", "udp") for o in ("-o", f"{layer}.check_checksum:TRUE")]
    fields = ["frame.time_epoch", "frame.comment", "ip.checksum.status", "tcp.checksum.status"]
    fields += ["udp.checksum.status", "_ws.expert.severity", "ip.dsfield.ecn"]
    for file in files.values():
        command = ["tshark", "-r", str(file), *checks, "-T", "fields", "-E", "separator=|", "-E", "aggregator=;"]
        for field in fields:
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [line.split("|") for line in done.stdout.splitlines()]
        assert len(rows) > 2000
        times = [float(row[0]) for row in rows]
        assert times == sorted(times)
        assert 0 <= times[0] < times[-1] < 3
        # Checksums are good (1), or too little of the packet was kept to verify them (2).
        assert {status for row in rows for status in row[2:5]} <= {"", "1", "2"}
        warning = 0x0060_0000
        assert not [row for row in rows if row[5] and max(map(int, row[5].split(";"))) > warning]
    # Packets are ECN-capable before the queue and marked behind it.
    assert {row[6] for row in rows} >= {"0", "2"}
