"""Two readings of Table 1: each cell from a run of its own, or a cell and its mirror from one run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.studies.finding import Note, Table
from dumbbell.studies.geni_fairness.data import VARIANTS, Pairs
from dumbbell.studies.geni_fairness.fits import Reported, error, reported_of
from dumbbell.studies.shared import LABELS

__all__ = ["OWN_RUN", "mirrored_error", "read_cell", "readings"]

OWN_RUN = "A"
"""Name of the first reading in the rules."""

NEAR = 0.03
"""Largest deviation of a sum from the typical sum that counts as one link: the spread of goodput over a full link."""
UNLIKE = [(a, b) for r, a in enumerate(VARIANTS) for b in VARIANTS[r + 1 :]]
"""The unordered pairs of unlike variants; the one listed first in `VARIANTS` starts first."""


def mirrored_error(pairs: Pairs, reported: Reported) -> float:
    """Return the mean error over the 12 cells of unlike variants if one run gave a cell and its mirror, Mbit/s."""
    off = []
    for a, b in UNLIKE:
        one, two = pairs.medians(a, b)
        off += [abs(one - reported_of(reported, (a, b))), abs(two - reported_of(reported, (b, a)))]
    return float(np.mean(off))


def read_cell(pairs: Pairs, cell: tuple[str, str], reading: str) -> npt.NDArray[np.float64]:
    """Return a cell of the table by repetition; (n,) float64, Mbit/s.

    A: the goodput of the row's flow, which started first in a run of its own. B: of unlike variants, one run gave the
    cell and its mirror, and the variant that the table lists first started first; of the same variant, the mean of
    both flows.
    """
    row, column = cell
    if reading == OWN_RUN:
        return np.asarray(pairs.both(row, column)[:, 0])
    if row == column:
        return np.asarray(pairs.both(row, column).mean(axis=1))
    if cell in UNLIKE:
        return np.asarray(pairs.both(row, column)[:, 0])
    return np.asarray(pairs.both(column, row)[:, 1])


def readings(pairs: Pairs, setting: str, reported: Reported) -> tuple[Table, Note]:
    """Compare two readings of the report's table by the sums of its mirrored cells.

    A: every cell is the goodput of the flow that started first, in a run of its own. B: one run gave a cell and its
    mirror, the goodput of both flows. Under B the sum of mirrored cells is the link's goodput.
    """
    rows, sums, firsts = [], [], []
    for a, b in UNLIKE:
        own = reported_of(reported, (a, b)) + reported_of(reported, (b, a))
        one_run = float(np.median(pairs.both(a, b).sum(axis=1)))
        two_runs = pairs.medians(a, b)[0] + pairs.medians(b, a)[0]
        sums.append(own)
        firsts.append(two_runs)
        rows.append(
            {
                "pair": f"{LABELS[a]}, {LABELS[b]}",
                "report: sum of both cells": f"{own:.1f}",
                "here: sum of one run (B)": f"{one_run:.1f}",
                "here: sum of two runs' first flows (A)": f"{two_runs:.1f}",
            }
        )
    typical = float(np.median(sums))
    alike = [s for s in sums if abs(s / typical - 1) <= NEAR]
    spread = {"A": float(np.std(firsts)), "report": float(np.std(sums))}
    like_one_run = sum(abs(s / typical - 1) <= NEAR for s in firsts)
    fits = "B" if len(alike) > like_one_run else "A" if len(alike) < like_one_run else "neither better"
    table = Table(
        "readings",
        f"Two readings of Table 1, Mbit/s; medians of {pairs.n} repetitions, {setting}",
        pl.DataFrame(rows),
    )
    return table, Note(
        f"Table 1 has two readings; the better one: {fits}",
        "Reading A: each cell is the goodput of the row's flow, which started first in a run of its own. Reading B: "
        "one run gave a cell and its mirror, as the report's text has it for CUBIC and Vegas (92.4 and 2.5 Mbit/s of "
        f"one pair). Under B mirrored cells add up to the link's goodput. In the report {len(alike)} of {len(sums)} "
        f"sums lie within {100 * NEAR:.0f} % of {typical:.1f} Mbit/s ({min(alike):.1f} to {max(alike):.1f}). Here, "
        f"with {setting}, the goodputs of the first flows in two runs (A) do so for {like_one_run} of {len(sums)}; "
        f"their standard deviation is {spread['A']:.1f} Mbit/s, that of the report's sums {spread['report']:.1f}. "
        f"The mean error over the 12 cells is {error(pairs, reported, [*UNLIKE, *(u[::-1] for u in UNLIKE)]):.1f} "
        f"Mbit/s under A and {mirrored_error(pairs, reported):.1f} under B.",
    )
