"""One SSH connection. Keys, agents and the SSH configuration are those of OpenSSH; host keys must be known.

Nothing is forwarded, whatever that configuration says (`refused.conf`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.common.extras import require
from dumbbell.exceptions import BackendError
from dumbbell.kernel.ssh.hosts import Hosts, Machine

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection

__all__ = ["Lost", "connect"]

REFUSED = Path(__file__).with_name("refused.conf")
KEEPALIVES = 3
"""Unanswered keepalive messages after which a connection counts as lost."""


class Lost(BackendError):  # noqa: N818 - a state of the machine, as its message has it
    """A machine was lost during its work: a second attempt may succeed."""


async def connect(hosts: Hosts, machine: Machine, timeout_s: float) -> SSHClientConnection:
    """Connect to a machine.

    Raises
    ------
    BackendError
        One line: the machine, the reason, the remedy. `Lost`: it can't be reached.
    """
    require("asyncssh")
    import asyncssh  # an optional library, slow to import

    own = Path("~/.ssh/config").expanduser()
    options: dict[str, Any] = {
        "config": [REFUSED, *([own] if os.access(own, os.R_OK) else [])],
        "connect_timeout": timeout_s,
        "login_timeout": timeout_s,
        "keepalive_interval": timeout_s / KEEPALIVES,
        "keepalive_count_max": KEEPALIVES,
        # A password could be neither asked for in the middle of a sweep nor kept in a file.
        "preferred_auth": "publickey",
    }
    if machine.user is not None:
        options["username"] = machine.user
    if machine.port is not None:
        options["port"] = machine.port
    if machine.identity is not None:
        options["client_keys"] = [str(Path(machine.identity).expanduser())]
    if hosts.known_hosts is not None:
        options["known_hosts"] = str(Path(hosts.known_hosts).expanduser())
    who = named(machine)
    try:
        return await asyncssh.connect(machine.address, **options)
    except asyncssh.HostKeyNotVerifiable as e:
        raise BackendError(f"{who}: {_host_key(hosts, machine)} ({e.reason})") from None
    except asyncssh.PermissionDenied:
        raise BackendError(
            f"{who}: refuses every key that was offered: give the right one as identity in {hosts.file}, or to the "
            "SSH agent (`ssh-add`); `ssh` must log in without a password"
        ) from None
    except (TimeoutError, asyncssh.TimeoutError):
        raise Lost(f"{who}: no answer within {timeout_s:g} s") from None
    except asyncssh.KeyImportError as e:
        raise BackendError(f"{who}: identity {machine.identity}: can't be read: {e}") from None
    except (OSError, asyncssh.Error) as e:
        raise Lost(f"{who}: can't be reached: {reason(e)}") from None


def named(machine: Machine) -> str:
    """Return a machine's name for messages."""
    return f"host '{machine.name}' ({machine.address}{f' port {machine.port}' if machine.port else ''})"


def reason(error: Exception) -> str:
    """Return the reason of an error in one line."""
    number = getattr(error, "errno", None)
    system = os.strerror(number) if isinstance(number, int) and number > 0 else None  # asyncio has its own words
    text = getattr(error, "reason", None) or system or str(error) or type(error).__name__
    return " ".join(str(text).split())


def _host_key(hosts: Hosts, machine: Machine) -> str:
    """Explain why a machine's host key isn't trusted: it has changed, or it was never known."""
    import asyncssh

    file = Path(hosts.known_hosts or "~/.ssh/known_hosts").expanduser()
    try:
        keys = asyncssh.match_known_hosts(str(file), machine.address, "", machine.port)[0]
    except (OSError, ValueError):
        keys = []
    if keys:
        return (
            f"its host key is not the one in {file}: the machine was installed again, or another one answers in its "
            "place. If you know why: `ssh-keygen -R`, then connect once with `ssh`"
        )
    return f"its host key is not in {file}: connect once with `ssh`, and compare the key"
