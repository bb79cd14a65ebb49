"""The hosts file: machines with their roles, as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.common.documents import read_toml
from dumbbell.common.formats import newer
from dumbbell.common.numbers import whole
from dumbbell.common.reading import read_text
from dumbbell.common.words import shown
from dumbbell.exceptions import BackendError
from dumbbell.registry import unknown

__all__ = ["PORTS", "ROLES", "Hosts", "Machine", "read"]

FORMAT = 1
ROLES = ("client", "server", "router")
PORTS = (21_000, 21_999)
"""Ports of the flows' servers: below the kernel's range of ports for clients, 32768 to 60999 [ip-sysctl.rst]."""
LEAST_PORT = 1024
MOST_BYTES = 1 << 20
SECRETS = ("password", "passphrase")


@dataclass(frozen=True)
class Machine:
    """One machine.

    Attributes
    ----------
    name : str
        Its name in the file.
    role : str
        ``client`` (data senders), ``server`` (data receivers) or ``router`` (the links of the scenario).
    address : str
        Name or address for SSH, or an alias of the SSH configuration.
    user, port, identity : optional
        As `ssh` takes them; otherwise from the SSH configuration.
    interface : str, optional
        The interface that carries the flows. Default: the one with the address that SSH has reached.
    folder : str
        Folder on the machine into which the agent is copied.
    """

    name: str
    role: str
    address: str
    user: str | None = None
    port: int | None = None
    identity: str | None = None
    interface: str | None = None
    folder: str = "/tmp"


@dataclass(frozen=True)
class Hosts:
    """All machines of a file.

    Attributes
    ----------
    file : str
        The file.
    machines : tuple of Machine
        In the file's order.
    known_hosts : str or None
        File of trusted host keys. Default: that of OpenSSH.
    ports : (int, int)
        First and last port of the flows' servers.
    """

    file: str
    machines: tuple[Machine, ...]
    known_hosts: str | None = None
    ports: tuple[int, int] = PORTS

    def of(self, role: str) -> list[Machine]:
        """Return the machines of a role."""
        return [m for m in self.machines if m.role == role]


def read(file: str | Path) -> Hosts:
    """Read a hosts file.

    Raises
    ------
    BackendError
        Each problem in a line: its place, the value given, the values allowed.
    """
    path = Path(file)
    try:
        text = read_text(path, MOST_BYTES)
    except OSError as e:
        raise BackendError(f"{path}: {e.strerror or e}") from None
    except ValueError as e:  # too large, not UTF-8
        raise BackendError(f"{path}: not a hosts file: {e}") from None
    try:
        document = read_toml(text)
    except ValueError as e:
        raise BackendError(f"{path}: not valid TOML: {e}") from None
    return _Reader(str(path)).hosts(document)


class _Reader:
    """Checks a document; collects every problem."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[str] = []

    def hosts(self, document: Mapping[str, Any]) -> Hosts:
        if (refused := newer(document.get("format"), FORMAT)) is not None:
            raise BackendError(f"{self._file}: format: {refused}")
        if document.get("format", FORMAT) != FORMAT:
            self._problem("format", document["format"], f"must be {FORMAT}")
        self._keys("", document, ["format", "hosts", "known_hosts", "ports"])
        machines = []
        tables = document.get("hosts", {})
        if not isinstance(tables, dict):
            self._problem("hosts", tables, "must be tables: [hosts.NAME]")
            tables = {}
        for name, table in tables.items():
            if isinstance(table, dict):
                machines.append(self._machine(name, table))
            else:
                self._problem(f"hosts.{name}", table, f"must be a table: [hosts.{name}]")
        known = self._text("known_hosts", document.get("known_hosts"))
        hosts = Hosts(self._file, tuple(machines), known, self._ports(document.get("ports")))
        if not self._problems:
            self._roles(hosts)
        if self._problems:
            raise BackendError("\n".join(f"{self._file}: {problem}" for problem in self._problems))
        return hosts

    def _machine(self, name: str, table: Mapping[str, Any]) -> Machine:
        place = f"hosts.{name}"
        known = [f for f in Machine.__dataclass_fields__ if f != "name"]
        self._keys(place, table, known)
        role = table.get("role")
        if role not in ROLES:
            given = "is missing" if role is None else unknown("role", str(role), list(ROLES))
            self._problems.append(
                f"{place}.role: {given}" + (f" (allowed: {', '.join(ROLES)})" if role is None else "")
            )
        address = self._text(f"{place}.address", table.get("address"))
        if address is None and "address" not in table:
            self._problems.append(f"{place}.address: is missing: the name or address that `ssh` takes")
        port = table.get("port")
        if port is not None and (not isinstance(port, int) or isinstance(port, bool) or not 1 <= port <= 65_535):
            self._problem(f"{place}.port", port, "must be a whole number from 1 to 65535")
        texts = {
            key: self._text(f"{place}.{key}", table.get(key)) for key in ("user", "identity", "interface", "folder")
        }
        folder = texts.pop("folder") or "/tmp"
        if not folder.startswith("/"):
            self._problem(f"{place}.folder", folder, "must be an absolute path, such as '/var/tmp'")
        return Machine(name, str(role), address or "", port=port, folder=folder, **texts)

    def _roles(self, hosts: Hosts) -> None:
        for role in ("client", "server"):
            if not hosts.of(role):
                self._problems.append(f'hosts: no machine has role = "{role}": at least one is needed')
        if len(hosts.of("router")) > 1:
            names = ", ".join(m.name for m in hosts.of("router"))
            self._problems.append(f'hosts: {names} have role = "router": at most one may have it')

    def _keys(self, place: str, table: Mapping[str, Any], known: list[str]) -> None:
        for key in table:
            if key in SECRETS:
                self._problems.append(
                    f"{place}.{key}: secrets aren't read from files: use an SSH agent, or a key without passphrase"
                )
            elif key not in known:
                self._problems.append(f"{place or self._file}: {unknown('key', key, known)}")

    def _text(self, place: str, given: object) -> str | None:
        if given is None:
            return None
        # A leading hyphen could be read as an option, a control character as a second line.
        if isinstance(given, str) and given and given.isprintable() and not given.startswith("-"):
            return given
        self._problem(place, given, "must be a text in quotes, without control characters or a leading hyphen")
        return None

    def _ports(self, given: object) -> tuple[int, int]:
        if given is None:
            return PORTS
        first, hyphen, last = given.partition("-") if isinstance(given, str) else ("", "", "")
        ports = whole(first) or 0, whole(last) or 0
        if hyphen and LEAST_PORT <= ports[0] <= ports[1] <= 65_535:
            return ports
        self._problem("ports", given, f"must be a range from {LEAST_PORT} to 65535, such as '{PORTS[0]}-{PORTS[1]}'")
        return PORTS

    def _problem(self, place: str, given: object, allowed: str) -> None:
        self._problems.append(f"{place}: {shown(given)} given: {allowed}")
