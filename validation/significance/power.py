"""Measures tests of a difference: false positives and power by simulation, for the choice of the one in Dumbbell.

Usage: python validation/significance/power.py [--trials 5000]

Writes the tables of ``docs/data/significance``. The numbers depend on the seed below and
the number of trials only; the standard error of a share of 5 % is 0.3 percentage points with 5000 trials.

Compared are Student's t on the pairs, Welch's t (which ignores the pairs), Wilcoxon's signed-rank test with Pratt's
treatment of zeros, and the interval of the bootstrap (BCa) of the median of the differences. The last two decided in
earlier versions. The table ``quick`` compares a study's verdict of the first repetitions with that of all.
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
from dumbbell.metrics.intervals import UNBOUNDED, Bounds, summarize_all
from dumbbell.metrics.margins import claim
from dumbbell.metrics.significance import compare_means, holm
from dumbbell.report.tables import Table, write_tables
from dumbbell.studies.rules import EQUAL, higher

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
SIZES_OF_STUDIES = ((3, 5), (5, 10), (20, 40))
"""Repetitions of a study with ``--quick``, and of the whole study."""
MEAN, SD = 100.0, 3.0
"""Mean of the smaller value, and standard deviation of the differences, for the comparison of verdicts."""
DIFFERENCES = (0.0, 0.5, 0.8, 1.0, 1.2, 1.5)
"""True differences, in units of the smallest one that counts."""
RARE = 0.2
"""Probability of a value far off."""
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


def bimodal(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw differences of one standard deviation around two values, as of runs that settle in one of two states."""
    return np.asarray((rng.choice([-1.0, 1.0], (trials, n)) + 0.2 * rng.standard_normal((trials, n))) / math.sqrt(1.04))


def skewed_about_zero(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw log-normal differences of one standard deviation and a mean of zero."""
    return np.asarray((np.exp(rng.standard_normal((trials, n))) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e))


def rare(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw differences of one standard deviation, of which one in five is far off, as of runs with a timeout."""
    values = (rng.random((trials, n)) < RARE) - RARE + 0.1 * rng.standard_normal((trials, n))
    return np.asarray(values / math.sqrt(RARE * (1 - RARE) + 0.01))


SPREADS: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "normal": lambda rng, trials, n: rng.standard_normal((trials, n)),
    "skewed": skewed_about_zero,
    "bimodal": bimodal,
    "rare": rare,
}


def quick(trials: int) -> Table:
    """Return how verdicts of the first repetitions compare with those of all, in percent of the trials.

    The rule is "higher". The first columns are of the true difference that is the smallest one that counts, the last
    two of the worst of several true differences.
    """
    rows: list[list[str]] = []
    for name in SPREADS:
        for few, n in SIZES_OF_STUDIES:
            found = {times: _both(name, few, n, times, trials) for times in DIFFERENCES}
            pairs = found[1.0]
            kinds = (
                [part is not None and part is whole for part, _, whole in pairs],
                [part is None for part, _, _ in pairs],
                [part is not None and whole is None for part, _, whole in pairs],
            )
            worst = (max(_contrary(pairs, k) for pairs in found.values()) for k in (0, 1))
            shares = [100 * float(np.mean(kind)) for kind in kinds] + [100 * share for share in worst]
            rows.append([name, f"{few} of {n}", *(f"{share:.1f}" for share in shares)])
    columns = (
        "same",
        "quick: not shown",
        "whole: not shown",
        "contrary, worst difference",
        "contrary, worst, by the rule of the whole study",
    )
    return Table(["distribution", "repetitions", *(f"{column} (%)" for column in columns)], rows)


def _both(name: str, few: int, n: int, times: float, trials: int) -> list[tuple[bool | None, bool | None, bool | None]]:
    """Return for each trial the quick verdict, the same by the rule of the whole study, and that of all runs."""
    least = EQUAL * MEAN / (1 - EQUAL)
    draw = SPREADS[name]
    first = MEAN + times * least + SD * draw(np.random.default_rng([SEED, n, few]), trials, n)
    second = np.full(n, MEAN)
    return [
        (
            higher(x[:few], second[:few], "", quick=True).holds,
            higher(x[:few], second[:few], "").holds,
            higher(x, second, "").holds,
        )
        for x in first
    ]


def _contrary(found: list[tuple[bool | None, bool | None, bool | None]], part: int) -> float:
    return float(np.mean([None not in (one[part], one[2]) and one[part] is not one[2] for one in found]))


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


def near_one(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw shares with a mean of 0.95, such as utilization or the share of early drops."""
    return np.asarray(rng.beta(9.5, 0.5, (trials, n)))


def jains(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw Jain's index of two flows, whose share of the link is normal about one half."""
    part = np.clip(0.5 + 0.15 * rng.standard_normal((trials, n)), 0, 1)
    return np.asarray(1 / (2 * (part**2 + (1 - part) ** 2)))


def ratios(rng: np.random.Generator, trials: int, n: int) -> Floats:
    """Draw log-normal ratios, such as of one flow's goodput over another's."""
    return np.asarray(np.exp(0.5 * rng.standard_normal((trials, n))))


BOUNDED: dict[str, tuple[Callable[[np.random.Generator, int, int], Floats], Bounds]] = {
    "share, mean 0.95": (near_one, (0.0, 1.0)),
    "Jain's index": (jains, (0.5, 1.0)),
    "ratio": (ratios, (0.0, math.inf)),
    "normal, at least 0": (lambda rng, trials, n: 10 + rng.standard_normal((trials, n)), (0.0, math.inf)),
}
MANY = 1_000_000
"""Values from which the true mean of a distribution is computed."""


def bounded(trials: int) -> Table:
    """Return how often Student's interval covers the mean of bounded values, and crosses a bound, in percent."""
    rows: list[list[str]] = []
    for name, (draw, bounds) in BOUNDED.items():
        mean = float(draw(np.random.default_rng(SEED), 1, MANY).mean())
        for n in SIZES:
            samples = list(draw(np.random.default_rng([SEED, n]), trials, n))
            plain, within = (summarize_all(samples, interval="student", bounds=b) for b in (UNBOUNDED, bounds))
            crossed = 100 * float(np.mean([s.low < bounds[0] or s.high > bounds[1] for s in plain]))
            covered = [100 * float(np.mean([s.low <= mean <= s.high for s in found])) for found in (plain, within)]
            rows.append([name, str(n), *(f"{share:.1f}" for share in (*covered, crossed))])
    return Table(["values", "repetitions", "plain (%)", "within bounds (%)", "plain crosses a bound (%)"], rows)


def medians(trials: int) -> Table:
    """Return how often the interval of a median covers it, beside the level that it states, in percent."""
    rows: list[list[str]] = []
    for n in SIZES:
        row, stated = [str(n)], 0.0
        for draw in (SPREADS["normal"], ratios):
            median = float(np.median(draw(np.random.default_rng(SEED), 1, MANY)))
            found = summarize_all(list(draw(np.random.default_rng([SEED, n]), trials, n)))
            row.append(f"{100 * float(np.mean([s.low <= median <= s.high for s in found])):.1f}")
            stated = found[0].level
        rows.append([row[0], f"{100 * stated:.2f}", *row[1:]])
    return Table(["repetitions", "stated level (%)", "normal (%)", "log-normal (%)"], rows)


def margins(trials: int) -> Table:
    """Return the share of families with a wrong claim about a margin, in percent.

    All true differences are just below the margin, or just above it: any claim of the other kind is wrong.
    """
    rows: list[list[str]] = []
    for name in ("normal", "skewed"):
        for what, wrong in (("below", True), ("above", False)):
            row = [name, what]
            for n in SIZES:
                a, b = DRAWS[name](np.random.default_rng([SEED, n, FAMILY]), trials * FAMILY, n)
                claims = [claim(x + 1.0, y, 1.0) for x, y in zip(a, b, strict=True)]
                beyond = np.array([c[0] for c in claims]).reshape(trials, FAMILY)
                p = np.array([c[1] for c in claims]).reshape(trials, FAMILY)
                shown = np.array([holm(one) for one in p]) <= ALPHA
                row.append(f"{100 * float(np.mean((shown & (beyond == wrong)).any(axis=1))):.1f}")
            rows.append(row)
    return Table(["distribution", "true differences", *(f"{n} repetitions (%)" for n in SIZES)], rows)


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description="Measure false positives and power of tests of a difference.")
    parser.add_argument("--trials", type=int, default=5000, help="samples for each cell of the tables")
    given = parser.parse_args()
    tables = {
        "false-positives": shares(given.trials, 0.0),
        "power": shares(given.trials, SHIFT),
        "families": families(given.trials // 5),
        "quick": quick(given.trials),
        "bounded": bounded(given.trials),
        "medians": medians(given.trials),
        "margins": margins(given.trials // 5),
    }
    note = f"validation/significance/power.py --trials {given.trials}, seed {SEED}"
    write_tables(DATA, {name: replace(table, note=note) for name, table in tables.items()})


if __name__ == "__main__":
    main()
