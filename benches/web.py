#!/usr/bin/env python3
"""Speed of the simulator as WebAssembly in Node, beside the native one: CPU time of the same plans.

    python benches/web.py            # a table
    python benches/web.py --json     # the same as one JSON document

Needs `node`, and `dumbbell.wasm` from `make studio`. Native: the difference of a process with six runs and one with
a single run, divided by five (crates/sim/src/bin/run_plan.rs). Node: user and system time of the process in each run
of a plan, all its threads included: the first run, in which the engine begins to compile, and the median of five
after three seconds, when it has compiled.

The goal: half the native speed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import statistics
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from measuring import ROOT, program, timed
from workloads import BUDGETED

FOLDER = ROOT / "python" / "dumbbell" / "studio"
SCRIPT = ROOT / "tests" / "studio" / "studio.mjs"
RUNS = 5
WARM_S = 3.0
"""CPU time of the runs before those that count."""
SECONDS = 10.0
"""Virtual time of the runs of a few long flows; the other workloads have lengths of their own, which cost as much."""


@dataclass(frozen=True)
class Speed:
    """CPU times of one run of a workload.

    Attributes
    ----------
    native_s, first_s, node_s : float, s
        Native; in Node the first run, and the median of the last ones.
    """

    title: str
    native_s: float
    first_s: float
    node_s: float

    @property
    def ratio(self) -> float:
        """Speed in Node divided by the native speed."""
        return self.native_s / self.node_s


def measure() -> list[Speed]:
    """Measure every workload that has a budget of instructions."""
    native = program("dumbbell-sim", "run_plan")
    speeds = []
    for workload in BUDGETED:
        plan = workload.plan(min(workload.timed_s, SECONDS))
        one, several = (timed([native], plan * n).cpu_s for n in (1, 1 + RUNS))
        done = timed(["node", SCRIPT, FOLDER, str(WARM_S)], json.dumps([{"plan": plan}]))
        first, *later = json.loads(done.output)[0]
        speeds.append(Speed(workload.title, (several - one) / RUNS, first, statistics.median(later[-RUNS:])))
    return speeds


def size() -> str:
    """Describe the size of the module."""
    content = (FOLDER / "dumbbell.wasm").read_bytes()
    return f"dumbbell.wasm: {len(content):,} bytes, {len(gzip.compress(content)):,} with gzip"


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    if shutil.which("node") is None or not Path(FOLDER / "dumbbell.wasm").exists():
        print("benches/web.py needs node, and dumbbell.wasm from `make studio`", file=sys.stderr)
        return
    speeds = measure()
    if arguments.json:
        print(json.dumps([{**asdict(speed), "ratio": speed.ratio} for speed in speeds]))
        return
    print(f"{'':52}{'native':>10}{'Node':>10}{'first':>10}{'ratio':>8}")
    for s in speeds:
        print(f"{s.title:52}{s.native_s:>8.3f} s{s.node_s:>8.3f} s{s.first_s:>8.3f} s{s.ratio:>8.2f}")
    print(size())


if __name__ == "__main__":
    main()
