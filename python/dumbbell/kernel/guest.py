"""``dumbbell-guest``, the program that makes a run on a kernel: in the virtual machine, or on the host."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

from dumbbell.exceptions import BackendError

__all__ = ["GUEST", "VARIANT_OF_A_RUN", "end", "program"]

GUEST = Path(__file__).with_name("dumbbell-guest")
"""The program. It is linked statically, so that it needs no file of the host."""

VARIANT_OF_A_RUN = re.compile(r"db[0-9a-f]+v\d+")
"""Names under which it loads variants for a run; they exist as long as the run does."""


def program() -> Path:
    """Return the path of ``dumbbell-guest``.

    Raises
    ------
    BackendError
        This installation has none.
    """
    if not GUEST.exists():
        raise BackendError(
            "this installation has no dumbbell-guest, the program that runs inside the virtual machine: it is built "
            "with the package on x86-64 Linux with a static C library (Debian: libc6-dev; Fedora: glibc-static)"
        )
    return GUEST


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a run's process if it is still alive; the processes that it started die with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()
