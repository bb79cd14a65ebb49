"""The back end ssh between three machines: figures beside the simulator's, series, captures, nothing left."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario, run
from kernels import PAYLOAD
from remote_machines import Machines
from required import require_programs

pytestmark = pytest.mark.usefixtures("require_machines")

QUEUE = {"discipline": "droptail", "limit": "40 packets"}
CBR = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "1000 bytes"}
DOCUMENT: dict[str, Any] = {
    "name": "remote",
    "duration": "6 s",
    "measure_from": "1 s",
    "network": {
        "bottleneck": {"rate": "8 Mbit/s", "delay": "20 ms", "queue": QUEUE},
        "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
    },
    "flows": [
        {"name": "f", "variant": "cubic", "stack": "linux"},
        {"name": "probe", "application": {"kind": "ping", "interval": "100 ms"}},
        {"name": "load", "transport": "udp", "application": CBR},
        {"name": "page", "variant": "reno", "application": {"kind": "page", "size": "20 kB", "repeat": 3}},
    ],
}


def document(machines: Machines, given: dict[str, Any], *more: str, router: bool = True) -> dict[str, Any]:
    """Run a scenario on the machines; returns the printed document."""
    (machines.folder / "scenario.toml").write_text(Scenario.from_dict(given).to_toml())
    hosts = machines.hosts_file(router=router)
    done = machines.dumbbell("run", "scenario.toml", "--backend", "ssh", "--hosts", hosts, "--json", *more)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@functools.cache
def shaped(machines: Machines) -> dict[str, Any]:
    """Return the run with the links on the router; series and captures are kept."""
    given = {**DOCUMENT, "trace": {"series": ["flows", "queues"]}, "capture": {"at": ["sender"]}}
    shutil.rmtree(machines.folder / "kept", ignore_errors=True)
    out = ("--out", "kept", "-o", "calibration=mark")
    found: dict[str, Any] = document(machines, given, *out)["runs"][0]
    return found


def rows(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f["name"]: f for f in found["flows"]}


def test_figures_are_beside_the_simulators(machines: Machines) -> None:
    """Bounds as in test_host.py: real time on a machine that others use too."""
    found, simulated = rows(shaped(machines)), {f["name"]: f for f in run(Scenario.from_dict(DOCUMENT)).runs[0].flows}
    f, expected = found["f"], simulated["f"]
    # 7 of 8 Mbit/s are left by the datagrams, of which headers take a part.
    assert f["throughput_bps"] <= 1.001 * 8e6
    assert 0.85 * 7e6 * PAYLOAD - 0.2e6 <= f["goodput_bps"] <= 7.3e6
    assert f["goodput_bps"] == pytest.approx(expected["goodput_bps"], rel=0.15)
    assert f["rtt_min_ms"] > 40
    # The queue holds 40 packets of 1.5 ms.
    assert f["rtt_p50_ms"] < 45 + 40 * 1.5
    assert f["variant"] == "cubic"
    assert f["snd_mss_bytes"] == 1448
    load = found["load"]
    assert load["sent_packets"] == pytest.approx(simulated["load"]["sent_packets"], abs=2)
    # One way: 20 ms, and the queue; the clocks' offsets are known to less than a millisecond here.
    assert 19 < load["owd_mean_ms"] < 25 + 40 * 1.5
    probe = found["probe"]
    assert probe["pings_sent"] == simulated["probe"]["pings_sent"]
    assert probe["sent_packets"] == probe["pings_sent"]
    assert probe["rtt_min_ms"] > 40
    page = found["page"]
    assert (page["transfers_started"], page["transfers_completed"]) == (3, 3)
    assert page["completion_time_s"] > 3 * 0.08  # two round trips each at least


def test_the_router_accounts_for_every_packet(machines: Machines) -> None:
    q = next(q for q in shaped(machines)["queues"] if q["name"] == "r1->r2")
    assert q["waiting_at_start"] + q["arrivals"] == q["departures"] + q["drops"] + q["waiting_at_end"]
    assert q["on_wire_at_start"] + q["departures"] == q["delivered"] + q["wire_losses"] + q["on_wire_at_end"]
    assert q["max_sojourn_ms"] <= 40 * 1.5 + 0.01


def test_the_facts_have_path_clocks_and_machines(machines: Machines) -> None:
    facts = shaped(machines)["facts"]
    (path,) = facts["calibration"]
    assert path["path"] == "client -> server"
    # 40 ms and the transmission of 100 bytes both ways, at 8 Mbit/s and twice at 100 Mbit/s.
    assert path["expected_rtt_ms"] == pytest.approx(40 + 2 * 800 * (1 / 8e3 + 2 / 100e3), abs=0.1)
    assert path["rtt_ms"] >= 40
    assert facts["link"]["packets"] > 1000
    assert set(facts["clocks"]) == set(facts["hosts"]) == {"client", "server", "router"}
    # The machines share this host's clock: the offset is at most its bound.
    for clock in facts["clocks"].values():
        assert abs(clock["offset_ms"]) <= clock["bound_ms"] + 0.001


def test_series_and_captures_are_fetched(machines: Machines) -> None:
    from dumbbell.results import Results

    shaped(machines)
    results = Results.load(machines.folder / "kept")
    cwnd = results.series(0, "cwnd", flow="f")
    assert len(cwnd) > 100
    assert cwnd["cwnd"].to_numpy().max() > 20 * 1448
    (capture,) = machines.folder.glob("kept/**/*.pcapng")
    assert capture.stat().st_size > 1 << 16


def test_the_path_as_it_is_is_measured_first(machines: Machines) -> None:
    """Without a router the path is veth pairs: faster and shorter than the scenario's, which is a warning."""
    flows = [{"name": "f", "variant": "reno", "stack": "linux", "application": {"kind": "transfer", "size": "200 kB"}}]
    found = document(machines, {**DOCUMENT, "duration": "3 s", "measure_from": "0 s", "flows": flows}, router=False)
    (made,) = found["runs"]
    (path,) = made["facts"]["calibration"]
    assert path["rtt_ms"] < 40
    warnings = " ".join(made["facts"]["warnings"])
    assert "client -> server: the idle round-trip time is" in warnings
    assert "client -> server: the rate is" in warnings
    (f,) = made["flows"]
    assert (f["transfers_completed"], f["delivered_bytes"]) == (1, 200_000)
    assert f["rtt_min_ms"] > 0
    assert made["queues"] == []
    assert 0 < f["completion_time_s"] < 3


def test_a_kept_agent_is_copied_once(machines: Machines) -> None:
    flows = [{"name": "f", "variant": "reno", "application": {"kind": "transfer", "size": "20 kB"}}]
    given = {**DOCUMENT, "duration": "1 s", "measure_from": "0 s", "flows": flows}
    hosts = machines.hosts_file(router=False, name="keeping.toml", agents="agents here")
    (machines.folder / "scenario.toml").write_text(Scenario.from_dict(given).to_toml())
    call = ("run", "scenario.toml", "--backend", "ssh", "--hosts", hosts, "--keep-agent", "-o", "calibration=off")
    inodes = []
    for _ in range(2):
        done = machines.dumbbell(*call)
        assert done.returncode == 0, done.stderr
        (agent,) = machines.folder.glob("agents here/dumbbell-kept-*/dumbbell-agent")
        inodes.append(agent.stat().st_ino)
    assert inodes[0] == inodes[1]


def test_doctor_examines_every_machine(machines: Machines) -> None:
    done = machines.dumbbell("doctor", "--hosts", machines.hosts_file(), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert list(report) == [f"{name} ({name}, {machines.address(name)})" for name in ("client", "server", "router")]
    client = {finding["name"]: finding for finding in report["client (client, 10.78.0.2)"]}
    assert client["address of the flows"]["state"] == "10.77.1.2"
    assert "cubic" in client["congestion control"]["state"]
    router = {finding["name"]: finding["ok"] for finding in report["router (router, 10.78.2.2)"]}
    assert router["forwards packets"]
    assert router["TUN interfaces"]


def test_settings_and_ports_of_machines_stay(machines: Machines) -> None:
    """A run leaves them as they were."""

    def state() -> list[str]:
        found = []
        for name in machines.roles:
            found.append(machines.inside(name, "sysctl", "-a", "--pattern", "^net[.]ipv4[.](tcp|udp|ip|conf)").stdout)
            found.append(machines.inside(name, "ss", "-ltunH").stdout)
        return found

    before = state()
    flows = [{"name": "f", "variant": "cubic"}]
    document(machines, {**DOCUMENT, "duration": "1 s", "measure_from": "0 s", "flows": flows}, "-o", "calibration=off")
    assert machines.left() == []
    assert state() == before


def test_nothing_is_left(machines: Machines) -> None:
    shaped(machines)
    assert machines.left() == []


def test_the_configuration_of_the_user_forwards_nothing(machines: Machines, tmp_path: Path) -> None:
    """With an agent, and a configuration that forwards it: to the machine, and to one on the way to it."""
    require_programs("ssh-agent")
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text(
        f"ForwardAgent yes\nForwardX11Trusted yes\nGSSAPIDelegateCredentials yes\nRequestTTY force\n"
        f"UserKnownHostsFile {machines.folder}/known_hosts\nIdentityFile {machines.folder}/key\nUser root\n"
        f"Host far\nHostname 10.77.2.2\nHostKeyAlias {machines.address('server')}\n"
        f"ProxyJump {machines.address('router')}\n"
    )
    script = f"""
import asyncio, asyncssh, dataclasses, json
from dumbbell.kernel.ssh.connection import connect
from dumbbell.kernel.ssh.hosts import read

hosts = read({str(machines.hosts_file(router=False))!r})
client, server = hosts.machines

async def seen(connecting):
    connection = await connecting
    way = connection.get_extra_info("connection") or connection._tunnel
    done = await connection.run('echo "$SSH_AUTH_SOCK"; tty', encoding="utf-8")
    on_way = way and (await way.run('echo "$SSH_AUTH_SOCK"')).stdout.strip()
    options = connection._options
    connection.close()
    facts = options.x11_forwarding, options.gss_delegate_creds
    return done.stdout.split("\\n")[0].strip(), "not a tty" in done.stdout, on_way, *map(bool, facts)

async def all():
    server_far = dataclasses.replace(server, address="far")
    plain = await seen(asyncssh.connect(client.address))
    return [plain, *[await seen(connect(hosts, machine, 30)) for machine in (client, server_far)]]

print(json.dumps(asyncio.run(all())))
"""
    call = machines.command()
    call[call.index("-m") :] = ["-c", script]
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("SSH_AUTH_SOCK", None)
    done = subprocess.run(["ssh-agent", *call], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    plain, client, server = json.loads(done.stdout)
    assert plain[0].startswith("/tmp/")
    assert plain[1:] == [False, None, True, True]
    assert client == ["", True, None, False, False]
    assert server == ["", True, "", False, False]
