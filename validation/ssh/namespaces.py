"""Machines as network namespaces, each with an sshd of its own.

::

    control --- every machine                          (10.78.N.0/30: SSH)
    ends (10.77.N.2/24) --- router --- ends            (the flows)

The command line runs in the namespace ``control``. Nothing leaves these namespaces, and they vanish with `close`.
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

__all__ = ["THREE", "Machines"]

THREE = {"client": "client", "server": "server", "router": "router"}
"""Roles of the smallest set of machines, by name."""
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
    roles : dict of str to str
        The role of each machine; one is the router.
    servers : dict of str to Popen
        The running sshd of each machine.
    """

    folder: Path
    tag: str
    roles: dict[str, str] = field(default_factory=lambda: dict(THREE))
    servers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def running(cls, folder: Path, roles: dict[str, str] = THREE) -> Iterator[Machines]:
        """Make the machines and start every sshd; all of it is gone at the end."""
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        m = cls(folder, f"db{os.getpid()}", dict(roles))
        try:
            _make(m)
            _keys(m, ["key", "other-key", "other-host", *(f"host-{name}" for name in m.roles)])
            for name in m.roles:
                m.start_sshd(name)
            yield m
        finally:
            for name in list(m.servers):
                m.stop_sshd(name)
            for name in ("control", *m.roles):
                subprocess.run(["ip", "netns", "del", m.namespace(name)], check=False, capture_output=True)

    @property
    def router(self) -> str:
        """The name of the router."""
        return next(name for name, role in self.roles.items() if role == "router")

    @property
    def ends(self) -> list[str]:
        """The names of clients and servers."""
        return [name for name, role in self.roles.items() if role != "router"]

    def namespace(self, name: str) -> str:
        """Return the name of a machine's namespace."""
        return f"{self.tag}-{name}"

    def inside(self, name: str, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command on a machine."""
        call = ["ip", "netns", "exec", self.namespace(name), *command]
        return subprocess.run(call, capture_output=True, text=True, check=check, timeout=300)

    def address(self, name: str) -> str:
        """Return the address of a machine for SSH."""
        return f"10.78.{list(self.roles).index(name)}.2"

    def hosts_file(
        self, *, router: bool = True, name: str = "hosts.toml", agents: str = "agents", **changes: str
    ) -> Path:
        """Write a hosts file; ``agents`` is the folder for agents, ``changes`` replace lines of the first client."""
        place = self.folder / agents
        place.mkdir(exist_ok=True)
        known = self.folder / "known_hosts"
        text = f'known_hosts = "{changes.pop("known_hosts", str(known))}"\n'
        for machine in self.roles if router else self.ends:
            lines = {
                "role": self.roles[machine],
                "address": self.address(machine),
                "user": "root",
                "identity": str(self.folder / "key"),
                "folder": str(place),
            }
            if machine in self.ends:
                lines["interface"] = "flows"
            if machine == self.ends[0]:
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
        raise TimeoutError(f"sshd of {name} doesn't listen")

    def stop_sshd(self, name: str) -> None:
        """End a machine's sshd and everything that it has started."""
        server = self.servers.pop(name)
        server.terminate()
        server.wait(timeout=300)
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
            found = [f"agent {pid} on {name}" for name in self.roles for pid in self.agents(name)]
            found += [str(path) for path in self.folder.glob("*/dumbbell-agent-*")]
            if "dumbbell0" in self.inside(self.router, "ip", "-o", "link").stdout:
                found.append("the router's interface")
            if "219" in self.inside(self.router, "ip", "rule").stdout:
                found.append("the router's rules")
            if not found:
                return []
            time.sleep(0.02)
        return found

    @contextmanager
    def without_sshd(self, name: str) -> Iterator[None]:
        """Stop a machine's sshd for this time."""
        self.stop_sshd(name)
        try:
            yield
        finally:
            self.start_sshd(name)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=300)


def _make(m: Machines) -> None:
    """Make namespaces, links and addresses."""
    for name in ("control", *m.roles):
        _run("ip", "netns", "add", m.namespace(name))
        m.inside(name, "ip", "link", "set", "lo", "up")
    for n, name in enumerate(m.roles):
        _link(m, ("control", f"to{n}", f"10.78.{n}.1/30"), (name, "ssh", f"10.78.{n}.2/30"))
    interfaces = []
    for n, name in enumerate(m.ends, 1):
        _link(m, (name, "flows", f"10.77.{n}.2/24"), (m.router, f"flows{n}", f"10.77.{n}.1/24"))
        m.inside(name, "ip", "route", "add", "10.77.0.0/16", "via", f"10.77.{n}.1")
        interfaces.append(f"flows{n}")
    m.inside(m.router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
    for setting in ("all", "default", *interfaces):
        m.inside(m.router, "sysctl", "-qw", f"net.ipv4.conf.{setting}.rp_filter=2")


def _link(m: Machines, a: tuple[str, str, str], b: tuple[str, str, str]) -> None:
    """Connect two machines: name, interface and address of each end."""
    end = ["ip", "-n", m.namespace(a[0]), "link", "add", a[1], "type", "veth", "peer", "name", b[1]]
    _run(*end, "netns", m.namespace(b[0]))
    for name, interface, address in (a, b):
        m.inside(name, "ip", "addr", "add", address, "dev", interface)
        m.inside(name, "ip", "link", "set", interface, "up")


def _keys(m: Machines, names: Sequence[str]) -> None:
    """Make keys, and the file of the known host keys."""
    for name in names:
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(m.folder / name))
    known = [f"{m.address(name)} {(m.folder / f'host-{name}.pub').read_text()}" for name in m.roles]
    (m.folder / "known_hosts").write_text("".join(known))
