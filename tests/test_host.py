"""The host's own kernel over our link: physics, features, refusals, and nothing left behind."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell import Scenario, _core, run
from dumbbell.backends import Job, Kernel, OwnLink, Uml, backend, programs
from dumbbell.backends.own_link import absurd, run_host
from dumbbell.exceptions import BackendError
from dumbbell.kernel.folders import HOST_PREFIX, clean
from dumbbell.kernel.guest import GUEST
from dumbbell.kernel.host import available_variants, bpf_variants, why_not
from dumbbell.results import Results
from kernels import PAYLOAD, bottleneck, changed, flow

REASON = why_not()
REQUIRED = os.environ.get("DUMBBELL_KERNEL_TESTS") == "required"


@pytest.fixture(autouse=True)
def _possible() -> None:
    if REASON is not None and REQUIRED:
        pytest.fail(f"DUMBBELL_KERNEL_TESTS=required, but: {REASON}")
    if REASON is not None:
        pytest.skip(REASON)


BPF_CALL = 321
"""The number of `bpf` on x86-64."""


def scenario(*, rate: str = "10 Mbit/s", limit: str = "33 packets", **changes: Any) -> Scenario:
    document: dict[str, Any] = {
        "name": "host",
        "duration": "4 s",
        "network": {
            "bottleneck": {"rate": rate, "delay": "20 ms", "queue": {"discipline": "droptail", "limit": limit}},
            "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
        },
        "flows": [{"name": "f", "variant": "reno"}],
    }
    return changed(document, changes)


def once(given: Scenario, **options: Any) -> Results:
    return run(given, backend=OwnLink(**{"calibration": "mark", **options}))


@functools.cache
def lone(variant: str, limit: int) -> Results:
    flows = [{"name": "f", "variant": variant}]
    return once(scenario(limit=f"{limit} packets", flows=flows, measure_from="1 s"))


# ---------------------------------------------------------------- physics


def test_windows_that_cannot_be_are_told() -> None:
    flows: list[dict[str, Any]] = [
        {"name": "a", "cwnd_mean_packets": 6.7e8},
        {"name": "b", "cwnd_mean_packets": 1e6},
        {"name": "p", "cwnd_mean_packets": None},
    ]
    assert [text.split()[1] for text in absurd(flows)] == ["'a'"]


def registered() -> str:
    """The congestion control that the kernel has."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()


@pytest.mark.parametrize("variant", ["reno", "cubic", "bbr", "vegas", "veno", "illinois", "scalable"])
def test_a_flow_obeys_physics(variant: str) -> None:
    loadable, why = bpf_variants()
    if variant not in available_variants() and variant not in loadable:
        reason = f"this kernel has no {variant}, nor can it be loaded: {why}"
        pytest.fail(reason) if REQUIRED else pytest.skip(reason)
    before = registered()
    results = lone(variant, 33)
    assert registered() == before
    assert results.runs[0].facts["bpf"] == ([] if variant in available_variants() else [variant])
    f, q = flow(results), bottleneck(results)
    capacity = 10e6 * PAYLOAD
    assert f["throughput_bps"] <= 1.001 * 10e6  # a packet at each edge of 3 s: 2 of 2500
    # Bytes count when they are in order: a hole that closes just after the beginning brings up to a window of them,
    # 34 + 33 packets of 2500.
    assert 0.85 * capacity <= f["goodput_bps"] <= (1 + 67 / 2500) * capacity
    # Propagation is 40 ms; a full packet takes 1.2 ms at the bottleneck, 0.12 ms on each access link, its ACK less.
    assert f["rtt_min_ms"] > 40
    # The queue holds 33 packets of 1.2 ms; beyond propagation, transmission and that only the host's own lateness.
    assert q["max_sojourn_ms"] <= 33 * 1.2 + 0.01
    assert f["rtt_p50_ms"] < 41.5 + 33 * 1.2 + 5
    assert q["waiting_at_start"] + q["arrivals"] == q["departures"] + q["drops"] + q["waiting_at_end"]
    assert q["on_wire_at_start"] + q["departures"] == q["delivered"] + q["wire_losses"] + q["on_wire_at_end"]
    assert f["dropped_packets"] == q["drops"]
    facts = results.runs[0].facts
    (path,) = facts["calibration"]
    assert path["rtt_ms"]["expected"] == pytest.approx(40 + 2 * 100 * 8 * (1 / 10e6 + 2 / 100e6) * 1e3)
    assert facts["host"]["offloads"] == {"tso": False, "gso": False, "gro": False}
    assert facts["link"]["missed"] == 0
    assert facts["host"]["sysctl"]["tcp_no_metrics_save"] == "1"


def test_each_law_loaded_cuts_the_window_as_its_own_rules_say() -> None:
    """Six side by side, each on a path of its own, with three packets lost in 5 s and room for what isn't."""
    laws = ["bic", "highspeed", "htcp", "hybla", "westwood", "yeah"]
    loadable, why = bpf_variants()
    if not loadable:
        pytest.fail(f"{why}") if REQUIRED else pytest.skip(f"{why}")
    queue = {"discipline": "droptail", "limit": "300 packets"}
    path = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": queue}
    drops = {law: [{"flow": law, "packets": [150, 1500, 3000]}] for law in laws}
    links = [{"from": f"a{n}", "to": f"b{n}", **path, "drops": drops[law]} for n, law in enumerate(laws)]
    nodes = [f"{end}{n}" for n in range(len(laws)) for end in "ab"]
    flows = [{"name": law, "variant": law, "from": f"a{n}", "to": f"b{n}"} for n, law in enumerate(laws)]
    document = {
        "name": "laws",
        "duration": "5 s",
        "network": {"topology": "custom", "nodes": nodes, "links": links},
        "flows": flows,
        "trace": {"series": ["flows"]},
    }
    before = registered()
    results = once(Scenario.from_dict(document), sample_ms=1, calibration="off")
    assert registered() == before
    assert results.runs[0].facts["bpf"] == [law for law in laws if law not in available_variants()]
    cuts = {}
    for law in laws:
        f = flow(results, law)
        assert 0.85 * 10e6 * PAYLOAD <= f["goodput_bps"] <= 10e6 * PAYLOAD
        assert f["rtt_min_ms"] > 40
        assert f["timeouts"] == 0
        windows = results.series(0, "cwnd", flow=law)["cwnd"].to_numpy() / 1448
        thresholds = results.series(0, "ssthresh", flow=law)["ssthresh"].to_numpy() / 1448
        at = np.flatnonzero(thresholds[1:] != thresholds[:-1]) + 1
        cuts[law] = list(zip(windows[at - 1], thresholds[at], strict=True))

    # Between two samples a window in slow start grows by two segments at most; and all are whole numbers.
    def left(law: str, *shares: float) -> None:
        assert [after for _, after in cuts[law]] == pytest.approx(
            [share * window for (window, _), share in zip(cuts[law], shares, strict=True)], abs=2.5
        )

    left("bic", *3 * [819 / 1024])
    left("hybla", *3 * [1 / 2])
    # Slow start looks nothing up; later it is above 38 segments, where 112 of 256 are taken.
    left("highspeed", 1 / 2, 144 / 256, 144 / 256)
    assert all(0.5 * window - 1 <= after <= 0.8 * window for window, after in cuts["htcp"])
    # What fills the path without a queue: 10 Mbit/s / 12,000 bit = 833 segments/s, for 41.2 ms, which are 44 in
    # ticks: 36.7, less what rounding to whole bytes a tick takes, and what the filter still remembers of the start.
    assert 33 <= cuts["westwood"][-1][1] <= 37
    # The first loss comes before the queue is known to be long: an eighth. Then once half of the window for what is
    # in the queue, and after 16 slow rounds a half as Reno.
    left("yeah", 7 / 8, 1 / 2, 1 / 2, 1 / 2)


def test_shorter_queues_lose_more_and_longer_ones_delay() -> None:
    short, long = flow(lone("reno", 8)), flow(lone("reno", 33))
    assert short["fast_retransmits"] + short["timeouts"] > long["fast_retransmits"] + long["timeouts"]
    assert short["srtt_mean_ms"] + 5 < long["srtt_mean_ms"]


def test_a_lone_ping_takes_propagation_and_transmission() -> None:
    ping = {"kind": "ping", "interval": "50 ms", "packet": "1000 bytes", "count": 20}
    f = flow(once(scenario(flows=[{"name": "f", "application": ping}], duration="2 s")))
    # 1000 bytes: 0.8 ms at 10 Mbit/s, 0.08 ms on each of two access links; both ways, and 2 x 20 ms.
    exact = 2 * (20 + 0.8 + 2 * 0.08)
    assert exact < f["rtt_min_ms"] < exact + 0.5
    assert (f["pings_sent"], f["pings_lost"]) == (20, 0)


def test_what_only_the_simulators_links_have() -> None:
    """Scripted drops, a delay that changes, losses in bursts, an outage: all on one real path."""
    cbr = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "500 bytes", "phase": "0 s"}
    flows = [{"name": "f", "transport": "udp", "application": cbr}]
    drops = [{"flow": "f", "packets": [3, 5, 6]}]
    f, q = (
        pick(once(scenario(flows=flows, duration="1 s", network__bottleneck__drops=drops), calibration="off"))
        for pick in (flow, bottleneck)
    )
    # A packet each 4 ms for 1 s.
    assert (f["sent_packets"], f["dropped_packets"], q["drops_scripted"]) == (250, 3, 3)
    outage = [{"at": "0.5 s", "for": "100 ms", "packets": "drop"}]
    steps = {"steps": [{"at": "0 s", "delay": "5 ms"}, {"at": "0.5 s", "delay": "30 ms"}]}
    given = scenario(
        flows=flows, duration="1 s", network__bottleneck__outages=outage, network__bottleneck__delay=steps
    )
    results = once(given)
    # 100 ms without service: 25 packets, and one whose transmission touches it.
    assert 24 <= bottleneck(results)["losses_outage"] <= 27
    # 5 ms for one half, 30 ms for the other, less the 25 lost: (125 x 5 + 100 x 30) / 225 + 0.48 ms of transmission.
    assert flow(results)["owd_mean_ms"] == pytest.approx((125 * 5 + 100 * 30) / 225 + 0.48, abs=0.7)
    assert results.runs[0].facts["calibration"][0]["varies"] == ["a delay that changes", "outages"]


def test_marks_instead_of_drops_reach_the_real_sender() -> None:
    queue = {"discipline": "codel", "limit": "1000 packets", "ecn": True}
    flows = [{"name": "f", "variant": "reno", "stack": {"preset": "linux", "ecn": True}}]
    results = once(scenario(network__bottleneck__queue=queue, flows=flows))
    f, q = flow(results), bottleneck(results)
    assert q["marks"] > 0
    assert q["drops"] == f["retransmitted_packets"] == 0
    counters = results.runs[0].facts["counters"]["f"]
    # Without the echo of the marks the window would go on growing until the queue is full.
    assert f["cwnd_mean_packets"] < 100
    assert counters.get("TCPTimeouts", 0) == 0


def test_transfers_and_pages_complete() -> None:
    flows: list[dict[str, Any]] = [
        {"name": "t", "variant": "cubic", "application": {"kind": "transfer", "size": "100 kB", "repeat": 2}},
        {"name": "p", "variant": "cubic", "application": {"kind": "page", "size": "20 kB", "repeat": 2}},
    ]
    results = once(scenario(flows=flows, duration="3 s"), calibration="off")
    t, p = flow(results, "t"), flow(results, "p")
    assert (t["transfers_completed"], p["transfers_completed"]) == (2, 2)
    assert (t["delivered_bytes"], p["delivered_bytes"]) == (200_000, 40_000)
    rows = results.transfers.rows(named=True)
    assert all(r["end_s"] - r["start_s"] > 2 * 0.04 for r in rows)


# ---------------------------------------------------------------- real programs


def test_programs_run_and_what_they_say_is_read() -> None:
    flows: list[dict[str, Any]] = [
        {"name": "i", "variant": "reno", "application": {"kind": "iperf3"}},
        {"name": "h", "variant": "reno", "application": {"kind": "http", "size": "200 kB", "repeat": 2}},
        {
            "name": "c",
            "variant": "reno",
            "application": {
                "kind": "command",
                "client": ["sh", "-c", "echo {from} {to} {seconds} $(cat /proc/sys/net/ipv4/tcp_congestion_control)"],
            },
        },
    ]
    for tool in ("iperf3", "curl"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} isn't installed")
    results = once(scenario(flows=flows, trace={"series": ["flows"]}), calibration="off")
    i, h = flow(results, "i"), flow(results, "h")
    programs = results.runs[0].facts["programs"]
    figures = programs["i"]["figures"]
    assert figures["congestion"] == "reno"
    assert i["delivered_bytes"] >= figures["delivered_bytes"] > 500_000  # its control connection sends a little too
    # It doesn't count what is still under way when it stops: up to a window, 34 + 33 packets here.
    assert i["delivered_bytes"] == pytest.approx(figures["delivered_bytes"], abs=80 * 1448)
    assert i["retransmitted_packets"] == pytest.approx(figures["retransmits"], abs=2)
    assert i["cwnd_mean_packets"] > 5  # sampled by sock_diag: the sockets are the program's
    assert len(results.table(0, "iperf3/i")) == 3
    assert (h["transfers_completed"], h["delivered_bytes"] > 400_000) == (2, True)
    downloads = [r for r in results.transfers.rows(named=True) if r["flow"] == "h"]
    assert [r["bytes"] for r in downloads] == [200_000, 200_000]
    assert programs["c"]["client"]["stdout"] == "10.1.0.2 10.2.0.2 3 reno\n"
    assert not results.runs[0].facts["warnings"] or "processors" in results.runs[0].facts["warnings"][0]


def test_what_ping_says_is_read() -> None:
    said = """PING 10.2.0.0 (10.2.0.0) 72(100) bytes of data.
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
    client = {"command": command, "exit": 1, "stdout": said, "stderr": ""}
    result = {"flows": [row], "transfers": [], "facts": {"programs": {"p": {"client": client}}}}
    tables: dict[str, Any] = {}
    _, wrong = programs.read(plan, result, tables)
    assert (row["pings_sent"], row["pings_lost"], row["rtt_min_ms"], row["rtt_p50_ms"]) == (3, 1, 40.3, 40.3)
    # 402 ms for the two intervals, not quite what was asked for.
    assert list(tables["ping/p"]["t_ns"]) == [1_000_000_000, 1_201_000_000, 1_402_000_000]
    assert wrong == [
        "flow 'p': ping ended with 1: 3 packets transmitted, 2 received, 33.3333% packet loss, time 402ms"
    ]


@pytest.mark.skipif(shutil.which("ping") is None, reason="ping isn't installed")
def test_the_hosts_ping_measures_the_path() -> None:
    ping = {"kind": "ping", "tool": "ping", "interval": "50 ms", "packet": "1000 bytes", "count": 20}
    given = scenario(flows=[{"name": "p", "application": ping}], duration="2 s", trace={"series": True})
    results = once(given, calibration="off")
    row = flow(results, "p")
    # As with our own ping: 0.8 ms at 10 Mbit/s, 0.08 ms on each of two access links; both ways, and 2 x 20 ms. It
    # rounds to 0.1 ms.
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
        once(given)
    with pytest.raises(BackendError, match=r"flows\.f\.application: 'command' is a real program"):
        run(given)
    with pytest.raises(BackendError, match=r"flows\.f\.application: 'command' is a program of the host"):
        Uml().check([Job(given.cells[0], 0, 1)])


# ---------------------------------------------------------------- series, captures


def test_series_captures_and_columns_are_the_simulators(tmp_path: Path) -> None:
    given = scenario(duration="1 s", trace={"series": True, "packets": True}, capture={"at": ["r1->r2", "s1"]})
    kernel = run(given, backend=OwnLink(sample_ms=1, calibration="off"), out=tmp_path / "kernel")
    simulator = run(given.with_changes({"capture": []}))
    assert set(kernel.tables(0)) == set(simulator.tables(0))
    for name in simulator.tables(0):
        assert set(simulator.table(0, name).columns) <= set(kernel.table(0, name).columns), name
    assert set(flow(kernel)) == set(flow(simulator))
    assert bottleneck(kernel).keys() == bottleneck(simulator).keys()
    cwnd = kernel.series(0, "cwnd", flow="f")
    assert cwnd["cwnd"][0] == 10 * 1448
    assert len(cwnd) > 500  # a sample each ms, once the connection is there
    loaded = Results.load(tmp_path / "kernel")
    assert loaded.runs[0].facts["host"]["kernel"] == os.uname().release
    files = kernel.captures(0)
    assert set(files) == {"r1->r2", "s1"}
    analysed = _core.analyze([files["r1->r2"]])
    # What came to the queue in each direction of the link: data there; the ACKs come to the other direction's.
    assert sum(map(int, analysed.table("flows")["packets"])) == bottleneck(kernel)["arrivals"]
    assert not analysed.damage


@pytest.mark.parametrize("application", ["bulk", "iperf3"])
def test_bbr_says_what_it_believes_in(application: str) -> None:
    if application == "iperf3" and shutil.which("iperf3") is None:
        pytest.skip("iperf3 isn't installed")
    if "bbr" not in available_variants():
        pytest.skip("this kernel has no bbr")
    flows = [{"name": "f", "variant": "bbr", "application": {"kind": application}}]
    given = scenario(flows=flows, duration="3 s", trace={"series": ["flows"]})
    arrays = once(given, sample_ms=1, calibration="off").arrays(0, "flow/f")
    columns = {name: np.asarray(values, np.float64) for name, values in arrays.items()}
    # 2.89 to begin with; the rate of the bottleneck, and no more of payload than that; never below propagation. NaN
    # while none of iperf3's connections is under BBR yet.
    assert np.nanmax(columns["pacing_gain"]) == 739 / 256
    assert 0.8 * 10e6 / 8 < np.nanmedian(columns["bw"]) <= 1.05 * 10e6 / 8
    assert 0.04 < np.nanmedian(columns["min_rtt"]) < 0.06
    assert np.median(np.diff(columns["t_ns"])) == pytest.approx(1e6, rel=0.1)


# ---------------------------------------------------------------- verdicts, refusals, choice


@pytest.mark.parametrize("way", ["link", "tc"])
@pytest.mark.parametrize(
    ("promised", "said"),
    [
        # 10 of 10.5 Mbit/s: 4.8 % too little.
        ({"rate_bps": 10_500_000}, r"the rate of r1->r2 is -\d\.\d % off: \d+ bit/s, should be 10500000 within 2 %"),
        # 2 ms more in one direction than there are.
        ({"delay_ns": 2_000_000}, r"the round trip of flow f is \d+\.\d+ ms, should be 2\.\d+ ms within 0\.20 ms"),
    ],
)
def test_a_link_that_is_off_is_refused_with_the_numbers(
    way: str, promised: dict[str, int], said: str, tmp_path: Path
) -> None:
    plan = Job(scenario(network__bottleneck__delay="0 ms").cells[0], 0, 1).plan()
    links = [{**link, **(promised if link["name"] == "r1->r2" else {})} for link in plan["links"]]
    order = {
        "plan": plan,
        "promised": {**plan, "links": links},
        "sample_ns": 10_000_000,
        "calibration": "refuse",
        "way": way,
    }
    with pytest.raises(BackendError, match=f"^the link isn't what it should be: .*{said}"):
        run_host(tmp_path, order, 10)
    assert not (tmp_path / "result.json").exists()


def test_a_late_run_is_marked() -> None:
    late = once(scenario(duration="1 s"), max_late_ms=1e-6, calibration="off")
    assert "one packet in a hundred" in late.runs[0].invalid[0]
    assert any(w.name == "invalid-run" for w in late.lint())


def test_refusals_come_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_args: Any, **_more: Any) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr("dumbbell.backends.own_link.run_host", never)
    monkeypatch.setattr("dumbbell.backends.own_link.available_variants", lambda: {"reno": "built-in"})
    monkeypatch.setattr("dumbbell.backends.own_link.bpf_variants", lambda: ([], "too old"))
    with pytest.raises(BackendError, match=r"flows\.f\.variant: 'tahoe' given: the kernel doesn't have it"):
        once(scenario(flows=[{"name": "f", "variant": "tahoe"}]))
    with pytest.raises(
        BackendError, match=r"flows\.f\.variant: this host's kernel doesn't have 'veno'.*--backend uml"
    ):
        once(scenario(flows=[{"name": "f", "variant": "veno"}]))
    tuned = {"name": "cubic", "beta": 0.8}
    with pytest.raises(BackendError, match=r"flows\.f\.variant\.beta: .*one set of parameters"):
        once(scenario(flows=[{"name": "f", "variant": tuned}]))
    with pytest.raises(BackendError, match="calibration 'marc': did you mean 'mark'"):
        OwnLink(calibration="marc")  # type: ignore[arg-type]
    with pytest.raises(BackendError, match="unknown option of back end 'kernel' 'sample': did you mean 'sample_ms'"):
        backend("kernel", {"sample": 1})


def test_the_best_way_is_chosen_and_said(
    cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    job = Job(scenario().cells[0], 0, 1)
    way, said = Kernel().choose([job])
    assert isinstance(way, OwnLink)
    assert "this host's own" in said
    file = tmp_path / "s.toml"
    file.write_text(scenario(duration="1 s").to_toml())
    plan = cli("run", file, "--backend", "kernel", "--plan")
    assert plan.returncode == 0
    assert "ip -n 'f.from' addr add 10.1.0.0/32 dev tun0" in plan.stdout
    done = cli("run", file, "--backend", "kernel", "--json", "-o", "calibration=off", "-o", "sample_ms=1")
    assert done.returncode == 0, done.stderr
    assert "this host's own, over Dumbbell's link" in done.stderr
    assert json.loads(done.stdout)["runs"][0]["facts"]["way"] == "own link"


def test_doctor_knows_this_host(cli: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    found = json.loads(cli("doctor", "--json").stdout)
    variants = {f["name"].partition(" ")[0]: f for f in found["Congestion control"]}
    assert variants["reno"]["ok"]
    assert all(variants[v]["ok"] for v in bpf_variants()[0])
    assert all(f["ok"] or f["remedy"] for findings in found.values() for f in findings)
    assert next(f for f in found["Rights"] if f["name"] == "TUN interfaces")["ok"]


@pytest.mark.parametrize("way", ["link", "tc"])
def test_an_ordinary_user_can_run_it(way: str, tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("needs root to become another user")
    nobody = 65534
    place = tmp_path / "run"
    place.mkdir()
    os.chown(place, nobody, nobody)
    program = tmp_path / "program"
    program.write_bytes(GUEST.read_bytes())
    program.chmod(0o755)
    for path in (tmp_path, *tmp_path.parents):  # pytest's own folders are for root's eyes only
        if path.name.startswith(("pytest-", "test_")):
            path.chmod(0o755)
    as_nobody: dict[str, Any] = {"user": nobody, "group": nobody, "extra_groups": []}
    probed = subprocess.run([str(program), "probe"], capture_output=True, check=False, **as_nobody)
    if json.loads(probed.stdout)["namespaces"] is not None:
        pytest.skip("this host allows no user namespaces")
    order = {
        "plan": Job(scenario(duration="1 s", network__bottleneck__delay="0 ms").cells[0], 0, 1).plan(),
        "sample_ns": 10_000_000,
        "calibration": "off",
        "way": way,
        "owner": os.getpid(),
    }
    (place / "plan.json").write_text(json.dumps(order))
    subprocess.run([str(program), "live"], cwd=place, timeout=60, check=False, **as_nobody)
    assert not (place / "error.txt").exists(), (place / "error.txt").read_text()
    result = json.loads((place / "result.json").read_text())
    assert result["flows"][0]["delivered_bytes"] > 100_000


# ---------------------------------------------------------------- nothing left behind


def in_bpf() -> set[tuple[int, int]]:
    """Programs, maps, types and links of BPF in the kernel, by their numbers, of which none comes twice."""
    if bpf_variants()[1] is not None:
        return set()
    call, every = ctypes.CDLL(None).syscall, set()
    for next_of_them in (11, 12, 23, 31):
        number = (ctypes.c_uint32 * 3)()  # after which; which it is; flags
        while call(BPF_CALL, next_of_them, number, ctypes.sizeof(number)) == 0:
            every.add((next_of_them, number[1]))
            number[0] = number[1]
    return every


State = tuple[str, str, str, set[tuple[int, int]]]


def state() -> State:
    """Namespaces, interfaces with congestion control, the processes that could be ours, BPF."""

    def said(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    links = "\n".join(line.split(":")[1] for line in said("ip", "-o", "link").splitlines())
    return said("ip", "netns"), links + registered(), "\n".join(processes()), in_bpf()


def processes(of: str = "") -> list[str]:
    """List the processes of runs, or of those whose folder begins so: others may be at work on this host too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{HOST_PREFIX}{of}" in str((entry / "cwd").readlink()):
                found.append(entry.name)
        except OSError:
            continue
    return found


@pytest.fixture
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A long run, just started, over our link or another way; its variant is loaded, where that is possible."""
    file = tmp_path / "long.toml"
    flows = [{"name": "f", "variant": "highspeed" if bpf_variants()[0] else "reno"}]
    delay = {"network__bottleneck__delay": "0 ms"}  # without netem too
    file.write_text(scenario(duration="100 s", flows=flows, **delay).to_toml())
    way = request.node.callspec.params.get("way", "link")
    command = [sys.executable, "-m", "dumbbell", "run", str(file), "--backend", "kernel", "-o", f"way={way}"]
    # A background job of a shell has SIGINT ignored, and hands that on.
    command = ["env", "--default-signal=INT", *command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait()


def wait_for_run(process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while not processes(f"{process.pid}-") and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    assert processes(f"{process.pid}-"), process.poll()


def settles(before: State) -> bool:
    """Wait until all is as before; of BPF there may be less, if the kernel was still busy with an earlier run's."""

    def settled() -> bool:
        now = state()
        return now[:3] == before[:3] and now[3] <= before[3]

    until = time.monotonic() + 20
    while not settled() and time.monotonic() < until:
        time.sleep(0.05)
    return settled()


@pytest.mark.parametrize(
    ("way", "after"),
    [*(("link", t) for t in (0.0, 0.004, 0.03, 0.2, 1.3)), *(("tc", t) for t in (0.0, 0.02, 0.06, 0.4, 1.3))],
)
def test_a_kill_leaves_nothing_that_clean_does_not_remove(
    way: str, after: float, request: pytest.FixtureRequest
) -> None:
    del way  # the fixture looks at it
    before = state()
    process = request.getfixturevalue("running")
    wait_for_run(process)
    time.sleep(after)
    process.kill()
    process.wait()
    clean()
    assert settles(before)
    assert not list(Path(tempfile.gettempdir()).glob(f"{HOST_PREFIX}{process.pid}-*"))


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_leave_nothing_at_all(which: signal.Signals, request: pytest.FixtureRequest) -> None:
    before = state()
    process = request.getfixturevalue("running")
    wait_for_run(process)
    time.sleep(0.3)
    process.send_signal(which)
    assert process.wait(timeout=30) == (130 if which == signal.SIGINT else 143)
    assert settles(before)
    assert not list(Path(tempfile.gettempdir()).glob(f"{HOST_PREFIX}{process.pid}-*"))
