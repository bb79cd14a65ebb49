"""Faults of machines: each is one clear line; a lost machine costs its repetition; nothing is left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario
from dumbbell.kernel.guest import GUEST
from remote_machines import Machines
from waiting import wait_until

pytestmark = pytest.mark.usefixtures("require_machines")

DOCUMENT: dict[str, Any] = {
    "name": "fault",
    "duration": "1 s",
    "network": {"bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}, "access": {"rate": "50 Mbit/s", "delay": "0 ms"}},
    "flows": [{"name": "f", "variant": "reno", "stack": "linux"}],
}
QUICK = ("-o", "calibration=off", "-o", "timeout_s=10")

TIRED = ("-o", "calibration=off", "-o", "timeout_s=3")


def call(machines: Machines, *more: str | Path, **changes: Any) -> tuple[str | Path, ...]:
    """Return the arguments of a run on the machines; a hosts file among ``more`` replaces the usual one."""
    (machines.folder / "fault.toml").write_text(Scenario.from_dict({**DOCUMENT, **changes}).to_toml())
    hosts = () if "--hosts" in more else ("--hosts", machines.hosts_file())
    return ("run", "fault.toml", "--backend", "ssh", *hosts, *more)


def line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the only line of an error."""
    assert done.returncode == 2, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    (error,) = [text for text in done.stderr.splitlines() if text.startswith("error: ")]
    assert done.stdout == ""
    return error.removeprefix("error: back end 'ssh': ")


def test_an_unreachable_machine(machines: Machines) -> None:
    with machines.without_sshd("client"):
        found = line(machines.dumbbell(*call(machines, *QUICK)))
    assert found.startswith("host 'client' (10.78.0.2): can't be reached: ")
    assert "refused" in found.lower()
    nowhere = machines.hosts_file(name="nowhere.toml", address="10.78.0.3")
    assert "host 'client' (10.78.0.3): " in line(machines.dumbbell(*call(machines, "--hosts", nowhere, *QUICK)))


HANGS_UP = """
import pathlib, socket, sys, time
listener = socket.create_server(("10.78.0.2", 22))
client, _ = listener.accept()
folder, whole = pathlib.Path(sys.argv[1]), int(sys.argv[2])
while not any(each.stat().st_size == whole for each in folder.glob("dumbbell-agent-*/dumbbell-agent")):
    time.sleep(0.001)
"""
"""A machine that takes the connection, and ends when another machine has the whole agent."""


def test_a_machine_that_fails_while_others_get_the_agent(machines: Machines) -> None:
    hosts = machines.hosts_file()
    with machines.without_sshd("client"):
        inside = ["ip", "netns", "exec", machines.namespace("client"), sys.executable, "-c", HANGS_UP]
        with subprocess.Popen([*inside, machines.folder / "agents", str(GUEST.stat().st_size)]):
            found = line(machines.dumbbell(*call(machines, "--hosts", hosts, *QUICK)))
    assert found.startswith("host 'client' (10.78.0.2): ")
    assert machines.left() == []


def test_a_wrong_key(machines: Machines) -> None:
    other = machines.hosts_file(name="other.toml", identity=str(machines.folder / "other-key"))
    found = line(machines.dumbbell(*call(machines, "--hosts", other, *QUICK)))
    assert found.startswith("host 'client' (10.78.0.2): refuses every key that was offered: ")
    assert "identity" in found


def test_a_changed_host_key_and_an_unknown_one(machines: Machines) -> None:
    machines.stop_sshd("client")
    machines.start_sshd("client", key="other-host")
    try:
        found = line(machines.dumbbell(*call(machines, *QUICK)))
    finally:
        machines.stop_sshd("client")
        machines.start_sshd("client")
    known = machines.folder / "known_hosts"
    assert found.startswith(f"host 'client' (10.78.0.2): its host key is not the one in {known}: ")
    empty = machines.folder / "knows_nobody"
    empty.write_text("")
    unknown = machines.hosts_file(name="unknown.toml", known_hosts=str(empty))
    found = line(machines.dumbbell(*call(machines, "--hosts", unknown, *QUICK)))
    assert f"its host key is not in {empty}: connect once with `ssh`" in found


@pytest.fixture
def full_disk(machines: Machines) -> Iterator[Path]:
    """A file system of 64 KiB: too small for the agent."""
    place = machines.folder / "full"
    place.mkdir()
    # `ip netns exec` has given the machine's sshd a mount namespace of its own.
    there = ["nsenter", "--mount", "--target", str(machines.servers["client"].pid)]
    subprocess.run([*there, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=True)
    yield place
    subprocess.run([*there, "umount", place], check=True)


def test_a_full_disk(machines: Machines, full_disk: Path) -> None:
    hosts = machines.hosts_file(name="full.toml", folder=str(full_disk))
    found = line(machines.dumbbell(*call(machines, "--hosts", hosts, *QUICK)))
    assert found.startswith(f"host 'client' (10.78.0.2): the agent can't be copied to {full_disk}: ")
    assert "No space left on device" in found
    there = Path(f"/proc/{machines.servers['client'].pid}/root")
    assert list((there / full_disk.relative_to("/")).iterdir()) == []


def test_an_interface_that_is_missing(machines: Machines) -> None:
    hosts = machines.hosts_file(name="interface.toml", interface="eth9")
    found = line(machines.dumbbell(*call(machines, "--hosts", hosts, *QUICK)))
    assert (
        "host 'client' (10.78.0.2): interface 'eth9' has no IPv4 address, or is down (with one: flows, lo, ssh)"
        in found
    )


def test_congestion_control_that_a_machine_lacks(machines: Machines) -> None:
    flows = [{"name": "f", "variant": "cdg"}]
    found = line(machines.dumbbell(*call(machines, *QUICK, flows=flows)))
    assert "flows.f.variant: host 'client' (10.78.0.2) doesn't have 'cdg'" in found


def connected(machines: Machines) -> bool:
    """The flow has a connection."""
    return ":21000" in machines.inside("client", "ss", "-tnH", "state", "established").stdout


def while_it_runs(
    machines: Machines, act: Callable[[subprocess.Popen[str]], None], *arguments: str | Path
) -> tuple[int, str, str]:
    """Run ``dumbbell``, and act once when the flow has a connection: a run long enough for it."""
    process = subprocess.Popen(
        machines.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=machines.folder
    )
    wait_until(lambda: connected(machines), process)
    act(process)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def kill_agents(machines: Machines, name: str) -> None:
    for pid in machines.agents(name):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("name", ["server", "router"])
def test_a_killed_agent_costs_an_attempt_and_the_study_goes_on(machines: Machines, name: str) -> None:
    arguments = call(machines, *QUICK, "--json", repetitions=2, duration="6 s")
    code, out, err = while_it_runs(machines, lambda _: kill_agents(machines, name), *arguments)
    assert (code, len(json.loads(out)["runs"])) == (0, 2), err
    assert machines.left() == []


def test_an_agent_that_is_killed_each_time_is_one_line(machines: Machines) -> None:
    over = threading.Event()

    def kill_all() -> None:
        while not over.wait(0.05):
            kill_agents(machines, "server")

    thread = threading.Thread(target=kill_all)
    thread.start()
    try:
        found = line(machines.dumbbell(*call(machines, *QUICK)))
    finally:
        over.set()
        thread.join()
    assert "host 'server' (10.78.1.2): the agent has ended (signal KILL)" in found
    assert machines.left() == []


def test_a_cut_link_is_noticed_and_the_run_is_made_again(machines: Machines) -> None:
    """The link for SSH is down until the connections were given up."""

    def cut(_: object) -> None:
        before = set(machines.agents("client"))
        machines.inside("server", "ip", "link", "set", "ssh", "down")
        wait_until(lambda: not before & set(machines.agents("client")))
        machines.inside("server", "ip", "link", "set", "ssh", "up")
        for pid in machines.agents("server"):  # sshd notices the cut much later than we do
            os.kill(pid, signal.SIGKILL)

    code, out, err = while_it_runs(machines, cut, *call(machines, *TIRED, "--json", duration="6 s"))
    assert (code, len(json.loads(out)["runs"])) == (0, 1), err
    assert machines.left() == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_nothing(machines: Machines, how: signal.Signals) -> None:
    arguments = call(machines, *QUICK, duration="600 s")
    code, _, err = while_it_runs(machines, lambda process: process.send_signal(how), *arguments)
    if how == signal.SIGINT:
        assert code == 130
        assert "Traceback" not in err
        assert "interrupted" in err
    assert machines.left() == []


def test_a_router_that_forwards_nothing(machines: Machines) -> None:
    machines.inside("router", "sysctl", "-qw", "net.ipv4.ip_forward=0")
    try:
        found = line(machines.dumbbell(*call(machines, *QUICK)))
    finally:
        machines.inside("router", "sysctl", "-qw", "net.ipv4.ip_forward=1")
    assert "host 'router' (10.78.2.2): net.ipv4.ip_forward is 0: this machine is no router" in found


def test_without_the_extra_it_is_one_line(machines: Machines) -> None:
    blocked = machines.folder / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text("import sys; sys.modules['asyncssh'] = None\n")
    environment = {**os.environ, "PYTHONPATH": f"{blocked}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [*machines.command(*call(machines))]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=machines.folder, env=environment, timeout=600
    )
    shutil.rmtree(blocked)
    assert done.stderr.strip() == "error: asyncssh is needed, but not installed: pip install 'dumbbell[ssh]'"


def test_what_agents_cant_do_is_refused_before_any_connection(machines: Machines) -> None:
    with machines.without_sshd("client"):
        programs = [{"name": "f", "application": {"kind": "iperf3"}, "variant": "reno"}]
        found = line(machines.dumbbell(*call(machines, flows=programs)))
        assert found.startswith("flows.f.application: 'iperf3' is a program: the agents start none")
        work = {"kind": "workload", "arrivals": {"rate": "1 /s"}, "sizes": "1 kB"}
        found = line(machines.dumbbell(*call(machines, flows=[{"name": "f", "application": work, "variant": "reno"}])))
        assert found.startswith("flows.f.application: 'workload' needs many connections at a time")
        plain = machines.hosts_file(router=False, name="plain.toml")
        found = line(machines.dumbbell(*call(machines, "--hosts", plain, "--out", "x", capture={"at": ["sender"]})))
        assert found.startswith("capture: packets are observed on the router, and ")
