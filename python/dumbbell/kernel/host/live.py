"""Networks of runs on the host's kernel, while they exist: their hosts, and commands in them.

A run writes ``network.json`` into its folder: its process, and the descriptor of each namespace there. A command
enters the namespace, isolated like a program of a scenario (`programs.commands`), and ends with the network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.common.run_folders import HOST_PREFIX, directory, is_locked
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import program
from dumbbell.registry import unknown

__all__ = ["ENTERED", "Host", "LiveNetwork", "find_live", "live_networks", "read_network"]

FILE = "network.json"
ENTERED = "entered"
"""A file in a run's folder: a command was started in one of its hosts."""


@dataclass(frozen=True)
class Host:
    """A namespace of a live network.

    Attributes
    ----------
    name : str
        ``FLOW.from`` and ``FLOW.to`` are the hosts of a flow; with emulation ``tc`` the nodes and links have
        namespaces, too.
    address : str or None
        Its address; None for nodes and links.
    descriptor : int
        Its descriptor in the run's process.
    """

    name: str
    address: str | None
    descriptor: int


@dataclass(frozen=True)
class LiveNetwork:
    """The network of a run that hasn't ended.

    Attributes
    ----------
    number : int
        The process that has made the run; `find_live` takes it.
    folder : Path
        The run's folder.
    process : int
        The process of the run that has the namespaces.
    hosts : dict of str to Host
        Its hosts by name.
    """

    number: int
    folder: Path
    process: int
    hosts: dict[str, Host]

    def host(self, name: str) -> Host:
        """Return a host; BackendError with the nearest name if it is unknown."""
        if name not in self.hosts:
            raise BackendError(unknown("host", name, list(self.hosts)))
        return self.hosts[name]

    def exists(self) -> bool:
        """Return True as long as the network exists."""
        try:
            return (Path("/proc") / str(self.process) / "cwd").readlink() == self.folder
        except OSError:
            return False

    def addressed(self, command: Sequence[str]) -> list[str]:
        """Return a command whose words that are names of hosts are replaced by their addresses."""
        addresses = {host.name: host.address for host in self.hosts.values() if host.address is not None}
        return [addresses.get(word, word) for word in command]

    @contextmanager
    def started(
        self,
        host: str,
        command: Sequence[str],
        *,
        network_rights: bool = False,
        **popen: Any,  # noqa: ANN401 - arguments of Popen
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command in a host; at the end of the block it is killed if it still runs.

        It has no rights, the host's files read-only, and a directory of its own that is removed at the end.

        Parameters
        ----------
        host : str
            A key of `hosts`.
        command : sequence of str
            The program and its arguments; see `addressed`.
        network_rights : bool
            True: it has CAP_NET_ADMIN and CAP_NET_RAW in the host's namespace, for tcpdump, ip and tc.
        **popen
            Further arguments of `subprocess.Popen`.

        Yields
        ------
        Popen
            Its process: exit code 125 if the network has ended first, 127 if the command can't be started.

        Raises
        ------
        BackendError
            The host is unknown, or the network has ended.
        """
        descriptor = self.host(host).descriptor
        if not self.exists():
            raise BackendError("the network has ended")
        rights = "network" if network_rights else "none"
        entered = ["enter", str(os.getpid()), str(self.process), str(descriptor), rights]
        try:
            (self.folder / ENTERED).touch()
            scratch = tempfile.mkdtemp(prefix="command-", dir=self.folder)
        except OSError:
            raise BackendError("the network has ended") from None
        try:
            line = [str(program()), *entered, *self.addressed(command)]
            process = subprocess.Popen(line, cwd=scratch, **popen)
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def read_network(folder: Path) -> LiveNetwork | None:
    """Return the network of a run's folder; None if it has none, or the run has ended."""
    try:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
        hosts = [Host(h["name"], h["address"], int(h["descriptor"])) for h in document["hosts"]]
        number = int(folder.name.removeprefix(HOST_PREFIX).partition("-")[0])
        found = LiveNetwork(number, folder, int(document["pid"]), {host.name: host for host in hosts})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.exists() else None


def live_networks() -> list[LiveNetwork]:
    """Return the networks of this user's runs on the host's kernel that haven't ended."""
    base = directory()
    found = [read_network(p) for p in sorted(base.glob(f"{HOST_PREFIX}*")) if is_locked(p)]
    return [network for network in found if network is not None]


def find_live(number: int | None = None) -> LiveNetwork:
    """Return the live network of this number, or the only one.

    Raises
    ------
    BackendError
        There is none, or more than one and no number is given.
    """
    networks = live_networks()
    if number is not None:
        networks = [n for n in networks if n.number == number]
    if not networks:
        which = "no network is live" if number is None else f"network {number} isn't live"
        raise BackendError(f"{which}: `dumbbell run FILE --backend kernel --hold` makes one and keeps it")
    if len(networks) > 1:
        numbers = ", ".join(f"{n.number} ({', '.join(list(n.hosts)[:4])} ...)" for n in networks)
        raise BackendError(f"several networks are live: {numbers}: choose one with --network")
    return networks[0]
