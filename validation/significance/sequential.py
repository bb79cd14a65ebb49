"""Measures the decisions of studies: false verdicts of repeated looks at growing samples, by simulation.

Usage: python validation/significance/sequential.py [--trials 2000]

Writes ``docs/data/significance/sequential.csv``. A claim "a is higher than b" is decided as studies do it: by
`dumbbell.studies.rules.higher` at each look of a `Design`, with the level of that look, until it is decided or no
repetitions are left. Then five decisions at a time are combined as for five seeds. The standard error of a share of
5 % is 0.5 percentage points with 2000 trials.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from power import DATA, DRAWS, MEAN, SD, SEED

from dumbbell.report.finding import Decision, Verdict
from dumbbell.report.tables import Table, write_tables
from dumbbell.studies.decided import by_seed
from dumbbell.studies.rules import EQUAL, higher
from dumbbell.studies.sequential import HOPELESS, SEEDS, Design

Floats = npt.NDArray[np.float64]

PLANS = ((5, 4), (10, 4), (10, 7), (20, 4))
"""Repetitions at the first look, and looks."""
DIFFERENCES = (0.0, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0)
"""True differences, in units of the smallest one that counts."""
MEANS = {"normal": 0.0, "skewed": 1 / math.sqrt(math.e - 1), "tied": 1.0}
"""Distributions, with their means in standard deviations."""
SHARES = (Verdict.AGREES, Verdict.DIFFERS, Verdict.UNDECIDED)


def decide(first: Floats, second: Floats, design: Design) -> tuple[Verdict, int]:
    """Return the verdict on one pair of long samples, and the repetitions that it took."""
    begin = len(first) >> (design.looks - 1)
    n = begin
    for look in range(design.looks):
        n = begin << look
        ruling = higher(first[:n], second[:n], "", level=design.level(look))
        if ruling.verdict is not Verdict.UNDECIDED or (ruling.needs or 0) > HOPELESS * len(first):
            return ruling.verdict, n
    return Verdict.UNDECIDED, n


def shares(trials: int) -> Table:
    """Return the shares of verdicts, in percent, alone and by five seeds."""
    rows: list[list[str]] = []
    for name, mean in MEANS.items():
        least = (MEAN + SD * mean) * EQUAL / (1 - EQUAL)
        for begin, looks in PLANS:
            design = Design(looks=looks)
            for times in DIFFERENCES:
                rng = np.random.default_rng([SEED, begin, looks, round(10 * times)])
                found = []
                for a, b in zip(*DRAWS[name](rng, trials, begin << (looks - 1)), strict=True):
                    found.append(decide(MEAN + times * least + SD * a, MEAN + SD * b, design))
                alone = Counter(verdict for verdict, _ in found)
                groups = [found[k : k + SEEDS] for k in range(0, trials - SEEDS + 1, SEEDS)]
                five = Counter(_common([verdict for verdict, _ in group]) for group in groups)
                rows.append(
                    [
                        name, f"{begin} to {begin << (looks - 1)}", f"{times:g}",
                        *(f"{100 * alone[v] / trials:.1f}" for v in SHARES),
                        f"{np.mean([n for _, n in found]):.0f}",
                        *(f"{100 * five[v] / len(groups):.1f}" for v in SHARES),
                    ]
                )  # fmt: skip
    heads = ["agrees (%)", "differs (%)", "undecided (%)"]
    five_heads = [f"five seeds: {head}" for head in heads]
    return Table(["distribution", "repetitions", "true difference", *heads, "mean repetitions", *five_heads], rows)


def _common(verdicts: list[Verdict]) -> Verdict:
    tally = by_seed(Decision(seed, "", verdict, 0, 0.95, "") for seed, verdict in enumerate(verdicts))
    return next(iter(tally)) if len(tally) == 1 else Verdict.UNDECIDED


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description="Measure false verdicts of a study's decisions.")
    parser.add_argument("--trials", type=int, default=2000, help="decisions for each row of the table")
    given = parser.parse_args()
    note = f"validation/significance/sequential.py --trials {given.trials}, seed {SEED}"
    write_tables(DATA, {"sequential": replace(shares(given.trials), note=note)})


if __name__ == "__main__":
    main()
