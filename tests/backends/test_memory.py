"""Without series memory does not grow with simulated time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from required import require

RUN = """
import re, sys
from pathlib import Path
import dumbbell

scenario = dumbbell.Scenario(
    name="memory",
    duration=sys.argv[1],
    network={
        "bottleneck": {
            "rate": "10 Mbit/s", "delay": "10 ms", "loss": "0.1 %",
            "queue": {"discipline": "red", "limit": "50 packets"},
        },
        "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
    },
    flows=[
        {"name": "sack", "variant": "sack"},
        {"name": "vegas", "variant": "vegas"},
        {"name": "cbr", "transport": "udp",
         "application": {"kind": "cbr", "rate": "2 Mbit/s", "packet": "1000 bytes", "jitter": 0.5}},
    ],
)
results = dumbbell.run(scenario, jobs=1)
assert results.runs[0].flows[0]["delivered_bytes"] > 0
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak_kib(duration: str) -> int:
    """Largest resident set of a process that makes this run. (`ru_maxrss` would hold that of its parent.)"""
    done = subprocess.run([sys.executable, "-c", RUN, duration], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_memory_stays_flat_over_simulated_time() -> None:
    read = Path("/proc/self/status").exists()
    require("linux", None if read else "the largest resident set is read from /proc")
    # Twenty times as many packets. One number kept for each would show: 380 s are some 500 000 packets, 8 bytes each
    # make 4 MB. Allocators and page sizes account for a few hundred KiB from run to run.
    short, long = peak_kib("20 s"), peak_kib("400 s")
    assert long - short < 3 * 1024, (short, long)
