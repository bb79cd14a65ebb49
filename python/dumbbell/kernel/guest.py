"""One run in the virtual machine: a folder with the guest and the plan goes in, results come out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell.backends.base import Table
from dumbbell.exceptions import BackendError
from dumbbell.kernel.folders import UML_PREFIX, Folder
from dumbbell.kernel.processors import claimed, on_one
from dumbbell.kernel.store import Kernel

__all__ = ["GUEST", "Outcome", "command_line", "end", "outcome", "prepare", "program", "run_guest"]

GUEST = Path(__file__).with_name("dumbbell-guest")
"""The guest's only program, linked statically, so that it needs no file of the host."""

BOOT = 1_000_000_000 * 10**9
"""The guest's clock at boot, ns: always the same, so that runs are repeatable."""


@dataclass(frozen=True)
class Outcome:
    """What a guest leaves behind."""

    result: dict[str, Any]
    tables: dict[str, Table]


def program() -> Path:
    """Give the guest's program; BackendError if the installation has none."""
    if not GUEST.exists():
        raise BackendError(
            "this installation has no dumbbell-guest, the program that runs inside the virtual machine: it is built "
            "with the package on x86-64 Linux with a static C library (Debian: libc6-dev; Fedora: glibc-static)"
        )
    return GUEST


def run_guest(
    kernel: Kernel,
    order: dict[str, Any],
    *,
    memory_mb: int,
    seed: int,
    limit_s: float,
    options: Sequence[str] = (),
    watch: Callable[[subprocess.Popen[bytes]], None] = lambda _process: None,
    folder: Folder | None = None,
) -> Outcome:
    """Boot the kernel with an order, wait for its end, read what it leaves.

    Parameters
    ----------
    order : dict
        What ``dumbbell-guest`` reads: the plan, and how to measure.
    memory_mb : int
        Memory of the guest; what it doesn't touch costs nothing.
    limit_s : float
        The run is given up after so long, on the host's clock.
    options : sequence of str
        Further options of the kernel's command line.
    watch : callable
        Told of the process as soon as there is one.
    folder : Folder, optional
        An empty folder for the guest, which outlives the run. Default: one that is gone afterwards.

    Raises
    ------
    BackendError
        The guest refuses the order, dies, or takes too long.
    """
    place = folder or Folder(UML_PREFIX)
    try:
        prepare(place.path, order)
        said = _boot(command_line(kernel, memory_mb, seed, options), place.path, memory_mb, limit_s, watch)
        damaged = f"{kernel.path} may be damaged: `dumbbell kernel build --again` makes it anew"
        return outcome(place.path, said or damaged, "the virtual machine")
    finally:
        if folder is None:
            place.remove()


def prepare(place: Path, order: dict[str, Any]) -> None:
    """Fill the folder that becomes the guest's root directory."""
    (place / "proc").mkdir()
    shutil.copy(program(), place / "init")
    (place / "init").chmod(0o755)
    (place / "plan.json").write_text(json.dumps(order, allow_nan=False), encoding="utf-8")


def command_line(kernel: Kernel, memory_mb: int, seed: int, options: Sequence[str] = ()) -> list[str]:
    """Give the command that boots the guest in the folder that it is started in."""
    return [
        str(kernel.path),
        f"mem={memory_mb}M",
        # The folder, by a name that is always the same: the kernel mixes its command line into its random numbers.
        "hostfs=/proc/self/cwd",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rw",
        "init=/init",
        "time-travel=inf-cpu",
        f"time-travel-start={BOOT}",
        f"dumbbell_seed={seed}",
        "con=null",
        "con0=null,fd:2",
        "quiet",
        *options,
    ]


def _boot(
    command: list[str],
    place: Path,
    memory_mb: int,
    limit_s: float,
    watch: Callable[[subprocess.Popen[bytes]], None],
) -> str:
    """Run the kernel to its end; gives what it said."""
    environment = {"HOME": str(place), "PATH": "/usr/bin:/bin"}
    if not _fits("/dev/shm", memory_mb):
        environment["TMPDIR"] = str(place)
    with tempfile.TemporaryFile() as output, claimed() as processor:
        try:
            with on_one(processor):
                process = subprocess.Popen(
                    command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
                )
        except OSError as e:
            again = "`dumbbell kernel build --again` makes it anew"
            raise BackendError(f"{command[0]}: can't be started: {e.strerror or e}: {again}") from None
        watch(process)
        try:
            process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise BackendError(f"the virtual machine wasn't done after {limit_s:.0f} s: given up") from None
        finally:
            end(process)
        output.seek(0)
        return output.read().decode(errors="replace")


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a virtual machine, if it still runs; its own processes die with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _fits(place: str, memory_mb: int) -> bool:
    """Whether the guest's memory, a sparse file, finds room there."""
    try:
        free = os.statvfs(place)
    except OSError:
        return False
    return free.f_bavail * free.f_frsize >= memory_mb * 2**20


def outcome(place: Path, said: str, who: str) -> Outcome:
    """Read what a run has left in its folder; BackendError with its own words if it has failed."""
    error = place / "error.txt"
    if error.exists():
        raise BackendError(error.read_text(encoding="utf-8"))
    try:
        result = json.loads((place / "result.json").read_text(encoding="utf-8"))
        raw = (place / "tables.bin").read_bytes()
    except (OSError, ValueError):
        last = [line for line in said.splitlines() if line.strip()][-5:]
        raise BackendError("\n".join([f"{who} has left no result; it said:", *last])) from None
    return Outcome(result, _tables(result.pop("tables"), raw))


def _tables(contents: list[dict[str, Any]], raw: bytes) -> dict[str, Table]:
    """Make arrays of the block of columns."""
    return {
        table["name"]: {
            column["name"]: np.frombuffer(raw, np.dtype(column["type"]), column["rows"], column["offset"])
            for column in table["columns"]
        }
        for table in contents
    }
