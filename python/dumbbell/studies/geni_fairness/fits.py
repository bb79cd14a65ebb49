"""Settings that the report leaves open, fitted: their errors against Table 1, over all of its cells or over a part.

The table has two readings (`READINGS`), so there are two fits to each part. A fit is the setting with the smallest
mean error over some cells. Settings are not distinguished from it if they lie in the confidence region of least
squares for n cells and p settings: the sum of their squared errors is at most 1 + p / (n - p) F(p, n - p) times that
of the fit, with the 95 % quantile of F [1]_. It allows for the errors that the report's measurements and the model
have at the best fit.

References
----------
.. [1] E. M. L. Beale, "Confidence regions in non-linear estimation", J. R. Statist. Soc. B 22 (1960).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.metrics.significance import LEVEL
from dumbbell.report.finding import Table
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Pairs
from dumbbell.studies.geni_fairness.paths import Path

__all__ = [
    "ALL",
    "OWN_RUN",
    "PARTS",
    "READINGS",
    "THIRDS",
    "UNLIKE",
    "Fit",
    "Fits",
    "cell_error",
    "error",
    "fit",
    "fit_all",
    "fit_table",
    "jitter_fit",
    "jitter_table",
    "read_cell",
    "region",
    "reported_of",
]

Cell = tuple[str, str]
Reported = Sequence[Sequence[float]]

OWN_RUN, ONE_RUN = "A", "B"
READINGS = (OWN_RUN, ONE_RUN)
"""Readings of the table. A: a cell is the goodput of the row's flow, which started first in a run of its own. B: of
unlike variants, one run gave a cell and its mirror, and the variant that the table lists first started first; of the
same variant, the mean of both flows."""
UNLIKE = [(a, b) for r, a in enumerate(VARIANTS) for b in VARIANTS[r + 1 :]]
"""The unordered pairs of unlike variants; the one listed first in `VARIANTS` starts first."""

THIRDS = 2 / 3
"""The report's part of Vegas over two hops."""
CELLS: tuple[Cell, ...] = tuple((a, b) for a in VARIANTS for b in VARIANTS)
ALL = "all cells"
PARTS: dict[str, tuple[Cell, ...]] = {
    ALL: CELLS,
    "the cells without Vegas": tuple(c for c in CELLS if "vegas" not in c),
    "the cells without BBR": tuple(c for c in CELLS if "bbr" not in c),
    "the cells of unlike variants": tuple((a, b) for a, b in CELLS if a != b),
    "all cells but CUBIC beside Reno": tuple(c for c in CELLS if set(c) != {"cubic", "reno"}),
}
"""Parts of Table 1 that a setting is fitted to. A claim is judged at the fit to cells that it isn't about."""


def reported_of(reported: Reported, cell: Cell) -> float:
    """Return a cell of Table 1, Mbit/s."""
    first, second = (VARIANTS.index(v) for v in cell)
    return reported[first][second]


def read_cell(pairs: Pairs, cell: Cell, reading: str) -> npt.NDArray[np.float64]:
    """Return a cell of the table in a reading, by repetition; (n,) float64, Mbit/s."""
    row, column = cell
    if reading == OWN_RUN or cell in UNLIKE:
        return np.asarray(pairs.both(row, column)[:, 0])
    if row == column:
        return np.asarray(pairs.both(row, column).mean(axis=1))
    return np.asarray(pairs.both(column, row)[:, 1])


def middle(pairs: Pairs, cell: Cell, reading: str) -> float:
    """Return the median of a cell in a reading over the repetitions, Mbit/s."""
    row, column = cell
    if reading == OWN_RUN or cell in UNLIKE:
        return pairs.medians(row, column)[0]
    return float(np.median(read_cell(pairs, cell, reading))) if row == column else pairs.medians(column, row)[1]


def cell_error(pairs: Pairs, reported: Reported, cell: Cell, reading: str = OWN_RUN) -> float:
    """Return the error against a cell of Table 1, Mbit/s."""
    return abs(middle(pairs, cell, reading) - reported_of(reported, cell))


def error(pairs: Pairs, reported: Reported, cells: Iterable[Cell] = CELLS, reading: str = OWN_RUN) -> float:
    """Return the mean error over cells of Table 1, Mbit/s."""
    return float(np.mean([cell_error(pairs, reported, cell, reading) for cell in cells]))


@dataclass(frozen=True)
class Fit:
    """The best setting for some cells.

    Attributes
    ----------
    best : Path
    errors : dict of Path to float
        Mean error over the cells, Mbit/s, the smallest first.
    alike : tuple of Path
        Settings that are not distinguished from the best one, which is the first of them.
    squares : float
        Sum of the squared errors of the best one, (Mbit/s)^2.
    """

    best: Path
    errors: dict[Path, float]
    alike: tuple[Path, ...]
    squares: float


@dataclass(frozen=True)
class Fits:
    """The fits to each part of the table, in both readings.

    Attributes
    ----------
    by : dict of (str, str) to Fit
        By reading and part.
    """

    by: Mapping[tuple[str, str], Fit]

    def of(self, reading: str, part: str = ALL) -> Fit:
        """Return the fit to a part in a reading."""
        return self.by[reading, part]

    def alike(self, part: str = ALL) -> list[Path]:
        """Return the settings that the fits to a part don't distinguish from their best, in one reading or the other.

        The first of them has the smallest sum of its errors in both readings.
        """
        found = {path for r in READINGS for path in self.by[r, part].alike}
        return sorted(found, key=lambda path: (sum(self.by[r, part].errors[path] for r in READINGS), path))

    def best(self, part: str = ALL) -> Path:
        """Return the first of `alike`."""
        return self.alike(part)[0]


def fit_all(depths: Mapping[Path, Pairs], reported: Reported) -> Fits:
    """Fit the setting to each part, in both readings."""
    return Fits({(r, name): fit(depths, reported, cells, r) for r in READINGS for name, cells in PARTS.items()})


def fit(depths: Mapping[Path, Pairs], reported: Reported, cells: Sequence[Cell] = CELLS, reading: str = OWN_RUN) -> Fit:
    """Fit the setting to some cells of Table 1, in one reading."""
    off = {p: [cell_error(pairs, reported, cell, reading) for cell in cells] for p, pairs in depths.items()}
    squares = {path: sum(e**2 for e in each) for path, each in off.items()}
    errors = {path: float(np.mean(each)) for path, each in off.items()}
    order = sorted(errors, key=lambda path: errors[path])
    most = region(len(cells)) * squares[order[0]]
    alike = tuple(path for path in order if path == order[0] or squares[path] <= most)
    return Fit(order[0], {path: errors[path] for path in order}, alike, squares[order[0]])


def region(cells: int) -> float:
    """Return the factor by which the sum of squared errors may exceed that of the fit within the region; no unit."""
    from scipy.special import fdtri  # slow to import

    fitted = len(Path._fields)
    return 1 + fitted / (cells - fitted) * float(fdtri(fitted, cells - fitted, LEVEL))


def fit_table(depths: Mapping[Path, Pairs], fits: Fits) -> Table:
    """List the error of each setting over each part of Table 1, in both readings; the best fit to all cells first."""

    def one(reading: str, part: str, path: Path) -> str:
        found = fits.of(reading, part)
        star = " *" if path == found.best else " ~" if path in found.alike else ""
        return f"{found.errors[path]:.1f}{star}"

    rows = []
    for path in sorted(depths, key=lambda p: sum(fits.of(r).errors[p] for r in READINGS)):
        row = {
            "buffer": path.buffer,
            "jitter of a hop": path.jitter,
            "RTT": path.rtt,
            "hosts' links": path.rate,
            "repetitions": f"{depths[path].n}",
        }
        rows.append({**row, **{part: " / ".join(one(r, part, path) for r in READINGS) for part in PARTS}})
    title = (
        "Fit of the settings that the report leaves out: mean error against Table 1 in reading A / in reading B, "
        "Mbit/s. *: the best fit. ~: not distinguished from it"
    )
    return Table("fit", title, pl.DataFrame(rows))


def jitter_fit(jitter: Alone) -> tuple[str, float]:
    """Return the jitter at which Vegas' part over two hops is nearest to two thirds, and that part."""
    parts = {str(j): summarize(jitter.part(h, j)).value for h, j in jitter.points if h == 2}
    found = min(parts, key=lambda j: abs(parts[j] - THIRDS))
    return found, parts[found]


def jitter_table(jitter: Alone) -> Table:
    """List Vegas' part for each jitter, with the error against the report's two thirds."""
    rows = []
    for j in dict.fromkeys(j for _, j in jitter.points):
        one, two = (summarize(jitter.part(h, j)) for h in (1, 2))
        rows.append(
            {
                "jitter of a hop": str(j),
                "Vegas' part, two hops": two.text(),
                "error against 2/3": f"{abs(two.value - THIRDS):.3f}",
                "Vegas' part, one hop": one.text(),
            }
        )
    found, part = jitter_fit(jitter)
    title = (
        f"Fit of the jitter to part 1: {found} a hop gives Vegas {part:.2f} of Reno's and CUBIC's mean over two hops"
    )
    return Table("fit-jitter", title, pl.DataFrame(rows))
