#!/usr/bin/env python3
"""Compare single flows in the simulator, in virtual time, and on the host's own clock.

    python validation/linux/three_ways.py                 # table on the terminal (seven minutes)
    python validation/linux/three_ways.py --write-docs    # and renew docs/data/linux/three-ways.csv

It needs the kernel that `dumbbell kernel build` makes, and a host that can run link emulation. A run that is marked
as invalid on the host's clock is made again, at most twice; its row has the mark.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell import Scenario, run
from dumbbell.backends import Backend, LinkEmulation, Simulator, Uml
from dumbbell.report.tables import Table, write_tables
from dumbbell.results import Run

DATA = Path(__file__).resolve().parents[2] / "docs" / "data" / "linux"
ATTEMPTS = 3
CASES = (
    # variant, rate in Mbit/s, base RTT in ms, queue, seconds
    ("cubic", 20, 40, "1 bdp", 60),
    ("cubic", 10, 40, "1 bdp", 30),
    ("cubic", 50, 20, "0.5 bdp", 30),
    ("reno", 10, 40, "1 bdp", 30),
    ("reno", 10, 40, "0.25 bdp", 30),
    ("reno", 2, 100, "1 bdp", 30),
    ("bbr", 10, 40, "1 bdp", 30),
)
"""Variants that hosts have built in."""


@dataclass(frozen=True)
class Measured:
    """The figures of one run."""

    goodput_mbps: float
    cwnd_packets: float
    drops: int
    note: str = ""


def scenario(variant: str, rate: int, rtt: int, queue: str, seconds: int) -> Scenario:
    """Return the scenario of a case."""
    limit = {"discipline": "droptail", "limit": queue}
    return Scenario.from_dict(
        {
            "name": "three-ways",
            "duration": f"{seconds} s",
            "network": {
                "bottleneck": {"rate": f"{rate} Mbit/s", "delay": f"{rtt / 2:g} ms", "queue": limit},
                "access": {"rate": "1 Gbit/s", "delay": "0 ms"},
            },
            "flows": [{"name": "f", "variant": variant, "stack": "linux"}],
        }
    )


def figures(measured: Run) -> Measured:
    """Return the figures of a run."""
    (flow,) = measured.flows
    drops = sum(queue["drops"] for queue in measured.queues)
    invalid = "; ".join(measured.facts.get("invalid", []))
    return Measured(flow["goodput_bps"] / 1e6, flow["cwnd_mean_packets"], drops, invalid)


def on(backend: Backend, given: Scenario) -> Measured:
    """Make a run, again if the host's clock has spoiled it."""
    for _ in range(ATTEMPTS):
        found = figures(run(given, backend=backend).runs[0])
        if not found.note:
            break
    return found


def table() -> Table:
    """Make all runs."""
    columns = ["case"]
    for figure in ("goodput (Mbit/s)", "mean cwnd (packets)", "drops"):
        columns += [f"{figure}, {side}" for side in ("simulator", "virtual time", "host's clock")]
    rows = []
    for case in CASES:
        variant, rate, rtt, queue, seconds = case
        given = scenario(*case)
        sides = [on(backend, given) for backend in (Simulator(), Uml(), LinkEmulation(calibration="mark"))]
        row = [f"{variant}, {rate} Mbit/s, {rtt} ms, {queue.replace('bdp', 'BDP')}, {seconds} s"]
        row += [f"{side.goodput_mbps:.3f}" for side in sides]
        row += [f"{side.cwnd_packets:.2f}" for side in sides]
        row += [str(side.drops) for side in sides]
        if sides[-1].note:
            row[0] += " (invalid)"
            print(f"{row[0]}: {sides[-1].note}", file=sys.stderr)
        rows.append(row)
        print(*row, sep=" | ", flush=True)
    return Table(columns, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table; see the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/linux/three-ways.csv")
    given = parser.parse_args(arguments)
    made = table()
    if given.write_docs:
        write_tables(DATA, {"three-ways": made})
    return 0


if __name__ == "__main__":
    sys.exit(main())
