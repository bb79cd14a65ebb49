"""Measures tests of a difference: false positives and power by simulation, for the choice of the one in Dumbbell.

Usage: python validation/significance/power.py [--trials 5000]

Writes ``docs/data/significance/{false-positives,power,families}.csv``. The numbers depend on the seed below and the
number of trials only; the standard error of a share of 5 % is 0.3 percentage points with 5000 trials.

Compared are Student's t on the pairs, Welch's t (which ignores the pairs), Wilcoxon's signed-rank test with Pratt's
treatment of zeros, and the interval of the bootstrap (BCa) of the median of the differences. The last two decided in
earlier versions.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import wilcoxon

from dumbbell.metrics.bootstrap import bca
from dumbbell.metrics.significance import compare_means, holm
from dumbbell.report.tables import Table, write_tables

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Floats]

SEED = 9438
DATA = Path(__file__).parents[2] / "docs" / "data" / "significance"
SIZES = (3, 5, 10, 30)
ALPHA = 0.05
FAMILY = 10
SHARED = 0.5
"""Correlation of two cells on one seed: half of the variance belongs to the seed (start times, cross traffic)."""
SHIFT = 1.5
"""Difference for the power, in standard deviations of a single value."""
SLOW_TRIALS = 1000
"""Trials of the signed-rank test and the bootstrap, which are slow; the standard error of 5 % is then 0.7 points."""


def normal(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw values of one standard deviation, shape (2, trials, n), correlated within pairs."""
    seed = rng.standard_normal((1, trials, n))
    return math.sqrt(SHARED) * seed + math.sqrt(1 - SHARED) * rng.standard_normal((2, trials, n))


def skewed(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw log-normal values of one standard deviation, as completion times are."""
    values = np.exp(normal(rng, trials, n))
    return np.asarray(values / math.sqrt((math.e - 1) * math.e))


def tied(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw counts with a mean of one, as of timeouts; half of each count belongs to the seed."""
    return np.asarray(rng.poisson(SHARED, (1, trials, n)) + rng.poisson(1 - SHARED, (2, trials, n)), dtype=np.float64)


def identical(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw runs that their seed does not change: all repetitions of a cell are equal, and so are both cells."""
    return np.broadcast_to(rng.standard_normal((1, trials, 1)), (2, trials, n)).copy()


DRAWS: dict[str, Draw] = {"normal": normal, "skewed": skewed, "tied": tied, "identical": identical}


def student(a: Floats, b: Floats) -> Floats:
    """Return p-values of Dumbbell's test, one for each row."""
    return np.array([compare_means(x, y).p for x, y in zip(a, b, strict=True)])


def welch(a: Floats, b: Floats) -> Floats:
    """Return p-values of Dumbbell's test without pairs, one for each row."""
    return np.array([compare_means(x, y, pairs=False).p for x, y in zip(a, b, strict=True)])


def signed_rank(a: Floats, b: Floats) -> Floats:
    """Return p-values of the signed-rank test, one for each row; 1 where nothing differs."""
    d = (a - b)[:SLOW_TRIALS]
    return np.array([wilcoxon(row, zero_method="pratt").pvalue if row.any() else 1.0 for row in d])


def bootstrap(a: Floats, b: Floats) -> Floats:
    """Return 0 for rows whose interval of the median excludes zero, 1 for the others."""
    low, high = bca((a - b)[:SLOW_TRIALS], "median", 1 - ALPHA)
    return np.asarray(1.0 - ((low > 0) | (high < 0)))


TESTS = {"Student's t": student, "Welch's t": welch, "signed-rank": signed_rank, "bootstrap": bootstrap}


def shares(trials: int, shift: float) -> Table:
    """Return the share of significant trials by distribution, repetitions and test, in percent."""
    rows: list[list[str]] = []
    for name, draw in DRAWS.items():
        for n in SIZES:
            a, b = draw(np.random.default_rng([SEED, n]), trials, n)
            found = [100 * float(np.mean(test(a + shift, b) <= ALPHA)) for test in TESTS.values()]
            rows.append([name, str(n), *(f"{share:.1f}" for share in found)])
    return Table(["distribution", "repetitions", *(f"{name} (%)" for name in TESTS)], rows)


def families(trials: int) -> Table:
    """Return the share of families of ten comparisons with any false positive of Dumbbell's test, in percent."""
    rows: list[list[str]] = []
    for name, draw in DRAWS.items():
        row = [name]
        for n in SIZES:
            a, b = draw(np.random.default_rng([SEED, n, FAMILY]), trials * FAMILY, n)
            p = student(a, b).reshape(trials, FAMILY)
            row.append(f"{100 * float(np.mean([holm(one).min() <= ALPHA for one in p])):.1f}")
        rows.append(row)
    return Table(["distribution", *(f"{n} repetitions (%)" for n in SIZES)], rows)


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description="Measure false positives and power of tests of a difference.")
    parser.add_argument("--trials", type=int, default=5000, help="samples for each cell of the tables")
    given = parser.parse_args()
    tables = {
        "false-positives": shares(given.trials, 0.0),
        "power": shares(given.trials, SHIFT),
        "families": families(given.trials // 5),
    }
    note = f"validation/significance/power.py --trials {given.trials}, seed {SEED}"
    write_tables(DATA, {name: replace(table, note=note) for name, table in tables.items()})


if __name__ == "__main__":
    main()
