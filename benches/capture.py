#!/usr/bin/env python3
"""How fast captures are analysed: CPU seconds beside a bare loop over the records, tcptrace and tshark.

    python benches/capture.py                        # a table; writes 1.7 GB to the temporary folder
    python benches/capture.py --packets 200000 --rounds 3

Everything is timed by CPU time (user and system), in turns, the file in the page cache; the table has the medians.
What isn't installed is left out.
"""

from __future__ import annotations

import argparse
import mmap
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
"""The loop that everything is measured by: one look at each record's header."""


def cpu(command: Sequence[str | Path]) -> float:
    """CPU time of a process and its children, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def example(name: str) -> Path:
    """Build an example and find it."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "dumbbell-capture", "--example", name]
    subprocess.run(command, check=True, cwd=ROOT)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / name


def count(path: Path) -> int:
    """Count the records of a capture of ours."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at, packets = 24, 0
        while at + 16 <= len(data):
            at += 16 + struct.unpack_from("<I", data, at + 8)[0]
            packets += 1
        return packets


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--packets", type=int, default=1_730_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow", action="store_true", help="time tshark too (minutes)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bulk.pcap"
        subprocess.run([example("bulk_capture"), path, str(options.packets)], check=True)
        analyse = example("analyse")
        jobs: dict[str, list[str | Path]] = {}
        if compiler := shutil.which("cc"):
            source = Path(folder) / "bare.c"
            source.write_text(BARE)
            subprocess.run([compiler, "-O2", "-o", source.with_suffix(""), source], check=True)
            jobs["bare loop"] = [source.with_suffix(""), path]
        jobs["analysis, one thread"] = [analyse, "wireshark-4.4", "1", path]
        jobs["analysis, two threads"] = [analyse, "wireshark-4.4", "2", path]
        if shutil.which("tcptrace"):
            jobs["tcptrace -l"] = ["tcptrace", "-l", path]
        if options.slow and shutil.which("tshark"):
            quiet = ["--disable-heuristic", "thrift_tcp", "-q", "-z", "io,stat,1"]
            jobs["tshark io,stat"] = ["tshark", "-n", "-r", path, *quiet]
        times: dict[str, list[float]] = {name: [] for name in jobs}
        for turn in range(options.rounds):
            for name, command in jobs.items():
                if turn > 0 and name.startswith("tshark"):
                    continue
                times[name].append(cpu(command))
        size = path.stat().st_size
        print(f"{count(path):,} packets, {size / 1e9:.2f} GB; CPU time, median of {options.rounds}")
        base = statistics.median(times["bare loop"]) if "bare loop" in times else None
        for name, values in times.items():
            middle = statistics.median(values)
            ratio = f"{middle / base:6.2f} x the bare loop" if base else ""
            print(f"  {name:24s} {middle:8.3f} s  {size / middle / 1e9:6.2f} GB/s  {ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
