"""A network that stays after its run, and commands in its hosts."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from begun_runs import DUMBBELL, INTERRUPTIBLE, begun, commands_with

from dumbbell.common.run_folders import clean
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host import host_kernel
from dumbbell.kernel.host.backend import Kernel
from dumbbell.kernel.host.host_kernel import run_host
from dumbbell.kernel.host.live import ENTERED, Host, LiveNetwork, find_live, live_networks
from dumbbell.kernel.host.prompt import Prompt
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results import run
from hosts import scenario
from required import require_programs
from waiting import wait_until


class Held:
    """A run with --hold whose commands come from the test."""

    def __init__(self, place: Path, *options: str) -> None:
        file = place / "held.toml"
        file.write_text(scenario(duration="1 s", network__bottleneck__delay="0 ms").to_toml())
        line = [*INTERRUPTIBLE, "run", str(file), "--backend", "kernel", "-o", "calibration=off", "--hold", *options]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(line, text=True, **pipes)
        self.number = self.process.pid
        for line in self._of("stderr"):  # type: ignore[assignment]
            if "is live until" in str(line):
                return
        raise AssertionError(self.process.communicate())

    def _of(self, name: str) -> IO[str]:
        found: IO[str] | None = getattr(self.process, name)
        assert found is not None
        return found

    def network(self) -> LiveNetwork:
        return find_live(self.number)

    def shell(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        line = [*DUMBBELL, "shell", "--network", str(self.number), *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload, no-any-return]

    def end(self) -> tuple[str, str]:
        """End its input; return its output and its messages."""
        return self.process.communicate()


@pytest.fixture
def held(tmp_path: Path, request: pytest.FixtureRequest, require_link_emulation: None) -> Iterator[Held]:
    del require_link_emulation
    found = Held(tmp_path, *getattr(request, "param", ()))
    yield found
    found.process.kill()
    found.process.communicate()


def is_gone(network: LiveNetwork) -> bool:
    return not network.exists() and not network.folder.exists()


@pytest.mark.parametrize("held", [[], ["-o", "emulation=tc"]], indirect=True)
def test_commands_run_in_the_hosts_of_a_network_that_is_held(held: Held) -> None:
    require_programs("ping", "ip")
    network = held.network()
    assert {"f.from", "f.to"} <= set(network.hosts)
    assert network.hosts["f.to"].address == "10.2.0.0"
    ping = held.shell("f.from", "ping", "-c", "1", "f.to")
    assert (ping.returncode, "1 received" in ping.stdout) == (0, True), ping
    # The path is that of the scenario: 10 Mbit/s, and the packet must come back.
    assert "10.2.0.0" in ping.stdout
    assert held.shell("f.from", "sh", "-c", "exit 7").returncode == 7
    assert held.shell("f.from", "no-such-program").returncode == 127
    wrong = held.shell("f.form", "true")
    assert (wrong.returncode, "did you mean 'f.from'" in wrong.stderr) == (2, True)
    output, _ = held.end()
    assert held.process.returncode == 0
    assert "reno" in output
    assert is_gone(network)


def test_commands_have_the_rights_of_programs_alone(held: Held) -> None:
    script = (
        "id -u; cat /proc/self/status | grep CapEff; ls /run; touch here && echo writes; touch /var/tmp/x || echo no"
    )
    plain = held.shell("f.from", "sh", "-c", script)
    lines = plain.stdout.split("\n")
    if os.getuid() == 0:
        assert lines[0] == "65534"
    assert "CapEff:\t0000000000000000" in lines
    assert lines[-4:] == ["dumbbell", "writes", "no", ""]
    with_rights = held.shell(
        "--rights", "network", "f.from", "sh", "-c", "grep CapEff /proc/self/status; ip link set tun0 mtu 1400"
    )
    assert "CapEff:\t0000000000003000" in with_rights.stdout
    assert with_rights.returncode == 0, with_rights.stderr
    assert "mtu 1400" in held.shell("f.from", "ip", "link", "show", "tun0").stdout
    # Nothing of a command is left.
    assert not list(held.network().folder.glob("command-*"))


def test_lines_of_stdin_are_commands(held: Held) -> None:
    lines = [
        "# a comment",
        "hosts",
        "f.to sh -c 'echo $((40 + 2))'",
        "f.to sleep 1000 &",
        "jobs",
        "kill 1",
        "nowhere true",
        "kill x",
        "all hostname -I",
        "'",
        "f.from sh -c 'exit 3'",
        "exit",
        "f.to echo never",
    ]
    done = held.shell(input="\n".join(lines))
    assert done.returncode == 3
    assert "42\n" in done.stdout
    assert "never" not in done.stdout
    assert "f.from" in done.stdout  # of hosts
    for text in ("1  runs", "unknown host 'nowhere'", "the number of a job is needed", "No closing quotation"):
        assert text in done.stderr, text


def test_commands_in_the_background_end_with_the_session(held: Held) -> None:
    mark = f"1000.{os.getpid()}"
    done = held.shell(input=f"f.to sh -c 'setsid sleep {mark} & sleep {mark}' &\nf.to sh -c 'echo seen'\n")
    assert "seen" in done.stdout
    assert not commands_with(mark)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_network_ends_with_its_process_and_commands_with_it(held: Held, which: signal.Signals) -> None:
    network = held.network()
    with network.started("f.to", ["sh", "-c", "echo ready; exec sleep 1000"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        held.process.send_signal(which)
        held.process.wait()
        assert process.communicate()[0] == b""
        assert process.returncode == 125
    expected = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
    assert held.process.returncode == expected[which]
    assert not network.exists()
    if which != signal.SIGKILL:
        assert is_gone(network)
    with pytest.raises(BackendError, match="isn't live"):
        held.network()
    with pytest.raises(BackendError, match="the network has ended"), network.started("f.to", ["true"]):
        pass


def test_an_interrupt_ends_the_command_and_not_the_session(held: Held) -> None:
    """As from a terminal: the whole foreground group gets the signal."""
    line = [*INTERRUPTIBLE, "shell", "--network", str(held.number)]
    session = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert session.stdin is not None
    assert session.stdout is not None
    session.stdin.write(
        "f.to sh -c 'trap \"echo interrupted; exit 5\" INT; echo ready; while :; do sleep 0.05; done'\n"
    )
    session.stdin.flush()
    assert session.stdout.readline() == "ready\n"
    os.killpg(session.pid, signal.SIGINT)
    output, _ = session.communicate("f.to echo after\n")
    assert output == "interrupted\nafter\n"
    assert session.returncode == 0


@pytest.mark.usefixtures("require_link_emulation")
def test_commands_run_while_flows_run(tmp_path: Path) -> None:
    with begun(tmp_path, scenario(duration="600 s"), "--backend", "kernel", "-o", "calibration=off") as process:
        wait_until(lambda: any(n.number == process.pid for n in live_networks()), process)
        network = find_live(process.pid)
        with network.started("f.from", ["ping", "-c", "1", "f.to"], stdout=subprocess.PIPE) as ping:
            assert b"1 received" in ping.communicate()[0]
        assert (network.folder / ENTERED).exists()
    clean()


@pytest.mark.usefixtures("require_link_emulation")
def test_commands_during_a_run_make_it_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    def entered(place: Path, *arguments: Any) -> Any:
        (place / ENTERED).touch()
        return run_host(place, *arguments)

    monkeypatch.setattr(host_kernel, "run_host", entered)
    results = run(scenario(duration="1 s"), backend=Kernel(emulation="link", calibration="off"))
    assert any("commands were started in its hosts" in text for text in results.runs[0].facts["invalid"])


def test_one_run_can_be_held(tmp_path: Path) -> None:
    given = scenario(duration="1 s")
    with pytest.raises(BackendError, match="hold: the scenario has 2 runs"):
        run(given.with_changes({"repetitions": 2}), backend=Kernel(emulation="link", hold="on"))
    with pytest.raises(BackendError, match="in virtual time the network ends with the run"):
        Kernel(emulation="uml", hold="on")
    assert "hold" not in vars(Uml())
    file = tmp_path / "f.toml"
    file.write_text(given.to_toml())
    for options, reason in ((["--backend", "uml"], "no network to keep"), ([], "no network to keep")):
        line = [*DUMBBELL, "run", str(file), "--hold", *options]
        done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr


@pytest.mark.usefixtures("require_link_emulation")
def test_a_network_is_held_in_python() -> None:
    backend = Kernel(emulation="link", calibration="off", hold="on")
    assert backend.held is None
    run(scenario(duration="1 s"), backend=backend)
    network = backend.held
    assert network is not None
    with network.started("f.from", ["cat", "/proc/net/dev"], stdout=subprocess.PIPE) as process:
        assert b"tun0" in process.communicate()[0]
    backend.release()
    assert backend.held is None
    assert is_gone(network)


def test_names_of_hosts_are_completed_and_become_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = [Host("a.from", "10.1.0.0", 3), Host("a.to", "10.2.0.0", 4), Host("r1", None, 5)]
    network = LiveNetwork(1, tmp_path, 1, {host.name: host for host in hosts})
    assert network.addressed(["ping", "a.to", "-I", "a.from", "r1", "xa.to"]) == [
        "ping", "10.2.0.0", "-I", "10.1.0.0", "r1", "xa.to",
    ]  # fmt: skip
    assert Prompt(network).completions("a") == ["a.from ", "a.to ", "all "]
    assert Prompt(network).completions("he") == ["help "]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(BackendError, match="no network is live"):
        find_live()
