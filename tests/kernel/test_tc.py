"""The host's own kernel with its own queue disciplines: physics, refusals, offloads, steps."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario, _core, run
from dumbbell.backends import Job
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.backend import Kernel
from dumbbell.kernel.host.features import probe, why_no_veth
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.host.tc_backend import Tc
from dumbbell.results import Results
from kernels import PAYLOAD, bottleneck, one_flow
from required import require, require_programs, require_root

REASON = why_no_veth()


@pytest.fixture(autouse=True)
def _possible() -> None:
    require("host", REASON)


def scenario(**changes: Any) -> Scenario:
    """Return a scenario of 10 Mbit/s without delay, which every kernel with tbf can run."""
    flows = [{"name": "f", "variant": "reno"}, {"name": "g", "variant": "cubic"}]
    given = {"flows": flows, "network__bottleneck__delay": "0 ms", **changes}
    return one_flow("tc", "3 s", rate="10 Mbit/s", limit="33 packets", **given)


def once(given: Scenario, **options: Any) -> Results:
    return run(given, backend=Tc(**{"calibration": "mark", **options}))


# ---------------------------------------------------------------- steps

CARRY = """
while IFS= read -r step; do
    case $step in
        *ethtool*) ;;
        "ip "* | "tc "*) eval "$step" || { echo "failed: $step"; exit 1; } ;;
    esac
done
ip netns exec f.to python3 -c 'import socket
s = socket.create_server(("10.2.0.0", 9000)).accept()[0]
print(sum(map(len, iter(lambda: s.recv(1 << 16), b""))))' &
sleep 0.3
ip netns exec f.from python3 -c 'import socket
socket.create_connection(("10.2.0.0", 9000)).sendall(bytes(200_000))'
wait
"""


def test_the_steps_typed_in_make_a_network_that_carries() -> None:
    require_programs("unshare", "tc", "python3")
    require_root()
    steps = Kernel(emulation="tc").steps(Job(scenario().cells[0], 0, 1))
    # In a mount namespace of its own, so that the names are gone with it.
    hidden = 'mkdir -p /run/netns; mount -t tmpfs none /run/netns; exec sh -c "$0"'
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", hidden, CARRY],
        input="\n".join(steps) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "200000", done.stdout + done.stderr


# ---------------------------------------------------------------- physics


def test_two_flows_obey_physics(tmp_path: Path) -> None:
    given = scenario(capture={"at": ["bottleneck"]}, trace={"series": True})
    results = run(given, backend=Tc(calibration="mark"), out=tmp_path)
    f, g = results.runs[0].flows
    q = bottleneck(results)
    capacity = 10e6 * PAYLOAD
    both = f["goodput_bps"] + g["goodput_bps"]
    # Bytes count when they are in order; the bucket holds 2751 bytes.
    assert 0.85 * capacity <= both <= 1.02 * capacity
    assert q["throughput_bps"] <= 1.002 * 10e6
    # 33 packets of 1.2 ms; beyond that only late timers, on a busy host.
    assert q["max_sojourn_ms"] > 30 * 1.2
    assert q["p50_sojourn_ms"] < 33 * 1.2 + 1
    assert q["waiting_at_start"] + q["arrivals"] == q["departures"] + q["drops"] + q["waiting_at_end"]
    assert q["on_wire_at_start"] + q["departures"] == q["delivered"] + q["wire_losses"] + q["on_wire_at_end"]
    assert f["dropped_packets"] + g["dropped_packets"] == q["drops"] > 0
    facts = results.runs[0].facts
    assert facts["emulation"] == "tc"
    assert facts["host"]["offloads"] == {"tso": False, "gso": False, "gro": False}
    tree = facts["host"]["disciplines"]
    assert any(line.startswith("r1, v10: tbf rate 10000000bit") and line.endswith("pfifo limit 33") for line in tree)
    assert facts["link"]["missed"] == 0
    # The queue's depth, by the waits of a train at 1.5 times the rate.
    assert facts["calibration"][0]["depth_packets"] == pytest.approx(33, abs=6)
    simulator = run(given.with_changes({"capture": []}))
    assert set(results.tables(0)) == set(simulator.tables(0))
    analyzed = _core.analyze([results.captures(0)["bottleneck"]])
    sent = int(sum(map(int, analyzed.table("flows")["data_packets"])))
    assert sent == pytest.approx(q["arrivals"], abs=10)  # handshakes carry no data
    assert not analyzed.damage


def test_a_shorter_queue_delays_less_and_loses_more() -> None:
    flows = [{"name": "f", "variant": "reno"}]
    short, long = (
        once(scenario(flows=flows, duration="2 s", network__bottleneck__queue__limit=limit), calibration="off")
        .runs[0]
        .flows[0]
        for limit in ("8 packets", "80 packets")
    )
    assert short["srtt_mean_ms"] + 10 < long["srtt_mean_ms"]
    assert short["fast_retransmits"] + short["timeouts"] > long["fast_retransmits"] + long["timeouts"]


def test_programs_datagrams_and_pings_share_the_path() -> None:
    require_programs("iperf3")
    cbr = {"kind": "cbr", "rate": "500 kbit/s", "packet": "500 bytes", "phase": "0 s"}
    flows = [
        {"name": "i", "variant": "reno", "application": {"kind": "iperf3"}},
        {"name": "u", "transport": "udp", "application": cbr},
        {"name": "p", "application": {"kind": "ping", "interval": "50 ms", "packet": "100 bytes"}},
        {"name": "w", "variant": "cubic", "application": {"kind": "page", "size": "20 kB", "repeat": 2}},
    ]
    results = once(scenario(flows=flows, duration="3 s"), calibration="off")
    rows = {row["name"]: row for row in results.runs[0].flows}
    figures = results.runs[0].facts["programs"]["i"]["figures"]
    assert figures["congestion"] == "reno"
    # iperf3 doesn't count the packets in flight when it stops: up to a window, 34 + 33 packets here.
    assert rows["i"]["delivered_bytes"] == pytest.approx(figures["delivered_bytes"], abs=80 * 1448)
    assert rows["u"]["sent_packets"] == 375  # one each 8 ms for 3 s
    assert rows["w"]["transfers_completed"] == 2
    assert rows["p"]["pings_sent"] == 60
    assert rows["p"]["rtt_max_ms"] > 10  # behind the others' packets


def test_offloads_put_super_packets_on_the_path() -> None:
    flows = [{"name": "f", "variant": "cubic"}]
    given = scenario(flows=flows, network__bottleneck__queue__limit="100 packets", duration="2 s")
    on = once(given, offloads="on", calibration="off")
    off = once(given, calibration="off")
    size = [r.runs[0].flows[0]["sent_bytes"] / r.runs[0].flows[0]["sent_packets"] for r in (on, off)]
    assert size[0] > 2 * 1448 > size[1] <= 1448
    assert on.runs[0].facts["host"]["offloads"]["gso"]
    # The queue counts packets: it holds far more bytes than 100 full ones.
    assert bottleneck(on)["mean_backlog_bytes"] > bottleneck(off)["mean_backlog_bytes"]


# ---------------------------------------------------------------- refusals, choice, plan


def lacking(monkeypatch: pytest.MonkeyPatch, *kinds: str) -> None:
    """Let the host lack some disciplines."""
    found = probe()
    absent = {**dict.fromkeys(found.disciplines), **dict.fromkeys(kinds, "the kernel doesn't have it")}
    monkeypatch.setattr("dumbbell.kernel.host.tc_backend.probe", lambda: dataclasses.replace(found, disciplines=absent))


@pytest.mark.parametrize(
    ("changes", "kind", "place"),
    [
        ({"delay": "5 ms"}, "netem", "delay"),
        ({"loss": "1 %"}, "netem", "loss"),
        ({"queue": "codel"}, "codel", "queue"),
        ({}, "tbf", "rate"),
    ],
)
def test_features_that_the_kernel_lacks_are_refused_by_name(
    changes: dict[str, Any], kind: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_args: Any, **_more: Any) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr("dumbbell.kernel.host.host_kernel.run_host", never)
    lacking(monkeypatch, kind)
    given = scenario(**{f"network__bottleneck__{key}": value for key, value in changes.items()})
    with pytest.raises(BackendError, match=rf"links\.r1->r2\.{place}: needs '{kind}', which this host's kernel"):
        once(given)


def test_it_is_chosen_where_link_emulation_is_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_tunnel(*_args: Any) -> None:
        raise BackendError("no TUN interface can be made")

    job = Job(scenario().cells[0], 0, 1)
    assert type(Kernel().choose([job])[0]) is LinkEmulation
    assert type(Kernel(emulation="tc", offloads="on").choose([job])[0]) is Tc
    monkeypatch.setattr(LinkEmulation, "check", no_tunnel)
    chosen, description = Kernel().choose([job])
    assert type(chosen) is Tc
    assert description.endswith("(tc), because: no TUN interface can be made")


def test_the_plan_has_every_step_also_where_the_host_lacks_something(
    cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(scenario(network__bottleneck__delay="20 ms", network__bottleneck__loss="1 %").to_toml())
    done = cli("kernel", "plan", file, "-o", "emulation=tc")
    assert done.returncode == 0, done.stderr
    steps = done.stdout.splitlines()
    assert steps[0] == "# kernel: this host's own, with its own queue disciplines (tc)"
    netem = [step for step in steps if "dev v12 " in step and "netem" in step]
    # Behind the shaper, in the link's box; a limit that no delay fills.
    assert netem[0].startswith("tc -n 'r1~r2' qdisc add dev v12 root handle 1: netem limit 100000000 delay 20000000ns")
    assert "loss 1%" in netem[0]
    assert any(step.startswith("tc -n 'r1' qdisc add dev v10 root handle 1: stab") for step in steps)
