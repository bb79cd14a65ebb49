"""``dumbbell-guest`` as an agent on a machine: copied, checked by its hash, started, and asked over its connection.

The commands that a machine executes are those of this file. They contain the hash and paths from the hosts file,
quoted. Everything else, a scenario above all, goes to the agent's standard input as JSON.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.common.documents import read_json
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import program
from dumbbell.kernel.ssh.connection import Lost, connect, named, reason
from dumbbell.kernel.ssh.hosts import Hosts, Machine

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection, SSHClientProcess

__all__ = ["Agent", "Answer"]

PLATFORM = "Linux x86_64"
CLOSING_S = 0.2
"""Longest wait for the end of a connection, or of a copy that is of no use, s: the machine ends both in any case."""
REMOVING_S = 3.0
"""Longest wait for the removal of an agent that did not start, s."""
QUICK_S = 60.0
"""Longest wait for an answer that needs no run, s."""


@dataclass(frozen=True)
class Answer:
    """An agent's answer: its document, and the bytes that followed it."""

    document: dict[str, Any]
    payloads: list[bytes]


@cache
def _content(path: Path) -> tuple[bytes, str]:
    """Return the agent's executable and its SHA-256."""
    content = path.read_bytes()
    return content, hashlib.sha256(content).hexdigest()


ENTER = (
    'cd -P -- "$k" 2>/dev/null && test "$(stat -c %d:%i -- "$k")" = "$(stat -c %d:%i .)" '
    '&& test "$(stat -c "%u %a" .)" = "$(id -u) 700"'
)
"""Enters the folder `k` if it is a folder of this user alone, and not a link. The working directory is then that folder
itself, whatever its name becomes."""
KEEP = (
    'e=$(mkdir -m 700 -- "$k" 2>&1) || test -e "$k" || test -L "$k" || { echo "$e" >&2; exit 1; }; '
    f'{ENTER} || {{ echo "$k is not a folder of this user alone: remove it, or give another folder in the hosts file"'
    " >&2; exit 1; }; f=$(mktemp ./copy-XXXXXXXX) || exit 1; "
)
"""Makes the folder `k`, unless it exists, enters it, and makes the file `f` in it."""


def copy_command(folder: str, sha256: str, *, keep: bool) -> str:
    """Return the command that stores its standard input as the agent and prints the folder, or leaves nothing.

    A kept agent gets its name only when it is whole: several machines may share the folder. Where nobody reads the
    folder's name any more, the copy is removed.
    """
    if keep:
        make = f"k={_kept(folder, sha256)}; {KEEP}"
        undo, whole = 'rm -f "$f"', 'mv -f "$f" dumbbell-agent && echo "$k"'
    else:
        make = f'd=$(mktemp -d {shlex.quote(folder)}/dumbbell-agent-XXXXXXXX) || exit 1; f="$d/dumbbell-agent"; '
        undo, whole = 'rm -rf "$d"', 'echo "$d"'
    script = (
        f"trap '' PIPE; umask 077; {make}"
        f'cat > "$f" && chmod 700 "$f" || {{ {undo}; exit 1; }}; '
        f'{_has_hash("$f", sha256)} || {{ {undo}; echo "the copy is damaged" >&2; exit 1; }}; '
        f"{whole} || {undo}"
    )
    return f"sh -c {shlex.quote(script)}"


def _kept(folder: str, sha256: str) -> str:
    """Return the path of the folder of a kept agent, quoted."""
    return shlex.quote(f"{folder}/dumbbell-kept-{sha256[:16]}")


def _has_hash(file: str, sha256: str) -> str:
    """Return the command that tests the content of a file."""
    return f'test "$(sha256sum < "{file}" | cut -d " " -f 1)" = {sha256}'


def _checked(folder: str, sha256: str, then: str) -> str:
    """Return the command that executes another one in the folder of a kept agent, if the agent has that hash."""
    file = f"test -f dumbbell-agent && test ! -L dumbbell-agent && {_has_hash('dumbbell-agent', sha256)}"
    changed = '{ echo "$k/dumbbell-agent has changed" >&2; exit 1; }'
    return f"sh -c {shlex.quote(f'k={_kept(folder, sha256)}; {ENTER} && {file} && {then} || {changed}')}"


def find_command(folder: str, sha256: str) -> str:
    """Return the command that prints the folder of a kept agent with that hash, if there is one."""
    return _checked(folder, sha256, 'echo "$k"')


def start_command(folder: str, path: str, sudo: str, role: str, sha256: str, *, keep: bool) -> str:
    """Return the command that starts the agent at ``path``; a kept one in ``folder`` is checked by the same command."""
    if not keep:
        return f"{sudo}{shlex.quote(path)} {role}"
    return _checked(folder, sha256, f"exec {sudo}./dumbbell-agent {role} --keep")


class Agent:
    """A running agent.

    Attributes
    ----------
    machine : Machine
        Where it runs.
    address : str
        The address that SSH has reached.
    about : dict
        The machine's features, as `about.rs` reports them.
    """

    def __init__(self, machine: Machine, connection: SSHClientConnection, process: SSHClientProcess[bytes]) -> None:
        self.machine = machine
        self._connection = connection
        self._process = process
        self.address = str(connection.get_extra_info("peername")[0])
        self.about: dict[str, Any] = {}

    @classmethod
    async def start(cls, hosts: Hosts, machine: Machine, timeout_s: float, *, keep: bool) -> Agent:
        """Connect to a machine and start the agent there.

        Raises
        ------
        BackendError
            One line: the machine, the reason, the remedy.
        """
        connection = await connect(hosts, machine, timeout_s)
        copying = asyncio.ensure_future(_copied(connection, machine, keep=keep))
        try:
            path = await asyncio.shield(copying)
            role, sudo = ("router", await _sudo(connection, machine)) if machine.role == "router" else ("agent", "")
            command = start_command(machine.folder, path, sudo, role, _content(program())[1], keep=keep)
            process = await connection.create_process(command, encoding=None)
            agent = cls(machine, connection, process)
            agent.about = (await agent.ask({"do": "about"})).document
        except BaseException:
            if keep:
                copying.cancel()
            else:
                await _removed(connection, machine, copying)
            connection.abort()
            raise
        return agent

    def send(self, request: dict[str, Any]) -> None:
        """Send a request. If the agent has ended, `answer` reports it."""
        with suppress(OSError):
            self._process.stdin.write(json.dumps(request, allow_nan=False).encode() + b"\n")

    async def ask(self, request: dict[str, Any], limit_s: float = QUICK_S) -> Answer:
        """Send a request and wait for its answer; see `answer`."""
        self.send(request)
        return await self.answer(limit_s)

    async def answer(self, limit_s: float = QUICK_S) -> Answer:
        """Wait for the next answer.

        Raises
        ------
        Lost
            The agent or its connection has ended, or the answer takes too long.
        BackendError
            The agent refuses the request or has failed.
        """
        try:
            async with asyncio.timeout(limit_s):
                return await self._answer()
        except TimeoutError:
            raise Lost(f"{named(self.machine)}: no answer of the agent within {limit_s:.0f} s") from None

    async def _answer(self) -> Answer:
        import asyncssh

        out = self._process.stdout
        try:
            line = await out.readline()
            if not line.endswith(b"\n"):
                raise Lost(f"{named(self.machine)}: {await self._end()}")
            document: dict[str, Any] = read_json(line)
            payloads = [await out.readexactly(n) for n in document.pop("payloads", [])]
        except (asyncio.IncompleteReadError, asyncssh.Error, OSError) as e:
            raise Lost(f"{named(self.machine)}: the connection has ended: {reason(e)}") from None
        except ValueError as e:  # a line that is too long, or isn't JSON
            raise Lost(f"{named(self.machine)}: no answer of an agent: {e}") from None
        if "error" in document:
            raise BackendError(f"{named(self.machine)}: {document['error']}")
        return Answer(document, payloads)

    async def _end(self) -> str:
        """Return how the agent has ended."""
        try:
            async with asyncio.timeout(CLOSING_S):
                await self._process.wait_closed()
                text = (await self._process.stderr.read(4096)).decode(errors="replace").strip()
        except (TimeoutError, OSError):
            text = ""
        signal = self._process.exit_signal
        status = f"signal {signal[0]}" if signal else f"exit status {self._process.exit_status}"
        if self._process.exit_status is None and not signal:
            return "the connection has ended"
        return f"the agent has ended ({status})" + (f": {text.splitlines()[-1]}" if text else "")

    def abort(self) -> None:
        """End the connection now; the agent ends with it."""
        self._connection.abort()

    async def close(self) -> None:
        """End the agent and the connection."""
        try:
            self._process.stdin.write_eof()
            self._connection.close()
            async with asyncio.timeout(CLOSING_S):
                await self._connection.wait_closed()
        except (OSError, TimeoutError):
            self._connection.abort()


async def _run(
    connection: SSHClientConnection, machine: Machine, command: str, given: bytes = b""
) -> tuple[int, str, str]:
    """Run a command; returns its exit status, output and errors."""
    import asyncssh

    try:
        done = await connection.run(command, input=given, encoding=None)
    except (asyncssh.Error, OSError) as e:
        raise Lost(f"{named(machine)}: the connection has ended: {reason(e)}") from None
    out, err = (_text(stream).strip() for stream in (done.stdout, done.stderr))
    return (-1 if done.exit_status is None else done.exit_status), out, err


def _text(stream: bytes | str | None) -> str:
    return stream.decode(errors="replace") if isinstance(stream, bytes) else stream or ""


async def _copied(connection: SSHClientConnection, machine: Machine, *, keep: bool) -> str:
    """Copy the agent to a machine unless it is kept there; returns its path."""
    content, sha256 = _content(program())
    _, platform, _ = await _run(connection, machine, "uname -sm")
    if platform != PLATFORM:
        raise BackendError(f"{named(machine)}: is {platform or 'unknown'}: the agent runs on {PLATFORM} only")
    if keep:
        status, folder, _ = await _run(connection, machine, find_command(machine.folder, sha256))
        if status == 0 and folder:
            return f"{folder}/dumbbell-agent"
    status, folder, errors = await _run(connection, machine, copy_command(machine.folder, sha256, keep=keep), content)
    if status != 0 or not folder:
        last = errors.splitlines()[-1] if errors else f"exit status {status}"
        raise BackendError(f"{named(machine)}: the agent can't be copied to {machine.folder}: {last}")
    return f"{folder.splitlines()[-1]}/dumbbell-agent"


async def _sudo(connection: SSHClientConnection, machine: Machine) -> str:
    """Return the words before a command that make it run as root."""
    _, user, _ = await _run(connection, machine, "id -u")
    if user == "0":
        return ""
    status, _, errors = await _run(connection, machine, "sudo -n true")
    if status != 0:
        last = errors.splitlines()[-1] if errors else "sudo -n fails"
        raise BackendError(
            f'{named(machine)}: role = "router" needs root, and `sudo -n` gives it not: {last}: allow it without a '
            "password, or leave the router out: the path is then used as it is"
        )
    return "sudo -n -- "


async def _removed(connection: SSHClientConnection, machine: Machine, copying: asyncio.Future[str]) -> None:
    """Remove an agent that has not removed itself, because it couldn't start, or because another machine failed."""
    with suppress(BackendError, TimeoutError):
        async with asyncio.timeout(CLOSING_S):  # an interrupt doesn't wait longer: the machine removes a copy then
            path = await copying
        async with asyncio.timeout(REMOVING_S):
            folder = shlex.quote(path.rpartition("/")[0])
            await _run(connection, machine, f"rm -f -- {shlex.quote(path)}; rmdir -- {folder}")
