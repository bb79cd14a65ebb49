#!/usr/bin/env python3
"""A large sweep of short runs: time, memory, two processes against one, opening and reading its directory.

    python benches/sweep.py                      # 100,000 cells of 1 ms, a table
    python benches/sweep.py --cells 10000        # a smaller one
    python benches/sweep.py --write-docs         # and renew docs/data/performance

Each part runs in a process of its own. Times are those of a clock. Memory of one process is its largest resident set.
Memory of all together counts shared pages once, and is the largest of samples [proc(5) smaps_rollup Pss].
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.common.processors import cores
from dumbbell.report.tables import Table, write_tables
from dumbbell.results.frames.summary import flow_summary, queue_summary
from dumbbell.results.running import worker_runs
from dumbbell.results.running.worker_task import Setup
from dumbbell.results.store.build_hash import build_hash
from dumbbell.scenario.worker_copy import WorkerCopy
from dumbbell.workers.places import Cluster, read
from measuring import DATA, cpu_model

SMALLER = 10
"""The sweep of the comparison of one and two processes has this part of the cells."""
EMPTY = 300
"""Batches without runs: their time is the overhead of a batch."""


def scenario(cells: int, duration: str = "1 ms") -> Scenario:
    """Return the sweep: one flow over paths that differ in rate and delay."""
    document = {
        "name": "sweep",
        "duration": duration,
        "network": {
            "bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms"},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        "flows": [{"name": "a", "variant": "cubic"}],
        "sweep": {
            "network.bottleneck.rate": [f"{n} Mbit/s" for n in range(1, cells // 20 + 1)],
            "network.bottleneck.delay": [f"{n} ms" for n in range(1, 21)],
        },
    }
    return Scenario.from_dict(document)


def made(cells: int, out: str) -> dict[str, float]:
    """Check and run the sweep."""
    began = time.perf_counter()
    read_ = scenario(cells)
    checked = time.perf_counter()
    last = [checked]
    dumbbell.run(read_, out=out, progress=lambda _done, _every: last.append(time.perf_counter()))
    ended = time.perf_counter()
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "all cells checked (s)": checked - began,
        "all runs made (s)": last[-1] - checked,
        "tables written (s)": ended - last[-1],
        "together (s)": ended - began,
        "memory of this process (MB)": own * 1024 / 1e6,
        f"memory of {cores()} workers, at most (MB)": cores() * children * 1024 / 1e6,
    }


def opened(_cells: int, out: str) -> dict[str, float]:
    """Open the directory; make a summary and a query."""
    began = time.perf_counter()
    results = Results.load(out)
    loaded = time.perf_counter()
    flow_summary(results), queue_summary(results)
    summed = time.perf_counter()
    results.to_duckdb().sql("SELECT count(*), avg(goodput_bps), max(rtt_p95_ms) FROM flows").fetchall()
    return {
        "directory opened (s)": loaded - began,
        "summary (s)": summed - loaded,
        "query with SQL (s)": time.perf_counter() - summed,
    }


def work(cells: int, cluster: str) -> dict[str, float]:
    """Make the runs of a smaller sweep by a cluster, without the start of its workers."""
    read_ = scenario(cells // SMALLER, "1 s")
    began, first = time.perf_counter(), [0.0]

    def progress(done: int, _every: int) -> None:
        if done and not first[0]:
            first[0] = time.perf_counter()

    dumbbell.run(read_, cluster=cluster, progress=progress)
    return {"s": time.perf_counter() - first[0], "start": first[0] - began}


def overhead(_cells: int, cluster: str) -> dict[str, float]:
    """Give out batches without runs."""
    read_ = scenario(200)
    left: deque[Any] = deque([([], 1.0)] * (EMPTY + 8))
    place: Cluster = read(cluster)
    with place.workers(worker_runs.MAKER, Setup(WorkerCopy.of(read_), build_hash())) as pool:
        times = [time.perf_counter() for _ in pool.run(lambda: left.popleft() if left else None)]
    return {"ms": (times[-1] - times[7]) / EMPTY * 1e3}


PARTS: dict[str, Callable[[int, str], dict[str, float]]] = {
    "made": made, "opened": opened, "work": work, "overhead": overhead,
}  # fmt: skip


def part(name: str, cells: int, argument: str) -> dict[str, float]:
    """Measure a part in a process of its own."""
    command = [sys.executable, __file__, "--cells", str(cells), "--part", name, argument]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        most = 0.0
        while process.poll() is None:
            most = max(most, sum(map(memory, tree(process.pid))))
            time.sleep(0.25)
        assert process.stdout is not None
        found: dict[str, float] = json.loads(process.stdout.read())
    return found | ({"memory of all processes together (MB)": most} if name == "made" else {})


def tree(pid: int) -> list[int]:
    """Return a process and all that it started."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:  # it has ended
        return []
    return [pid, *(p for child in children for p in tree(child))]


def memory(pid: int) -> float:
    """Return the memory of a process, MB: pages that n processes share count as 1 / n."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def measure(cells: int, dask: str | None) -> dict[str, float]:
    """Measure every part."""
    with tempfile.TemporaryDirectory() as folder:
        found = part("made", cells, f"{folder}/out") | part("opened", cells, f"{folder}/out")
    one, two = (part("work", cells, f"local:{count}")["s"] for count in (1, 2))
    found["speed of two processes, times that of one"] = one / two
    found["overhead of a batch, local:2 (ms)"] = part("overhead", cells, "local:2")["ms"]
    if dask is not None:
        found["overhead of a batch, dask (ms)"] = part("overhead", cells, dask)["ms"]
    return found


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=100_000, help="cells of the sweep")
    parser.add_argument("--dask", metavar="dask://HOST:PORT", help="measure the overhead of this scheduler, too")
    parser.add_argument("--part", nargs=2, metavar=("NAME", "ARGUMENT"), help=argparse.SUPPRESS)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    options = parser.parse_args()
    if options.part is not None:
        name, argument = options.part
        print(json.dumps(PARTS[name](options.cells, argument)))
        return
    found = measure(options.cells, options.dask)
    for name, value in found.items():
        print(f"{name:<48}{value:10.2f}")
    if options.write_docs:
        head = (
            f"Measured on {date.today().isoformat()} with version {dumbbell.__version__}, {cores()} cores of an "
            f"{cpu_model()} that others use too, by `python benches/sweep.py --write-docs`: {options.cells:,} "
            f"cells of 1 ms, load average {os.getloadavg()[1]:.0f}"
        )
        rows = [[name, f"{value:.3g}" if value < 100 else f"{value:.0f}"] for name, value in found.items()]
        write_tables(DATA, {"sweep": Table(["quantity", "value"], rows, head)})


if __name__ == "__main__":
    main()
