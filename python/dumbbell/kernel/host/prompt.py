"""Commands in the hosts of a live network, typed at a prompt or read from a file."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from dumbbell.cli import output
from dumbbell.common.numbers import whole

if TYPE_CHECKING:
    from dumbbell.kernel.host.live import LiveNetwork

__all__ = ["Prompt", "in_host"]

HELP = """HOST COMMAND ...       run a command in a host, such as: {first} ping -c 3 {second}
HOST COMMAND ... &     the same in the background
HOST                   an interactive program there: bash or sh
all COMMAND ...        run it in every host, one after the other
network HOST COMMAND   with rights to the host's network, for tcpdump, ip, tc
hosts                  the hosts with their addresses
jobs, kill N           background commands; end one
help, exit             (or the end of the input)
Names of hosts in arguments become their addresses. Ctrl-C ends the running command; a second Ctrl-C kills it."""
COMMANDS = ("all", "exit", "help", "hosts", "jobs", "kill", "network", "quit")
NOT_STARTED = 127


def in_host(network: LiveNetwork, host: str, command: Sequence[str], *, network_rights: bool = False) -> int:
    """Run a command in a host, with this process's terminal; returns its exit code.

    Ctrl-C reaches the command. A second one kills it.
    """
    command = command or [_interactive()]
    with network.started(host, command, network_rights=network_rights) as process, _interrupts_of(process):
        code = process.wait()
    return code if code >= 0 else 128 - code


def _interactive() -> str:
    from shutil import which

    return which("bash") or "sh"


@contextmanager
def _interrupts_of(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave the first Ctrl-C to a command; kill it at the second."""
    count = 0

    def handle(_number: int, _frame: object) -> None:
        nonlocal count
        count += 1
        if count > 1:
            process.kill()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Prompt:
    """A session in a live network.

    Parameters
    ----------
    network : LiveNetwork
        The network.
    network_rights : bool
        True: every command has the rights of ``network HOST COMMAND``.
    """

    def __init__(self, network: LiveNetwork, *, network_rights: bool = False) -> None:
        self.network = network
        self.network_rights = network_rights
        self._background = ExitStack()
        self._jobs: dict[int, tuple[str, subprocess.Popen[bytes]]] = {}

    def run(self) -> int:
        """Execute the lines of stdin to their end; returns the exit code of the last command.

        Commands in the background end with the session.
        """
        code = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            # polars makes interrupted reads begin again; a handler that is set by Python ends them.
            signal.signal(number, signal.getsignal(number))
        with self._background:
            for line in self._lines():
                try:
                    words = shlex.split(line, comments=True)
                except ValueError as e:
                    output.note(f"{line}: {e}")
                    continue
                if words[:1] in (["exit"], ["quit"]):
                    break
                if words:
                    code = self._execute(line.strip(), words)
                if not self.network.exists():
                    output.note("the network has ended")
                    break
        return code

    def _lines(self) -> Iterator[str]:
        if not sys.stdin.isatty():
            yield from sys.stdin
            return
        self._complete()
        output.note(f"hosts: {', '.join(self.network.hosts)}; `help` lists the commands")
        while True:
            try:
                yield input("dumbbell> ")
            except EOFError:
                output.note("")
                return

    def _complete(self) -> None:
        """Complete names of hosts and commands at the prompt."""
        try:
            import readline  # not on every system
        except ImportError:
            return
        readline.set_completer_delims(" ")
        readline.set_completer(lambda text, n: ([*self.completions(text), None])[n])
        readline.parse_and_bind("tab: complete")

    def completions(self, text: str) -> list[str]:
        """Return the words that begin with a text: commands of the prompt, and hosts."""
        return [f"{word} " for word in sorted([*COMMANDS, *self.network.hosts]) if word.startswith(text)]

    def _execute(self, line: str, words: list[str]) -> int:
        from dumbbell.exceptions import DumbbellError

        first, rest = words[0], words[1:]
        try:
            if first == "help":
                first_host, second_host = [*self.network.hosts, "HOST"][:2]
                output.note(HELP.format(first=first_host, second=second_host))
            elif first == "hosts":
                rows = [(host.name, host.address or "") for host in self.network.hosts.values()]
                output.print_table("Hosts", ["name", "address"], rows)
            elif first == "jobs":
                for number, (text, process) in self._jobs.items():
                    state = "runs" if process.poll() is None else f"ended with {process.returncode}"
                    output.note(f"{number}  {state}  {text}")
            elif first == "kill":
                self._kill(rest)
            elif first == "network" and rest:
                return self._start(line, rest[0], rest[1:], network_rights=True)
            elif first == "all" and rest:
                codes = [self._start(line, host, rest, network_rights=False) for host in self.network.hosts]
                return max(codes)
            else:
                return self._start(line, first, rest, network_rights=False)
        except DumbbellError as e:
            output.note(str(e))
            return 2
        return 0

    def _start(self, line: str, host: str, command: list[str], *, network_rights: bool) -> int:
        network_rights = network_rights or self.network_rights
        if command[-1:] != ["&"]:
            return in_host(self.network, host, command, network_rights=network_rights)
        # A session of its own: Ctrl-C doesn't reach it.
        process = self._background.enter_context(
            self.network.started(
                host, command[:-1], network_rights=network_rights, stdin=subprocess.DEVNULL, start_new_session=True
            )
        )
        number = len(self._jobs) + 1
        self._jobs[number] = (line, process)
        output.note(f"{number}  {line}")
        return 0

    def _kill(self, words: list[str]) -> None:
        from dumbbell.exceptions import DumbbellError

        job = self._jobs.get(whole(words[0]) or 0) if len(words) == 1 else None
        if job is None:
            numbers = ", ".join(map(str, self._jobs)) or "there is none"
            raise DumbbellError(f"kill: {' '.join(words) or 'nothing'} given: the number of a job is needed: {numbers}")
        job[1].kill()
