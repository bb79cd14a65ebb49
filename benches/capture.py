#!/usr/bin/env python3
"""How fast captures are analyzed: CPU seconds beside a bare loop over the records, tcptrace and tshark.

    python benches/capture.py                  # two tables; writes 2 GB to the temporary folder
    python benches/capture.py --packets 200000 --connections 20000 --rounds 3
    python benches/capture.py --write-docs     # and renew docs/data/performance, with tshark

The first capture has bulk transfers, the second one many connections that are open at once. The goals of `dumbbell
analyze`: with text at most 1.2 times the CPU time of tcptrace, with JSON at most 1.5 times that with text, and less
than 600 MB for 200,000 connections. "two threads" beside "one thread" shows the time that the second core saves.

CPU time is user and system time of a process, the file in the page cache; the processes take turns, because a
machine's speed drifts, and the least of their times counts, because others use it too. Programs that aren't installed
are left out.
"""

from __future__ import annotations

import argparse
import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dumbbell.common.processors import cores
from dumbbell.report.tables import Table, write_tables
from measuring import DATA, cpu_model, program

BARE = """
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
int main(int argc, char **argv) {
    int f = open(argv[argc - 1], O_RDONLY);
    struct stat s;
    if (f < 0 || fstat(f, &s)) return 1;
    const uint8_t *p = mmap(0, s.st_size, PROT_READ, MAP_PRIVATE, f, 0);
    uint64_t packets = 0, bytes = 0, times = 0;
    for (size_t at = 24; at + 16 <= (size_t)s.st_size;) {
        uint32_t h[4];
        memcpy(h, p + at, sizeof h);
        packets++, bytes += h[3], times += h[0] + h[1], at += 16 + h[2];
    }
    printf("%lu %lu %lu\\n", packets, bytes, times);
}
"""
"""The reference loop: it reads only the header of each record."""


ANALYSIS = "analysis, one thread"
"""The program that all others are compared with."""


@dataclass(frozen=True)
class Cost:
    """The costs of a process.

    Attributes
    ----------
    cpu_s, wall_s : float, s
        CPU time (user and system), time.
    peak_kib : int, KiB
        Largest memory, sampled every hundredth of a second.
    """

    cpu_s: float
    wall_s: float
    peak_kib: int


def run(command: Sequence[str | Path]) -> Cost:
    """Run a command to its end; RuntimeError if it fails."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, ended = 0, 0
    while not ended:
        peak = max(peak, _peak(process.pid))
        time.sleep(0.01)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} failed with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, peak)


def _peak(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def count(path: Path) -> int:
    """Count the records of a capture of ours."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at, packets = 24, 0
        while at + 16 <= len(data):
            at += 16 + struct.unpack_from("<I", data, at + 8)[0]
            packets += 1
        return packets


def commands(path: Path, *, bulk: bool, slow: bool) -> dict[str, list[str | Path]]:
    """Collect the measurements, by their names in the tables."""
    found: dict[str, list[str | Path]] = {}
    if bulk and (compiler := shutil.which("cc")):
        source = path.with_name("bare.c")
        source.write_text(BARE)
        subprocess.run([compiler, "-O2", "-o", source.with_suffix(""), source], check=True)
        found["bare loop in C"] = [source.with_suffix(""), path]
    analyze = program("dumbbell-capture", "analyze")
    found[ANALYSIS] = [analyze, "wireshark-4.4", "1", path]
    found["analysis, two threads"] = [analyze, "wireshark-4.4", "2", path]
    if shutil.which("tcptrace"):
        found["tcptrace `-l`"] = ["tcptrace", "-l", path]
    command = Path(sys.executable).with_name("dumbbell")
    if command.exists():
        found["`dumbbell analyze -j 1`"] = [command, "analyze", "-j", "1", path]
        found["`dumbbell analyze -j 2`"] = [command, "analyze", "-j", "2", path]
        found["`dumbbell analyze -j 1 --json`"] = [command, "analyze", "-j", "1", "--json", path]
    if slow and shutil.which("tshark"):
        quiet = ["--disable-heuristic", "thrift_tcp", "-q", "-z", "io,stat,1"]
        found["tshark `-q -z io,stat,1`"] = ["tshark", "-n", "-r", path, *quiet]
    return found


def measure(path: Path, rounds: int, report_step: Callable[[str], None], *, bulk: bool, slow: bool) -> dict[str, Cost]:
    """Measure everything in turns (tshark once); the least of each."""
    costs: dict[str, list[Cost]] = {}
    jobs = commands(path, bulk=bulk, slow=slow)
    for turn in range(rounds):
        for name, command in jobs.items():
            if turn == 0 or not name.startswith("tshark"):
                report_step(name)
                costs.setdefault(name, []).append(run(command))
    return {
        name: Cost(min(c.cpu_s for c in all_), min(c.wall_s for c in all_), max(c.peak_kib for c in all_))
        for name, all_ in costs.items()
    }


def ratio(cost: Cost, ours: Cost) -> str:
    """Compare a program's CPU time with that of the analysis."""
    by = cost.cpu_s / ours.cpu_s
    return f"{by:.1f} times the analysis" if by >= 1 else f"the analysis takes {1 / by:.1f} times as much"


def table(costs: dict[str, Cost], what: str, size: int, rounds: int) -> Table:
    """Return the table of docs/data/performance."""
    head = (
        f"Measured on {date.today().isoformat()}, {cores()} cores of an {cpu_model()} that others use too, by "
        f"`python benches/capture.py --write-docs`: {what}, {size / 1e9:.2f} GB in the "
        f"page cache, least of {rounds} rounds in turn (tshark once)"
    )
    rows = [
        [
            name,
            f"{c.cpu_s:.3f}",
            f"{c.wall_s:.2f}",
            f"{c.peak_kib / 1024:.0f}",
            "" if name == ANALYSIS else ratio(c, costs[ANALYSIS]),
        ]
        for name, c in costs.items()
    ]
    return Table(["program", "CPU time (s)", "time (s)", "memory (MiB)", "beside the analysis"], rows, head)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=1_730_000)
    parser.add_argument("--connections", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow", action="store_true", help="time tshark too (half a minute and more)")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance; with --slow")
    options = parser.parse_args()
    if min(options.packets, options.connections, options.rounds) < 1:
        parser.error("--packets, --connections and --rounds: at least 1 is needed")
    slow = options.slow or options.write_docs
    made = {
        "captures": ("bulk_capture", [options.packets]),
        "connections": ("many_connections", [options.connections, options.connections]),
    }
    tables = {}
    for name, (writer, arguments) in made.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.pcap"
            subprocess.run([program("dumbbell-capture", writer), path, *map(str, arguments)], check=True)
            bulk = name == "captures"
            costs = measure(
                path, options.rounds, lambda step: print(f"... {step}", file=sys.stderr), bulk=bulk, slow=slow and bulk
            )
            packets, size = count(path), path.stat().st_size
        what = f"{packets / 1e6:.2f} million packets" + ("" if bulk else f" of {options.connections:,} connections")
        print(f"{what}, {size / 1e9:.2f} GB; least of {options.rounds} rounds")
        for row, c in costs.items():
            compared = "" if row == ANALYSIS else ratio(c, costs[ANALYSIS])
            print(f"{row:30} {c.cpu_s:8.3f} s CPU {c.wall_s:8.2f} s {c.peak_kib / 1024:6.0f} MiB  {compared}")
        tables[name] = table(costs, what, size, options.rounds)
    if options.write_docs:
        write_tables(DATA, tables)


if __name__ == "__main__":
    main()
