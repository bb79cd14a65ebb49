#!/usr/bin/env python3
"""Compare single flows in the simulator, in virtual time and on the host's own clock, packet for packet.

    python validation/linux/three_ways.py                 # table on the terminal (six minutes)
    python validation/linux/three_ways.py --write-docs    # and renew docs/data/linux/three-ways.csv

It needs the kernel that `dumbbell kernel build` makes, and a host that can run link emulation. A run on the host's
clock that is marked as invalid is made again, at most `ATTEMPTS` times in total.

The packets that are compared are the flow's data packets in the order in which they arrive at the queue of the
bottleneck: their first byte and their length.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from dumbbell import Scenario, run
from dumbbell.backends import Backend, Simulator
from dumbbell.capture import analyze
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.uml.backend import Uml
from dumbbell.report.tables import Table, write_tables
from dumbbell.results import Run

__all__ = [
    "CASES",
    "DATA",
    "FIGURES",
    "NAME",
    "SIDES",
    "Case",
    "Side",
    "equal_packets",
    "measured",
    "name",
    "scenario",
    "titles",
]

DATA = Path(__file__).resolve().parents[2] / "docs" / "data" / "linux"
NAME = "three-ways"
ATTEMPTS = 4
"""Runs of a case on the host's clock, at most."""
LINK = "r1->r2"
SIDES = ("simulator", "virtual time", "host's clock")
FIGURES = ("goodput (Mbit/s)", "mean cwnd (segments)", "drops")

Packets = tuple[tuple[int, int], ...]
"""First byte and length of each data packet."""


@dataclass(frozen=True)
class Case:
    """One flow: its variant, Mbit/s, base RTT in ms, DropTail limit in BDP, length in s."""

    variant: str
    rate: int
    rtt: int
    limit: float
    seconds: int


CASES = (
    Case("cubic", 20, 40, 1, 60),
    Case("cubic", 10, 40, 1, 30),
    Case("cubic", 50, 20, 0.5, 20),
    Case("reno", 10, 40, 1, 30),
    Case("reno", 10, 40, 0.25, 30),
    Case("reno", 2, 100, 1, 30),
    Case("bbr", 10, 40, 1, 30),
)
"""Variants that hosts have, at rates that a busy host can emulate."""


@dataclass(frozen=True)
class Side:
    """One run of a case.

    Attributes
    ----------
    figures : tuple of str
        As in the table: `FIGURES`.
    packets : tuple
        The data packets at the bottleneck.
    invalid : str
        Why the run is marked as invalid; empty if it isn't.
    """

    figures: tuple[str, ...]
    packets: Packets
    invalid: str = ""


def name(case: Case) -> str:
    """Return a case's name in the table."""
    return f"{case.rate} Mbit/s, {case.rtt} ms, {case.limit:g} BDP, {case.seconds} s"


def scenario(case: Case) -> Scenario:
    """Return the scenario of a case."""
    queue = {"discipline": "droptail", "limit": f"{case.limit:g} bdp"}
    return Scenario.from_dict(
        {
            "name": NAME,
            "duration": f"{case.seconds} s",
            "capture": [LINK],
            "network": {
                "bottleneck": {"rate": f"{case.rate} Mbit/s", "delay": f"{case.rtt / 2:g} ms", "queue": queue},
                "access": {"rate": "1 Gbit/s", "delay": "0 ms"},
            },
            "flows": [{"name": "f", "variant": case.variant, "stack": "linux-tuned"}],
        }
    )


def measured(case: Case, backend: Backend) -> Side:
    """Make a run of a case."""
    with tempfile.TemporaryDirectory() as place:
        results = run(scenario(case), backend=backend, out=Path(place, "out"))
        return _side(results.runs[0], results.captures(0)[LINK])


def _side(made: Run, capture: Path) -> Side:
    (flow,) = made.flows
    drops = next(queue["drops"] for queue in made.queues if queue["name"] == LINK)
    figures = (f"{flow['goodput_bps'] / 1e6:.3f}", f"{flow['cwnd_mean_packets']:.2f}", f"{drops}")
    data = analyze([capture]).packets.filter(pl.col("len") > 0).select("seq", "len").collect()
    return Side(figures, tuple(data.iter_rows()), "; ".join(made.facts.get("invalid", [])))


def equal_packets(one: Packets, other: Packets) -> int:
    """Return the number of packets before the first one that differs."""
    pairs = zip(one, other, strict=False)  # one side may end earlier
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def row(case: Case) -> list[str]:
    """Make the runs of a case; returns its row of the table."""
    simulator, virtual = (measured(case, backend) for backend in (Simulator(), Uml()))
    for _ in range(ATTEMPTS):
        clock = measured(case, LinkEmulation(calibration="mark"))
        if not clock.invalid:
            break
        print(f"{case}: again, the run is invalid: {clock.invalid}", file=sys.stderr)
    else:
        raise SystemExit(f"{name(case)}: no run of {ATTEMPTS} on the host's clock is valid")
    sides = (simulator, virtual, clock)
    equal = [f"{equal_packets(simulator.packets, side.packets)}" for side in (virtual, clock)]
    found = [side.figures[n] for n in range(len(FIGURES)) for side in sides]
    return [case.variant, name(case), *found, f"{len(simulator.packets)}", *equal]


def titles() -> list[str]:
    """Return the titles of the table's columns."""
    figures = [f"{figure}, {side}" for figure in FIGURES for side in SIDES]
    return ["variant", "scenario", *figures, "data packets", *(f"equal ones, {side}" for side in SIDES[1:])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table; see the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help=f"renew docs/data/linux/{NAME}.csv")
    given = parser.parse_args(arguments)
    rows = []
    for case in CASES:
        rows.append(row(case))
        print(*rows[-1], sep=" | ", flush=True)
    table = Table(titles(), rows, f"Measured on {datetime.now(UTC):%Y-%m-%d}")
    print(table.markdown())
    if given.write_docs:
        write_tables(DATA, {NAME: table})
    return 0


if __name__ == "__main__":
    sys.exit(main())
