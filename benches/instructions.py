#!/usr/bin/env python3
"""Instructions of the simulator per delivered packet: nine fixed workloads, beside their budgets, and by part.

    python benches/instructions.py             # a table, beside the budgets
    python benches/instructions.py --json      # the same as one JSON document
    python benches/instructions.py --renew     # new budgets, and a new table and picture in the documentation

`valgrind --tool=callgrind` counts two runs of crates/sim/src/bin/run_plan.rs (release profile) that differ only in
length. Their difference has no start and no set-up. It is the same number in each run of the same program, so that
tests/project/test_budgets.py compares it with budgets.json. Another compiler makes other numbers: then a workload is
compared by its ratio to the change that all workloads have in common.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from dumbbell.report.tables import Table, write_tables
from measuring import DATA, ROOT, counted, measured_on, program
from parts import by_part
from workloads import BUDGETED, Workload, delivered

PICTURE = ROOT / "docs" / "img" / "instructions.png"
DRAWN = ("two-ns2", "two-rfc", "two-linux", "sack-16", "cubic-64", "bbr-2")
"""The workloads of the picture: those whose cost is that of packets, not of starting and closing connections."""
BUDGETS = Path(__file__).with_name("budgets.json")
RENEW = "python benches/instructions.py --renew"
ABOVE, BELOW = 0.03, 0.10
"""Differences from the budget that a test accepts: alignment and the C library move a count by less than 1 %."""


@dataclass(frozen=True)
class Count:
    """The instructions of a delivered packet.

    Attributes
    ----------
    total : float
        Of the whole process.
    parts : dict
        By part of the simulator.
    """

    total: float
    parts: dict[str, float]


@dataclass(frozen=True)
class Budgets:
    """The counts to compare with.

    Attributes
    ----------
    rustc : str
        The compiler they were counted with.
    instructions : dict
        Instructions per delivered packet, by workload.
    """

    rustc: str
    instructions: dict[str, float]


def compiler() -> str:
    """Return the version of the compiler."""
    done = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def count(binary: Path, workload: Workload) -> Count:
    """Count the instructions of a packet."""
    totals, parts, packets = [], [], []
    with tempfile.TemporaryDirectory() as place:
        for seconds in workload.count_s:
            kept = Path(place) / "callgrind"
            total, output = counted([binary], workload.plan(seconds), kept)
            with kept.open(encoding="utf-8", errors="replace") as lines:
                parts.append(by_part(lines))
            totals.append(total)
            packets.append(delivered(output))
    more = packets[1] - packets[0]
    each = {part: (parts[1][part] - parts[0][part]) / more for part in parts[0]}
    return Count((totals[1] - totals[0]) / more, each)


def count_all(report_step: Callable[[str], None]) -> dict[str, Count]:
    """Count every workload, as many at a time as there are processors."""
    binary = program("dumbbell-sim", "run_plan")

    def one(workload: Workload) -> Count:
        report_step(workload.title)
        return count(binary, workload)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip([w.name for w in BUDGETED], pool.map(one, BUDGETED), strict=True))


def load() -> Budgets:
    """Read the budgets."""
    return Budgets(**json.loads(BUDGETS.read_text(encoding="utf-8")))


def ratios(counts: dict[str, float], budgets: Budgets, rustc: str) -> dict[str, float]:
    """Divide counts by budgets; with another compiler also by the geometric mean of these ratios."""
    each = {name: found / budgets.instructions[name] for name, found in counts.items()}
    if rustc == budgets.rustc:
        return each
    common = math.exp(sum(map(math.log, each.values())) / len(each))
    return {name: ratio / common for name, ratio in each.items()}


def verdicts(counts: dict[str, float], budgets: Budgets, rustc: str) -> list[str]:
    """Return a sentence for each workload that is too far from its budget; empty: all are within."""
    found = []
    for name, ratio in ratios(counts, budgets, rustc).items():
        place = f"{name}: {counts[name]:.0f} instructions per packet, budget {budgets.instructions[name]:.0f}"
        if ratio > 1 + ABOVE:
            found.append(
                f"{place}: {100 * (ratio - 1):.1f} % above, the limit is {100 * ABOVE:.0f} %. "
                f"Where the price is right: {RENEW}"
            )
        elif ratio < 1 - BELOW:
            found.append(f"{place}: {100 * (1 - ratio):.1f} % below. Renew the budget, so that it stays so: {RENEW}")
    return found


def other_compiler(budgets: Budgets, rustc: str) -> str | None:
    """Say in one line that the compiler differs; None if it doesn't."""
    if rustc == budgets.rustc:
        return None
    return f"{rustc}, the budgets are of {budgets.rustc}: only the ratios between workloads are compared"


# ---------------------------------------------------------------- output


def tables(counts: dict[str, Count], rustc: str) -> dict[str, Table]:
    """Return the tables of docs/data/performance."""
    note = measured_on(RENEW) + f", {rustc}, valgrind's callgrind"
    titles = {w.name: w.title for w in BUDGETED}
    parts = list(next(iter(counts.values())).parts)
    rows = [
        [titles[name], *(str(round(value)) for value in (c.total, *(c.parts[part] for part in parts)))]
        for name, c in counts.items()
    ]
    return {"instructions": Table(["workload", "instructions per packet", *parts], rows, note)}


def renew(counts: dict[str, Count], rustc: str) -> None:
    """Write new budgets, the table and the picture."""
    from parts_figure import draw  # Matplotlib, only needed here

    found = Budgets(rustc, {name: round(c.total, 1) for name, c in counts.items()})
    BUDGETS.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    write_tables(DATA, tables(counts, rustc))
    titles = {w.name: w.title for w in BUDGETED}
    draw({titles[name].replace("`", ""): counts[name].parts for name in DRAWN}, PICTURE)


def main() -> None:
    """Parse the command line, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--renew", action="store_true", help="renew the budgets, and table and picture in docs")
    options = parser.parse_args()
    rustc = compiler()
    counts = count_all(lambda what: print(f"... {what}", file=sys.stderr))
    budgets = load() if BUDGETS.exists() and not options.renew else None
    if options.json:
        print(json.dumps({"rustc": rustc, **{name: asdict(c) for name, c in counts.items()}}, indent=2))
    else:
        print(f"{'workload':<14}{'instructions':>14}{'budget':>10}")
        for name, c in counts.items():
            budget = "" if budgets is None else f"{budgets.instructions[name]:.0f}"
            print(f"{name:<14}{c.total:>14.0f}{budget:>10}")
    if options.renew:
        renew(counts, rustc)
    elif budgets is not None:
        found = verdicts({name: c.total for name, c in counts.items()}, budgets, rustc)
        for line in filter(None, [other_compiler(budgets, rustc), *found]):
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
