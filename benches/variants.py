#!/usr/bin/env python3
"""The cost of an ACK in each variant, and of a packet in a run with it.

    python benches/variants.py                  # a table
    python benches/variants.py --json           # the same as one JSON document
    python benches/variants.py --write-docs     # and renew docs/data/performance

Two measurements. An ACK: the cost of the algorithm alone (crates/cc/examples/acks.rs), in user CPU time and, if
`valgrind` is installed, in instructions. A run: instructions per sent data packet in benches/two-flows.toml (user CPU
time without `valgrind`), divided by the same with Reno, on two stacks, and again with 1 % of random
loss. The goal: no variant costs more than twice as much as Reno, and a variant that paces by a model of the path no
more than three times.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell import Scenario, registry
from dumbbell.common.processors import cores
from dumbbell.report.tables import Table, write_tables
from dumbbell.results.runs.record import jobs_of
from measuring import DATA, counted, cpu_model, program, timed

SCENARIO = Path(__file__).with_name("two-flows.toml")
ACKS = 2_000_000
REPEATS = 3
COUNTED = ("4 s", "8 s")
"""How long the runs are whose instructions are counted: callgrind makes them some fifty times slower."""
RUNS: dict[str, dict[str, Any]] = {
    "rfc": {"flows.*.stack": "rfc"},
    "linux": {"flows.*.stack": "linux"},
    "linux, 1 % loss": {"flows.*.stack": "linux", "network.bottleneck.loss": "1 %"},
}
"""The changes of each run to the scenario."""


@dataclass
class Cost:
    """The cost of a variant.

    Attributes
    ----------
    ack_ns : float, ns
        User CPU time of an ACK in the algorithm alone, median.
    ack : float or None
        Instructions of an ACK.
    runs : dict
        Cost of a data packet divided by that with Reno, by run.
    """

    ack_ns: float
    ack: float | None
    runs: dict[str, float] = field(default_factory=dict)


def ack_instructions(binary: Path, name: str) -> float:
    """Count the instructions of an ACK: a longer process less a shorter one, so that start-up doesn't count."""
    few, many = (counted([binary, name, str(acks)])[0] for acks in (20_000, 120_000))
    return (many - few) / 100_000


def plan(variant: str, changes: dict[str, Any]) -> str:
    """Write the plan of a run."""
    every = {}
    for path, value in changes.items():
        for flow in ("a", "b"):
            every[path.replace("*", flow)] = value
    scenario = Scenario.load(SCENARIO, {**every, "flows.a.variant": variant, "flows.b.variant": variant})
    return json.dumps(jobs_of(scenario)[0].plan()) + "\n"


def packets(output: str) -> int:
    """Count the data packets that a run has sent."""
    return sum(int(flow["sent_packets"]) for flow in json.loads(output)["flows"])


def packet_s(binary: Path, variant: str, changes: dict[str, Any]) -> float:
    """Time a run; user CPU time for each data packet sent."""
    run = timed([binary], plan(variant, changes))
    return run.user_s / packets(run.output)


@cache
def packet_instructions(binary: Path, variant: str, what: str) -> float:
    """Count the instructions for each data packet sent: a longer run less a shorter one."""
    runs = [counted([binary], plan(variant, {**RUNS[what], "duration": duration})) for duration in COUNTED]
    (first, few), (second, many) = ((instructions, packets(output)) for instructions, output in runs)
    return (second - first) / (many - few)


def ratio(binary: Path, variant: str, what: str, counts: bool) -> float:
    """Compare a variant with Reno; timed, in turns, because a machine's speed drifts."""
    if counts:
        return packet_instructions(binary, variant, what) / packet_instructions(binary, "reno", what)
    pairs = [(packet_s(binary, variant, RUNS[what]), packet_s(binary, "reno", RUNS[what])) for _ in range(REPEATS)]
    return statistics.median(own / reno for own, reno in pairs)


def measure(report_step: Callable[[str], None]) -> dict[str, Cost]:
    """Measure every variant of the registry."""
    acks, run = program("dumbbell-cc", "acks"), program("dumbbell-sim", "run_plan")
    counts = shutil.which("valgrind") is not None
    costs = {}
    for name in registry.variants():
        report_step(name)
        times = [timed([acks, name, str(ACKS)]).user_s for _ in range(REPEATS)]
        costs[name] = Cost(
            statistics.median(times) / ACKS * 1e9,
            ack_instructions(acks, name) if counts else None,
            {what: ratio(run, name, what, counts) for what in RUNS},
        )
    return costs


def table(costs: dict[str, Cost]) -> Table:
    """Return the table of docs/data/performance."""
    head = (
        f"Measured on {date.today().isoformat()} with version {dumbbell.__version__}, {cores()} cores of an "
        f"{cpu_model()}, by `python benches/variants.py --write-docs`"
    )
    rows = [
        [name, f"{c.ack_ns:.0f}", _whole(c.ack), *(f"{r:.2f}" for r in c.runs.values())] for name, c in costs.items()
    ]
    return Table(["variant", "ns per ACK", "instructions per ACK", *(f"run, {what}" for what in RUNS)], rows, head)


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
        print(f"{'variant':<14}{'ns/ACK':>8}{'instr/ACK':>11}" + "".join(f"{what:>18}" for what in RUNS))
        for name, c in costs.items():
            runs = "".join(f"{r:>18.2f}" for r in c.runs.values())
            print(f"{name:<14}{c.ack_ns:>8.0f}{_whole(c.ack):>11}{runs}")
    if options.write_docs:
        write_tables(DATA, {"variants": table(costs)})


if __name__ == "__main__":
    main()
