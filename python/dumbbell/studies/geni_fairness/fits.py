"""Settings that the report leaves open, fitted: their errors against Table 1, over all of its cells or over a part.

A fit is the setting with the smallest mean error over some cells. Settings are not distinguished from it if they lie
in the confidence region of least squares for n cells and p settings: the sum of their squared errors is at most
1 + p / (n - p) F(p, n - p) times that of the fit, with the 95 % quantile of F [1]_. It allows for the errors that the
report's measurements and the model have at the best fit.

References
----------
.. [1] E. M. L. Beale, "Confidence regions in non-linear estimation", J. R. Statist. Soc. B 22 (1960).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.metrics.significance import LEVEL
from dumbbell.studies.finding import Table
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Pairs
from dumbbell.studies.geni_fairness.paths import Path

__all__ = [
    "ALL",
    "PARTS",
    "THIRDS",
    "Fit",
    "cell_error",
    "error",
    "fit",
    "fit_table",
    "jitter_fit",
    "jitter_table",
    "reported_of",
]

Cell = tuple[str, str]
Reported = Sequence[Sequence[float]]

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


def cell_error(pairs: Pairs, reported: Reported, cell: Cell) -> float:
    """Return the error of the first flow's goodput against a cell of Table 1, Mbit/s."""
    return abs(pairs.medians(*cell)[0] - reported_of(reported, cell))


def error(pairs: Pairs, reported: Reported, cells: Iterable[Cell] = CELLS) -> float:
    """Return the mean error over cells of Table 1, Mbit/s."""
    return float(np.mean([cell_error(pairs, reported, cell) for cell in cells]))


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
    """

    best: Path
    errors: dict[Path, float]
    alike: tuple[Path, ...]


def fit(depths: Mapping[Path, Pairs], reported: Reported, cells: Sequence[Cell] = CELLS) -> Fit:
    """Fit the setting to some cells of Table 1."""
    squares = {path: sum(cell_error(pairs, reported, cell) ** 2 for cell in cells) for path, pairs in depths.items()}
    errors = {path: error(pairs, reported, cells) for path, pairs in depths.items()}
    order = sorted(errors, key=lambda path: errors[path])
    most = region(len(cells)) * squares[order[0]]
    alike = tuple(path for path in order if path == order[0] or squares[path] <= most)
    return Fit(order[0], {path: errors[path] for path in order}, alike)


def region(cells: int) -> float:
    """Return the factor by which the sum of squared errors may exceed that of the fit within the region; no unit."""
    from scipy.special import fdtri  # noqa: PLC0415 - slow to import

    fitted = len(Path._fields)
    return 1 + fitted / (cells - fitted) * float(fdtri(fitted, cells - fitted, LEVEL))


def fit_table(depths: Mapping[Path, Pairs], fits: Mapping[str, Fit], readings: Mapping[Path, float]) -> Table:
    """List the error of each setting over each part of Table 1, the best fit to all cells first."""
    rows = []
    for path in fits[ALL].errors:
        row = {
            "buffer": path.buffer,
            "jitter of a hop": path.jitter,
            "RTT": path.rtt,
            "hosts' links": path.rate,
            "repetitions": f"{depths[path].n}",
        }
        for part, found in fits.items():
            star = " *" if path == found.best else " ~" if path in found.alike else ""
            row[part] = f"{found.errors[path]:.1f}{star}"
        rows.append({**row, "if one run gave both mirrored cells": f"{readings[path]:.1f}"})
    title = (
        "Fit of the settings that the report leaves out: mean error of the first flow's goodput against Table 1, "
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
