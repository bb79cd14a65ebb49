"""Shared by the tests of the back end ssh: three machines as network namespaces, each with an sshd of its own.

::

    control --- client, server, router     (10.78.N.0/30: SSH)
    client (10.77.1.2) --- router --- server (10.77.2.2)     (the flows)

The command line runs in the namespace ``control``. Nothing leaves these namespaces, and they vanish with the fixture.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dumbbell.kernel.guest import GUEST
from required import require, require_packages, require_programs, require_root

__all__ = ["Machines", "machines", "require_machines"]

NAMES = ("client", "server", "router")
CONFIG = """
Port 22
HostKey {key}
AuthorizedKeysFile {authorized}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
PerSourceMaxStartups none
LogLevel ERROR
"""


@dataclass(eq=False)
class Machines:
    """The machines.

    Attributes
    ----------
    folder : Path
        Keys, hosts files, working directory of the command line.
    tag : str
        The first part of the namespaces' names.
    """

    folder: Path
    tag: str
    servers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def namespace(self, name: str) -> str:
        return f"{self.tag}-{name}"

    def inside(self, name: str, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command on a machine."""
        call = ["ip", "netns", "exec", self.namespace(name), *command]
        return subprocess.run(call, capture_output=True, text=True, check=check, timeout=60)

    def address(self, name: str) -> str:
        """Return the address of a machine for SSH."""
        return f"10.78.{NAMES.index(name)}.2"

    def hosts_file(
        self, *, router: bool = True, name: str = "hosts.toml", agents: str = "agents", **changes: str
    ) -> Path:
        """Write a hosts file; ``agents`` is the folder for agents, ``changes`` replace lines of the client."""
        place = self.folder / agents
        place.mkdir(exist_ok=True)
        known = self.folder / "known_hosts"
        text = f'known_hosts = "{changes.pop("known_hosts", str(known))}"\n'
        for machine in NAMES if router else NAMES[:2]:
            lines = {
                "role": machine,
                "address": self.address(machine),
                "user": "root",
                "identity": str(self.folder / "key"),
                "folder": str(place),
            }
            if machine != "router":
                lines["interface"] = "flows"
            if machine == "client":
                lines |= changes
            text += f"[hosts.{machine}]\n" + "".join(f'{k} = "{v}"\n' for k, v in lines.items())
        path = self.folder / name
        path.write_text(text)
        return path

    def command(self, *arguments: str | Path) -> list[str]:
        """Return the command that runs ``dumbbell`` in the namespace of control."""
        call = [sys.executable, "-m", "dumbbell", *map(str, arguments)]
        return ["ip", "netns", "exec", self.namespace("control"), *call]

    def dumbbell(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run ``dumbbell`` in the namespace of control."""
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, cwd=self.folder, timeout=600
        )

    def start_sshd(self, name: str, key: str | None = None) -> None:
        """Start a machine's sshd, with another host key if ``key`` names one."""
        config = self.folder / f"{name}.conf"
        authorized = self.folder / "key.pub"
        config.write_text(CONFIG.format(key=self.folder / (key or f"host-{name}"), authorized=authorized))
        program = shutil.which("sshd") or "/usr/sbin/sshd"
        call = ["ip", "netns", "exec", self.namespace(name), program, "-D", "-e", "-f", str(config)]
        self.servers[name] = subprocess.Popen(call, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(1000):
            if ":22" in self.inside(name, "ss", "-ltnH").stdout:
                return
            time.sleep(0.02)
        pytest.fail(f"sshd of {name} doesn't listen")

    def stop_sshd(self, name: str) -> None:
        """End a machine's sshd and everything that it has started."""
        server = self.servers.pop(name)
        server.terminate()
        server.wait(timeout=60)
        for pid in self.processes(name):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def processes(self, name: str) -> list[int]:
        """Return the processes of a machine."""
        done = subprocess.run(
            ["ip", "netns", "pids", self.namespace(name)], capture_output=True, text=True, check=False
        )
        return [int(pid) for pid in done.stdout.split()]

    def agents(self, name: str) -> list[int]:
        """Return the agents that run on a machine."""
        found = []
        for pid in self.processes(name):
            with suppress(OSError):
                if "dumbbell-" in str(Path(f"/proc/{pid}/exe").readlink()):
                    found.append(pid)
        return found

    def left(self) -> list[str]:
        """Return what runs have left on the machines: agents, files, an interface, rules. They may end later."""
        for _ in range(500):
            found = [f"agent {pid} on {name}" for name in NAMES for pid in self.agents(name)]
            found += [str(path) for path in self.folder.glob("*/dumbbell-agent-*")]
            if "dumbbell0" in self.inside("router", "ip", "-o", "link").stdout:
                found.append("the router's interface")
            if "219" in self.inside("router", "ip", "rule").stdout:
                found.append("the router's rules")
            if not found:
                return []
            time.sleep(0.02)
        return found

    @contextmanager
    def without_sshd(self, name: str) -> Iterator[None]:
        self.stop_sshd(name)
        try:
            yield
        finally:
            self.start_sshd(name)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def _make(m: Machines) -> None:
    """Make namespaces, links and addresses."""
    for name in ("control", *NAMES):
        _run("ip", "netns", "add", m.namespace(name))
        m.inside(name, "ip", "link", "set", "lo", "up")
    for n, name in enumerate(NAMES):
        ends = (("control", f"to{n}", f"10.78.{n}.1/30"), (name, "ssh", f"10.78.{n}.2/30"))
        _link(m, *ends)
    for n, name in enumerate(NAMES[:2], 1):
        _link(m, (name, "flows", f"10.77.{n}.2/24"), ("router", f"flows{n}", f"10.77.{n}.1/24"))
        m.inside(name, "ip", "route", "add", "10.77.0.0/16", "via", f"10.77.{n}.1")
    m.inside("router", "sysctl", "-qw", "net.ipv4.ip_forward=1")
    for setting in ("all", "default", "flows1", "flows2"):
        m.inside("router", "sysctl", "-qw", f"net.ipv4.conf.{setting}.rp_filter=2")


def _link(m: Machines, a: tuple[str, str, str], b: tuple[str, str, str]) -> None:
    end = ["ip", "-n", m.namespace(a[0]), "link", "add", a[1], "type", "veth", "peer", "name", b[1]]
    _run(*end, "netns", m.namespace(b[0]))
    for name, interface, address in (a, b):
        m.inside(name, "ip", "addr", "add", address, "dev", interface)
        m.inside(name, "ip", "link", "set", interface, "up")


def _keys(m: Machines, names: Sequence[str]) -> None:
    for name in names:
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(m.folder / name))
    known = [f"{m.address(name)} {(m.folder / f'host-{name}.pub').read_text()}" for name in NAMES]
    (m.folder / "known_hosts").write_text("".join(known))


@pytest.fixture(scope="session")
def require_machines() -> None:
    """Require what these machines need."""
    require_packages("asyncssh")
    require_root()
    require_programs("sshd", "ssh-keygen", "ip")
    missing = None if Path("/dev/net/tun").exists() else "needs /dev/net/tun"
    require(
        "host", missing if GUEST.exists() else "needs dumbbell-guest: install libc6-dev and build the package again"
    )


@pytest.fixture(scope="session")
def machines(require_machines: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """The three machines."""
    del require_machines
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    m = Machines(tmp_path_factory.mktemp("machines"), f"db{os.getpid()}")
    try:
        _make(m)
        _keys(m, ["key", "other-key", "other-host", *(f"host-{name}" for name in NAMES)])
        for name in NAMES:
            m.start_sshd(name)
        yield m
        assert m.left() == []
    finally:
        for name in list(m.servers):
            m.stop_sshd(name)
        for name in ("control", *NAMES):
            subprocess.run(["ip", "netns", "del", m.namespace(name)], check=False, capture_output=True)
