#!/usr/bin/env python3
"""The cost of a packet in each queue discipline.

    python benches/disciplines.py                  # a table
    python benches/disciplines.py --json           # the same as one JSON document
    python benches/disciplines.py --write-docs     # and renew docs/data/performance

Two measures. A cycle: arrival and departure of a packet in the discipline alone (crates/qdisc/examples/cycle.rs), by
user CPU time and, where `valgrind` is installed, by instructions. A run: instructions of the whole simulator per data
packet that it delivers, with two SACK flows through the discipline at 100 Mbit/s (benches/two-newreno.toml with that
changed).
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import dumbbell
from dumbbell import Scenario, registry
from dumbbell.common.processors import cores
from dumbbell.report.tables import Table, write_tables
from dumbbell.results.runs.record import jobs_of
from measuring import DATA, counted, cpu_model, program, timed
from workloads import TWO_NEWRENO, delivered

CYCLES = 4_000_000
REPEATS = 5


@dataclass
class Cost:
    """The cost of a packet.

    Attributes
    ----------
    cycle_ns : float, ns
        User CPU time of a cycle, median.
    cycle, run : float or None
        Instructions of a cycle, and of the simulator per data packet delivered.
    """

    cycle_ns: float
    cycle: float | None
    run: float | None


def cycle_instructions(binary: Path, name: str) -> float:
    """Count the instructions of a cycle: a longer process less a shorter one, so that start-up doesn't count."""
    few, many = (counted([binary, name, str(packets)])[0] for packets in (20_000, 120_000))
    return (many - few) / 100_000


def run_instructions(binary: Path, name: str) -> float:
    """Count the simulator's instructions per data packet delivered, likewise."""
    totals = []
    for duration in ("3 s", "6 s"):
        changes = {"duration": duration, "network.bottleneck.queue": name, "flows.0.variant": "sack"}
        scenario = Scenario.load(TWO_NEWRENO, {**changes, "flows.1.variant": "sack"})
        plan = json.dumps(jobs_of(scenario)[0].plan()) + "\n"
        instructions, output = counted([binary], plan)
        totals.append((instructions, delivered(output)))
    (first, few), (second, many) = totals
    return (second - first) / (many - few)


def measure(report_step: Callable[[str], None]) -> dict[str, Cost]:
    """Measure every discipline of the registry."""
    cycle, run = program("dumbbell-qdisc", "cycle"), program("dumbbell-sim", "run_plan")
    counts = shutil.which("valgrind") is not None
    costs = {}
    for name in registry.disciplines():
        report_step(name)
        times = [timed([cycle, name, str(CYCLES)]).user_s for _ in range(REPEATS)]
        costs[name] = Cost(
            statistics.median(times) / CYCLES * 1e9,
            cycle_instructions(cycle, name) if counts else None,
            run_instructions(run, name) if counts else None,
        )
    return costs


def table(costs: dict[str, Cost]) -> Table:
    """Return the table of docs/data/performance."""
    head = (
        f"Measured on {date.today().isoformat()} with version {dumbbell.__version__}, {cores()} cores of an "
        f"{cpu_model()}, by `python benches/disciplines.py --write-docs`"
    )
    rows = [[name, f"{c.cycle_ns:.0f}", _whole(c.cycle), _whole(c.run)] for name, c in costs.items()]
    titles = ["discipline", "ns per cycle", "instructions per cycle", "instructions per delivered packet"]
    return Table(titles, rows, head)


def _whole(count: float | None) -> str:
    return "" if count is None else f"{count:.0f}"


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    options = parser.parse_args()
    costs = measure(lambda what: print(f"... {what}", file=sys.stderr))
    if options.json:
        print(json.dumps({name: asdict(cost) for name, cost in costs.items()}, indent=2))
    else:
        print(f"{'discipline':<12}{'ns/cycle':>10}{'instr/cycle':>13}{'instr/delivered':>17}")
        for name, c in costs.items():
            print(f"{name:<12}{c.cycle_ns:>10.0f}{_whole(c.cycle):>13}{_whole(c.run):>17}")
    if options.write_docs:
        write_tables(DATA, {"disciplines": table(costs)})


if __name__ == "__main__":
    main()
