"""The rest of the report, predicted from a fit to a part of it.

Each cell of Table 1 is predicted by the fit to the cells of all other pairs of variants. Part 1 is predicted by the
fit to Table 1, and the jitter of Table 1 by part 1. The uncertainty of a prediction is its range over the settings
that the fit doesn't distinguish from its best one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from dumbbell.metrics import Summary, summarize
from dumbbell.report.finding import Note, Table
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Pairs
from dumbbell.studies.geni_fairness.fits import (
    CELLS,
    ONE_RUN,
    OWN_RUN,
    READINGS,
    THIRDS,
    Cell,
    Fits,
    Reported,
    cell_error,
    error,
    fit,
    jitter_fit,
    middle,
    read_cell,
    reported_of,
)
from dumbbell.studies.geni_fairness.paths import Path
from dumbbell.studies.shared import LABELS

__all__ = ["Predicted", "cross_validation", "predict", "prediction_table"]


@dataclass(frozen=True)
class Predicted:
    """A cell of Table 1 in a reading, predicted without its pair of variants; Mbit/s."""

    reading: str
    cell: Cell
    report: float
    best: Path
    value: Summary
    low: float
    high: float

    @property
    def covered(self) -> bool:
        """True if the report's value lies within the range over the settings that aren't distinguished."""
        return self.low <= self.report <= self.high


def predict(depths: Mapping[Path, Pairs], reported: Reported) -> list[Predicted]:
    """Predict each cell by the fit to the cells of all other pairs, in both readings."""
    found = []
    for reading in READINGS:
        for cell in CELLS:
            fitted = fit(depths, reported, [c for c in CELLS if set(c) != set(cell)], reading)
            over = [middle(depths[path], cell, reading) for path in fitted.alike]
            value = summarize(read_cell(depths[fitted.best], cell, reading))
            own = reported_of(reported, cell)
            found.append(Predicted(reading, cell, own, fitted.best, value, min(over), max(over)))
    return found


def prediction_table(predicted: Sequence[Predicted], jitter: Alone, fits: Fits) -> Table:
    """List the predictions beside the report's numbers."""
    rows = [
        {
            "fitted to": f"the other pairs of Table 1, reading {p.reading}",
            "predicted": f"{LABELS[p.cell[0]]} with {LABELS[p.cell[1]]}, Mbit/s",
            "report": f"{p.report:.1f}",
            "here": p.value.text(),
            "over settings not distinguished": f"{p.low:.1f} to {p.high:.1f}",
            "report within": "yes" if p.covered else "no",
        }
        for p in predicted
    ]
    best = fits.best().jitter
    others = list(dict.fromkeys(path.jitter for path in fits.alike()))
    two, one = ({j: summarize(jitter.part(h, j)) for j in others if (h, j) in jitter.points} for h in (2, 1))
    for name, over, report, inside in (
        ("Vegas over Reno and CUBIC, two hops", two, f"{THIRDS:.2f}", _covers(two, THIRDS)),
        ("the same, one hop", one, "more than over two", one[best].value > two[best].value),
    ):
        rows.append(
            {
                "fitted to": "Table 1, both readings",
                "predicted": name,
                "report": report,
                "here": over[best].text(),
                "over settings not distinguished": _range(over),
                "report within": "yes" if inside else "no",
            }
        )
    title = "The rest of the report, predicted from the fit to a part: median [95 % interval] at the best fit"
    return Table("predictions", title, pl.DataFrame(rows))


def _range(over: Mapping[str, Summary]) -> str:
    values = [s.value for s in over.values()]
    return f"{min(values):.2f} to {max(values):.2f}"


def _covers(over: Mapping[str, Summary], value: float) -> bool:
    return min(s.value for s in over.values()) <= value <= max(s.value for s in over.values())


def cross_validation(
    depths: Mapping[Path, Pairs], reported: Reported, predicted: Sequence[Predicted], fits: Fits, jitter: Alone
) -> tuple[Table, Note]:
    """Compare errors of predictions with those of a fit to all cells, and with those of two guesses: in reading A.

    The note has the error of the prediction in both readings.
    """
    rows, whole = [], fits.of(OWN_RUN)
    for v in VARIANTS:
        inside, outside = [c for c in CELLS if v not in c], [c for c in CELLS if v in c]
        found = fit(depths, reported, inside)
        rows.append(
            {
                "fitted to": f"the 9 cells without {LABELS[v]}",
                "best fit": found.best.words,
                "error of these": f"{error(depths[found.best], reported, inside):.1f}",
                "predicted": f"the 7 cells with {LABELS[v]}",
                "error of the prediction": f"{error(depths[found.best], reported, outside):.1f}",
                "with the fit to all cells": f"{error(depths[whole.best], reported, outside):.1f}",
            }
        )
    offs = {
        r: float(np.mean([cell_error(depths[p.best], reported, p.cell, r) for p in predicted if p.reading == r]))
        for r in READINGS
    }
    off = offs[OWN_RUN]
    own = error(depths[whole.best], reported)
    rows.append(
        {
            "fitted to": "all pairs but one, for each pair",
            "best fit": f"{len({p.best for p in predicted if p.reading == OWN_RUN})} different ones",
            "error of these": "",
            "predicted": "that pair: all 16 cells",
            "error of the prediction": f"{off:.1f}",
            "with the fit to all cells": f"{own:.1f}",
        }
    )
    found_jitter, part = jitter_fit(jitter)
    same = {
        path: error(pairs, reported)
        for path, pairs in depths.items()
        if path == whole.best._replace(jitter=path.jitter)
    }
    by_part1 = next((path for path in same if path.jitter == found_jitter), None)
    rows.append(
        {
            "fitted to": "part 1: Vegas has two thirds",
            "best fit": f"jitter {found_jitter} a hop",
            "error of these": f"{abs(part - THIRDS):.2f} of Reno's and CUBIC's mean",
            "predicted": "Table 1, with the buffer and RTT of its own fit",
            "error of the prediction": "not run" if by_part1 is None else f"{same[by_part1]:.1f}",
            "with the fit to all cells": f"{own:.1f}",
        }
    )
    half = float(np.mean([abs(HALF - reported_of(reported, c)) for c in CELLS]))
    inside_range = {r: sum(p.covered for p in predicted if p.reading == r) for r in READINGS}
    title = "Cross-validation: mean error over cells of Table 1 in reading A, Mbit/s"
    jitters = ", ".join(f"{path.jitter} {same[path]:.1f}" for path in sorted(same, key=lambda p: p.jitter))
    return Table("cross-validation", title, pl.DataFrame(rows)), Note(
        f"The rest of Table 1 is predicted with a mean error of {off:.1f} (reading A) and {offs[ONE_RUN]:.1f} Mbit/s "
        "(B)",
        f"Each cell is predicted by the fit to the cells of all other pairs. Fitted to all cells in reading A, the "
        f"error is {own:.1f} Mbit/s. If every flow got half of the link, it would be {half:.1f}. "
        f"{inside_range[OWN_RUN]} (A) and {inside_range[ONE_RUN]} (B) of {len(CELLS)} cells lie within the range "
        "over the settings that the fit doesn't distinguish. Table 1 and part 1 give a jitter each: Table 1 "
        f"{whole.best.jitter} a hop in reading A (errors with its buffer: {jitters} Mbit/s) and "
        f"{fits.of(ONE_RUN).best.jitter} in reading B, part 1's two thirds of Vegas {found_jitter}.",
    )


HALF = 48.25
"""Half of a link of 100 Mbit/s less headers (1448 of 1500 bytes are payload), Mbit/s."""
