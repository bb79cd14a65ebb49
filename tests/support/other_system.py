"""Run commands of Dumbbell on an emulated system without Linux's calls: python other_system.py SYSTEM COMMANDS.JSON.

The standard library and other packages are imported before the system changes, because they choose their parts for
the real one. From then on the calls that the system lacks are gone, their modules can't be imported, and
`sys.platform`, `platform.system` and the start methods of processes are those of the system. Prints the exit
code and the output of each command.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import platform
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

FIRST = (
    *("asyncio", "concurrent.futures.process", "ctypes", "multiprocessing.spawn", "socket", "subprocess", "tempfile"),
    *("click", "jinja2", "matplotlib.pyplot", "numpy", "polars", "pydantic", "rich.console"),
    *("rich.table", "scipy.stats"),
)
"""Modules imported before the system changes."""
LINUX_ONLY = (
    "sched_getaffinity",
    "sched_setaffinity",
    "memfd_create",
    "setns",
    "unshare",
    "splice",
    "sched_setscheduler",
)
POSIX_ONLY = (
    *("fork", "forkpty", "geteuid", "getegid", "getgid", "getgroups", "getpgid", "getppid", "getuid", "killpg"),
    *("mkfifo", "nice", "setsid", "setuid", "uname", "wait4", "chown", "getloadavg", "sysconf"),
)
POSIX_SIGNALS = ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGUSR1")
POSIX_MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios")
SYSTEMS = {"darwin": "Darwin", "win32": "Windows"}


class Refuse:
    """Importer of the modules that the system lacks."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name in POSIX_MODULES:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)


def become(system: str) -> None:
    """Change this process into one of the system, as far as Dumbbell can see."""
    for name in FIRST:
        importlib.import_module(name)
    missing = LINUX_ONLY if system == "darwin" else LINUX_ONLY + POSIX_ONLY
    for name in missing:
        with suppress(AttributeError):
            delattr(os, name)
    release = "24.0" if system == "darwin" else "11"
    platform.system = lambda: SYSTEMS[system]
    platform.release = lambda: release
    platform.machine = lambda: "arm64" if system == "darwin" else "AMD64"
    sys.platform = system
    if system == "win32":
        for name in POSIX_SIGNALS:
            with suppress(AttributeError):
                delattr(signal, name)
        for name in POSIX_MODULES:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, Refuse())
        os.cpu_count = lambda: 1  # processes can't be started by a library that takes this system for another


def main() -> None:
    system, commands = sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    become(system)
    from dumbbell.cli import main as command_line

    found = []
    for command in commands:
        sys.argv = ["dumbbell", *command]
        out, err = io.StringIO(), io.StringIO()
        code: object = 0
        with redirect_stdout(out), redirect_stderr(err):
            try:
                command_line()
            except SystemExit as e:
                code = e.code
            except BaseException as e:
                code = repr(e)
        found.append([code or 0, out.getvalue(), err.getvalue()])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
