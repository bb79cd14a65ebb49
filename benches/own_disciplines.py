#!/usr/bin/env python3
"""The cost of own queue disciplines: CoDel as a Python class and in a library, beside the built-in one.

    python benches/own_disciplines.py                  # a table
    python benches/own_disciplines.py --write-docs     # and renew docs/data/performance

Each run is two SACK flows at 100 Mbit/s with CoDel at the bottleneck (benches/two-newreno.toml with that changed);
the class and the library give the same results as the built-in discipline. `valgrind --tool=callgrind` counts the
instructions of the process, the interpreter's among them, for two runs that differ only in length: their difference
has no start and no set-up. Unlike a time, it doesn't depend on the machine's speed or load.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import dumbbell
from dumbbell import Scenario
from dumbbell.report.tables import Table, write_tables
from measuring import DATA, ROOT, counted
from workloads import TWO_NEWRENO, delivered

SECONDS = (1, 3)
"""Lengths of the two runs."""
RUN = """
import json, sys
from dumbbell import Scenario, _core, allow_code
from dumbbell.plan.text import plan_text
from dumbbell.scenario.sweep.cell_checks import own_disciplines

with allow_code():
    cell = Scenario.load(sys.argv[1]).cells[0]
handles = {name: own.handle for name, own in own_disciplines(cell.scenario).items()}
print(json.dumps({"flows": _core.run(plan_text(cell).with_seed(1), disciplines=handles).rows.flows}))
"""
"""The process that is counted."""
LIBRARY = """
use dumbbell_plugin::prelude::*;
use dumbbell_plugin::qdisc;

dumbbell_plugin::export_discipline!(Discipline {
    name: "codel-library",
    title: "CoDel of Dumbbell in a library",
    build: |_, link| qdisc::build("codel", &[], link),
    ..Discipline::EMPTY
});
"""
FORMS = {"built-in": "codel", "library in Rust": "library", "class in Python": "class"}


@dataclass(frozen=True)
class Cost:
    """The cost of a discipline.

    Attributes
    ----------
    instructions : float
        Of the whole process, for a delivered data packet.
    ratio : float
        That over the same with the built-in discipline.
    """

    instructions: float
    ratio: float


def scenarios(folder: Path, seconds: int) -> dict[str, Scenario]:
    """Make the scenario with each form of CoDel."""
    changes = {"duration": f"{seconds} s", "flows.0.variant": "sack", "flows.1.variant": "sack"}
    sources = {
        "codel": "codel",
        "library": {"library": str(folder / "codel.so")},
        "class": {"python": f"{folder}/mine.py:CoDel"},
    }
    return {
        form: Scenario.load(TWO_NEWRENO, {**changes, "network.bottleneck.queue": sources[key]})
        for form, key in FORMS.items()
    }


def make_own(folder: Path) -> None:
    """Write the class, and build the library."""
    sys.path.insert(0, str(ROOT / "tests"))
    from plugin_crates import build, new_crate
    from python_disciplines import CODEL

    (folder / "mine.py").write_text(CODEL, encoding="utf-8")
    crate = new_crate(folder / "crate", ROOT / "docs" / "how-to" / "own-discipline.md", "codel-library")
    build(crate, LIBRARY, folder / "codel.so")


def measure() -> dict[str, Cost]:
    """Count the instructions of a packet with each form."""
    os.environ["PYTHONHASHSEED"] = "0"  # the order of sets moves the count of the interpreter's start
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_own(folder)
        totals: dict[str, list[tuple[int, float]]] = {form: [] for form in FORMS}
        for seconds in SECONDS:
            outputs = set()
            with dumbbell.allow_code():
                made = scenarios(folder, seconds)
            for form, scenario in made.items():
                file = folder / "run.toml"
                file.write_text(scenario.to_toml(), encoding="utf-8")
                instructions, output = counted([sys.executable, "-c", RUN, file])
                totals[form].append((instructions, delivered(output)))
                outputs.add(output)
            if len(outputs) > 1:
                raise SystemExit("the forms give different results")
    each = {form: (b[0] - a[0]) / (b[1] - a[1]) for form, (a, b) in totals.items()}
    return {form: Cost(cost, cost / each["built-in"]) for form, cost in each.items()}


def table(costs: dict[str, Cost]) -> Table:
    """Return the table of docs/data/performance."""
    head = (
        f"Counted on {date.today().isoformat()} with version {dumbbell.__version__} and Python "
        f"{platform.python_version()}, by `python benches/own_disciplines.py --write-docs`"
    )
    rows = [[form, f"{cost.instructions:.0f}", f"{cost.ratio:.2f}"] for form, cost in costs.items()]
    return Table(["CoDel as", "instructions per delivered packet", "built-in = 1"], rows, head)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    options = parser.parse_args()
    costs = measure()
    for form, cost in costs.items():
        print(f"{form:<18}{cost.instructions:>10.0f}{cost.ratio:>8.2f}")
    if options.write_docs:
        write_tables(DATA, {"own-disciplines": table(costs)})


if __name__ == "__main__":
    main()
