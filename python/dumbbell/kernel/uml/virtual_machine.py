"""One run in the virtual machine: a folder with ``dumbbell-guest`` and a plan is its input, files are its results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dumbbell.common.run_folders import UML_PREFIX, Folder
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import end, program
from dumbbell.kernel.outcome import Outcome, outcome
from dumbbell.kernel.uml.processors import claimed, pinned
from dumbbell.kernel.uml.store import Kernel

__all__ = ["command_line", "prepare", "run_guest"]

LEAST_MB = 64
"""Memory that any guest touches, MiB; the rest of its file may stay empty."""

BOOT = 1_000_000_000 * 10**9
"""The guest's clock at boot, ns: always the same, so that runs are repeatable."""


def run_guest(
    kernel: Kernel,
    order: dict[str, Any],
    *,
    memory_mb: int,
    seed: int,
    limit_s: float,
    options: Sequence[str] = (),
    on_start: Callable[[subprocess.Popen[bytes]], None] = lambda _process: None,
    folder: Folder | None = None,
    host_files: bool = False,
) -> Outcome:
    """Boot the kernel with an order, wait until it powers off, and read the results.

    Parameters
    ----------
    kernel : Kernel
        The kernel to boot.
    order : dict
        The plan, and how to measure it: the input of ``dumbbell-guest``.
    memory_mb : int
        Memory of the guest, MiB. Pages that it doesn't touch cost nothing.
    seed : int
        Seed of the kernel's random numbers.
    limit_s : float
        The run is killed after so many seconds of the host's clock.
    options : sequence of str
        Further options of the kernel's command line.
    on_start : callable
        Called with the process when it has started.
    folder : Folder, optional
        An empty folder for the guest, which the caller keeps. Default: a folder that is removed after the run.
    host_files : bool
        True if the guest can mount the host's files, for programs.

    Raises
    ------
    BackendError
        The guest refuses the order, dies, or takes too long.
    """
    place = folder or Folder(UML_PREFIX, kernel.path)
    try:
        try:
            prepare(place.path, order)
        except OSError as e:
            raise BackendError(f"{place.path}: {e.strerror or e}: a run needs space there (or in $TMPDIR)") from None
        command = command_line(kernel, memory_mb, seed, options, host_files=host_files)
        output = _boot(command, place.path, memory_mb, limit_s, on_start)
        damaged = f"{kernel.path} may be damaged: `dumbbell kernel build --again` builds it again"
        return outcome(place.path, output or damaged, "the virtual machine")
    finally:
        if folder is None:
            place.remove()


def prepare(place: Path, order: dict[str, Any]) -> None:
    """Fill the folder that becomes the guest's root directory."""
    (place / "proc").mkdir()
    (place / "host").mkdir()  # the host's files, for programs
    shutil.copy(program(), place / "init")
    (place / "init").chmod(0o755)
    (place / "plan.json").write_text(json.dumps(order, allow_nan=False), encoding="utf-8")


def command_line(
    kernel: Kernel, memory_mb: int, seed: int, options: Sequence[str] = (), *, host_files: bool = False
) -> list[str]:
    """Return the command that boots the guest in the current folder. ``host_files``: it can mount others, too."""
    return [
        str(kernel.path),
        f"mem={memory_mb}M",
        # The kernel mixes its command line into its random numbers: the folder has the same name in every run. Of the
        # two options, `hostfs` confines every mount to the folder [Linux fs/hostfs/hostfs_kern.c hostfs_args].
        f"{'rootflags' if host_files else 'hostfs'}=/proc/self/cwd",
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
    command: list[str], place: Path, memory_mb: int, limit_s: float, on_start: Callable[[subprocess.Popen[bytes]], None]
) -> str:
    """Run the kernel to its end; returns its output."""
    environment = {"HOME": str(place), "PATH": "/usr/bin:/bin"}
    if not _fits("/dev/shm", memory_mb):
        if not _fits(str(place), LEAST_MB):
            raise BackendError(
                f"neither /dev/shm nor {place.parent} can hold the guest's memory: one of them must have space and "
                "must not be mounted noexec ($TMPDIR chooses another directory)"
            )
        environment["TMPDIR"] = str(place)
    with tempfile.TemporaryFile() as output, claimed() as processor:
        try:
            with pinned(processor):
                process = subprocess.Popen(
                    command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
                )
        except OSError as e:
            again = "`dumbbell kernel build --again` builds it again"
            raise BackendError(f"{command[0]}: can't be started: {e.strerror or e}: {again}") from None
        on_start(process)
        try:
            process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise BackendError(f"the virtual machine wasn't done after {limit_s:.0f} s: killed") from None
        finally:
            end(process)
        output.seek(0)
        return output.read().decode(errors="replace")


def _fits(place: str, memory_mb: int) -> bool:
    """Return True if the guest's memory, a sparse file that is executable, fits into that file system."""
    try:
        free = os.statvfs(place)
    except OSError:
        return False
    return not free.f_flag & os.ST_NOEXEC and free.f_bavail * free.f_frsize >= memory_mb * 2**20
