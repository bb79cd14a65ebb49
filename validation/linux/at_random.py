#!/usr/bin/env python3
"""Compare random scenarios with the kernel: as many as fit into a time, and the page's tables.

    python validation/linux/at_random.py --seed 2311 --number 300 --minutes 60 --keep results/random
    python validation/linux/at_random.py --seed 2311 --number 300 --minutes 0 --keep results/random --write-docs
    python validation/linux/at_random.py --seed 2311 --number 300 --minutes 0 --keep results/random --shrink 10

Finished runs of the kernel are kept in a directory, and a second call continues. --write-docs renews docs/data/random
from the cases that are kept, and writes the scenarios that differ into validation/linux/random. --shrink makes the K
worst ones smaller while they still differ, about two minutes each; those whose small file exists already are left.
Needs the kernel that `dumbbell kernel build` makes.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from dumbbell.backends import Simulator
from dumbbell.exceptions import BackendError
from dumbbell.kernel import find
from dumbbell.kernel.uml.backend import Uml
from dumbbell.kernel.validate.case_runs import held, measure
from dumbbell.kernel.validate.cases import Case
from dumbbell.kernel.validate.random_cases import AtRandom, keep_worst, table
from dumbbell.kernel.validate.scenario_draws import RANGES, SIMULATED, drawn
from dumbbell.kernel.validate.shrink import shrunk
from dumbbell.kernel.validate.verdicts import Judged, distribution, groups, judge, short_transfers
from dumbbell.report.tables import Table, write_tables

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "docs" / "data" / "random"


def compared(number: int, seed: int, minutes: float, keep: Path) -> AtRandom:
    """Judge every case whose kernel runs are kept, or could be made within the time."""
    simulator, kernel = Simulator(), Uml()
    until = time.monotonic() + 60 * minutes
    done = AtRandom([])
    for case in drawn(number, seed):
        if held(case, kernel, keep) is None and time.monotonic() > until:
            continue
        done.cases.append(case)
        try:
            theirs = measure([case], kernel, jobs=1, keep=keep)[case.name]
            ours = measure([case.repeated(SIMULATED)], simulator, jobs=1)[case.name]
        except BackendError as e:
            done.failed.append((case.name, str(e)))
            print(f"{case.name} was not run: {e}", flush=True)
            continue
        judged = judge(case.name, ours, theirs, short_transfers(case, theirs))
        done.judged += judged
        apart = [j.sentence for j in judged if j.outcome == "different"]
        print(case.name, *(apart or ["the same"]), sep="\n    ", flush=True)
    return done


def make_smaller(done: AtRandom, number: int, folder: Path) -> None:
    """Make the worst cases smaller while they still differ; each is written when it is found."""
    simulator, kernel = Simulator(), Uml()

    def both(case: Case) -> list[Judged]:
        theirs = measure([case], kernel, jobs=1)[case.name]
        ours = measure([case.repeated(SIMULATED)], simulator, jobs=1)[case.name]
        return judge(case.name, ours, theirs, short_transfers(case, theirs))

    of = {case.name: case for case in done.cases}
    for found in done.worst[:number]:
        path = folder / f"{found.case}-small.toml"
        if not path.exists():
            case, smallest = shrunk(of[found.case], found, both)
            path.write_text(f"# {smallest.sentence}.\n{case.scenario.to_toml()}", encoding="utf-8")
            print(f"{path.name}: {smallest.sentence}", flush=True)


def as_table(frame: pl.DataFrame, source: str) -> Table:
    """Write numbers with three digits."""

    def text(value: object) -> str:
        return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)

    return Table(frame.columns, [[text(value) for value in row] for row in frame.rows()], source)


def write_docs(done: AtRandom, seed: int) -> None:
    """Write the tables of the page, and the scenarios that differ."""
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    source = f"{len(done.cases) - len(done.failed)} scenarios of seed {seed}, Linux {find().version}, {day}"
    different = table(done.judged).filter(pl.col("outcome") == "different")
    ranges = pl.DataFrame({"quantity": list(RANGES), "range": list(RANGES.values())})
    frames = {"distribution": distribution(done.judged), "groups": groups(done.cases, done.judged)}
    frames |= {"different": different.drop("outcome"), "ranges": ranges}
    write_tables(DATA, {name: as_table(frame, source) for name, frame in frames.items()})
    keep_worst(done, HERE / "random")


def main() -> None:
    """Parse the command line, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--minutes", type=float, required=True, help="no further case is begun after this time")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("--shrink", type=int, default=0, help="number of worst cases to make smaller")
    options = parser.parse_args()
    done = compared(options.number, options.seed, options.minutes, options.keep)
    print(as_table(distribution(done.judged), "").markdown())
    if options.write_docs:
        write_docs(done, options.seed)
    make_smaller(done, options.shrink, HERE / "random")


if __name__ == "__main__":
    main()
