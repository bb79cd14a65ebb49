"""Tools of the benchmarks: processes with their CPU time, memory and instructions; the programs that they run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import dumbbell
from dumbbell.common.processors import cores

__all__ = [
    "DATA",
    "ROOT",
    "Ran",
    "Timed",
    "counted",
    "cpu_model",
    "measured_on",
    "peak_kib",
    "program",
    "run_plan",
    "timed",
]

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data" / "performance"


@dataclass(frozen=True)
class Timed:
    """One process that has run.

    Attributes
    ----------
    user_s : float, s
        CPU time in user mode.
    cpu_s : float, s
        CPU time, that of the system included.
    """

    output: str
    user_s: float
    cpu_s: float


@dataclass(frozen=True)
class Ran(Timed):
    """A simulator that has run one plan.

    Attributes
    ----------
    peak_kib : int or None, KiB
        Largest resident set; None where the system doesn't report it.
    """

    peak_kib: int | None


def timed(command: Sequence[str | Path], given: str = "") -> Timed:
    """Run a command to its end; RuntimeError if it fails."""
    with tempfile.TemporaryFile("w+") as source, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile() as err:
        source.write(given)
        source.seek(0)
        process = subprocess.Popen([str(c) for c in command], stdin=source, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            err.seek(0)
            raise RuntimeError(f"{command[0]} failed: {err.read().decode(errors='replace')[-500:]}")
        out.seek(0)
        return Timed(out.read(), usage.ru_utime, usage.ru_utime + usage.ru_stime)


def run_plan(binary: Path, plan: str) -> Ran:
    """Run one plan in a process of its own; RuntimeError if it fails.

    Memory is read while the process waits for a further plan.
    """
    process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("no pipes to the simulator")
    process.stdin.write(plan)
    process.stdin.flush()
    output = process.stdout.readline()
    peak = peak_kib(process.pid)
    process.stdin.close()
    process.stdout.close()
    _, code, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode != 0:
        raise RuntimeError(f"{binary} failed with {process.returncode}")
    return Ran(output, usage.ru_utime, usage.ru_utime + usage.ru_stime, peak)


def peak_kib(process: int | str) -> int | None:
    """Return the largest resident set of a process so far, KiB; None where the system doesn't report it.

    `ru_maxrss` would count the process that has started it too, as that was at the start.
    """
    status = Path(f"/proc/{process}/status")
    peak = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text(), re.MULTILINE) if status.exists() else None
    return int(peak[1]) if peak else None


def counted(command: Sequence[str | Path], given: str = "", kept: Path | None = None) -> tuple[int, str]:
    """Count the instructions of a process with callgrind; its output too. `kept`: the file of counts by function."""
    with tempfile.TemporaryDirectory() as place:
        out = kept or Path(place) / "callgrind"
        run = timed(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], given)
        found = re.search(r"^(?:summary|totals):\s*(\d+)", out.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError("callgrind wrote no total")
    return int(found[1]), run.output


def program(package: str, name: str) -> Path:
    """Build a program or an example of a crate with the release profile, and find it."""
    example = ROOT / "crates" / package.removeprefix("dumbbell-") / "examples" / f"{name}.rs"
    kind = "--example" if example.exists() else "--bin"
    command = ["cargo", "build", "--release", "--quiet", "--package", package, kind, name, "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"cargo failed: {done.stderr[-500:]}")
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return Path(message["executable"])
    raise RuntimeError(f"cargo built no {name}")


def cpu_model() -> str:
    """Name the processor."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "unknown processor"


def measured_on(command: str) -> str:
    """Write the note of a table: when, with which version, on which machine, by which command."""
    return (
        f"Measured on {date.today().isoformat()} with version {dumbbell.__version__}, {cores()} cores of an "
        f"{cpu_model()}, by `{command}`"
    )
