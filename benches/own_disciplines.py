#!/usr/bin/env python3
"""The cost of own queue disciplines: CoDel as a Python class and in a library, beside the built-in one.

    python benches/own_disciplines.py                  # a table
    python benches/own_disciplines.py --write-docs     # and renew docs/data/performance

Each run is two SACK flows at 100 Mbit/s with CoDel at the bottleneck (benches/two-newreno.toml with that changed);
the class and the library give the same results as the built-in discipline. Measured: CPU time of the simulator's
thread, in turns, because a machine's speed drifts.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import dumbbell
from dumbbell import Scenario, _core
from dumbbell.plan.text import plan_text
from dumbbell.processors import cores
from dumbbell.report.tables import Table, write_tables
from dumbbell.scenario.seen import own_disciplines
from measuring import DATA, cpu_model
from workloads import TWO_NEWRENO

ROOT = Path(__file__).parents[1]
REPEATS = 7
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


def scenarios(folder: Path) -> dict[str, Scenario]:
    """Make the scenario with each form of CoDel."""
    sys.path.insert(0, str(ROOT / "tests"))
    from plugin_crates import build, new_crate  # noqa: PLC0415
    from python_disciplines import CODEL  # noqa: PLC0415

    (folder / "mine.py").write_text(CODEL, encoding="utf-8")
    crate = new_crate(folder / "crate", ROOT / "docs" / "how-to" / "own-discipline.md", "codel-library")
    library = build(crate, LIBRARY, folder / "codel.so")
    sources = {"codel": "codel", "library": {"library": str(library)}, "class": {"python": f"{folder}/mine.py:CoDel"}}
    changes = {"duration": "10 s", "flows.0.variant": "sack", "flows.1.variant": "sack"}
    return {
        form: Scenario.load(TWO_NEWRENO, {**changes, "network.bottleneck.queue": sources[key]})
        for form, key in FORMS.items()
    }


def run_s(scenario: Scenario) -> tuple[float, object]:
    """Make one run; return the CPU time of this thread, s, and its flows."""
    cell = scenario.cells[0]
    plan = plan_text(cell).with_seed(1)
    handles = {name: own.handle for name, own in own_disciplines(cell.scenario).items()}
    begin = time.thread_time()
    output = _core.run(plan, disciplines=handles)
    return time.thread_time() - begin, output.flows


def measure() -> dict[str, float]:
    """Return the time of each form as a multiple of the built-in discipline's."""
    with tempfile.TemporaryDirectory() as folder:
        every = scenarios(Path(folder))
        ratios: dict[str, list[float]] = {form: [] for form in every}
        for _ in range(REPEATS):
            runs = {form: run_s(scenario) for form, scenario in every.items()}
            flows = {repr(found) for _, found in runs.values()}
            if len(flows) > 1:
                raise SystemExit("the forms give different results")
            for form, (seconds, _) in runs.items():
                ratios[form].append(seconds / runs["built-in"][0])
        return {form: statistics.median(found) for form, found in ratios.items()}


def table(ratios: dict[str, float]) -> Table:
    """Return the table of docs/data/performance."""
    head = (
        f"Measured on {date.today().isoformat()} with version {dumbbell.__version__}, {cores()} cores of an "
        f"{cpu_model()}, by `python benches/own_disciplines.py --write-docs`"
    )
    rows = [[form, f"{ratio:.2f}"] for form, ratio in ratios.items()]
    return Table(["CoDel as", "time of a run, built-in = 1"], rows, head)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    options = parser.parse_args()
    ratios = measure()
    for form, ratio in ratios.items():
        print(f"{form:<18}{ratio:>8.2f}")
    if options.write_docs:
        write_tables(DATA, {"own-disciplines": table(ratios)})


if __name__ == "__main__":
    main()
