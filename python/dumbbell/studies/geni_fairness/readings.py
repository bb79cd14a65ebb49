"""Two readings of Table 1: each cell from a run of its own, or a cell and its mirror from one run."""

from __future__ import annotations

import numpy as np
import polars as pl

from dumbbell.report.finding import Note, Table
from dumbbell.studies.geni_fairness.data import Pairs
from dumbbell.studies.geni_fairness.fits import CELLS, READINGS, UNLIKE, Fits, Reported, region, reported_of
from dumbbell.studies.shared import LABELS

__all__ = ["readings"]

NEAR = 0.03
"""Largest deviation of a sum from the typical sum that counts as one link: the spread of goodput over a full link."""


def readings(pairs: Pairs, setting: str, reported: Reported, fits: Fits) -> tuple[Table, Note]:
    """Compare two readings of the report's table by the sums of its mirrored cells, and by the errors of the fits.

    A: every cell is the goodput of the flow that started first, in a run of its own. B: one run gave a cell and its
    mirror, the goodput of both flows. Under B the sum of mirrored cells is the link's goodput.
    """
    rows, sums, firsts, both = [], [], [], []
    for a, b in UNLIKE:
        own = reported_of(reported, (a, b)) + reported_of(reported, (b, a))
        one_run = float(np.median(pairs.both(a, b).sum(axis=1)))
        two_runs = pairs.medians(a, b)[0] + pairs.medians(b, a)[0]
        sums.append(own)
        firsts.append(two_runs)
        both.append(one_run)
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
    spread = {"A": float(np.std(firsts)), "B": float(np.std(both)), "report": float(np.std(sums))}
    like_one_run = sum(abs(s / typical - 1) <= NEAR for s in firsts)
    better = "B" if len(alike) > like_one_run else "A" if len(alike) < like_one_run else "neither"
    table = Table(
        "readings", f"Two readings of Table 1, Mbit/s; medians of {pairs.n} repetitions, {setting}", pl.DataFrame(rows)
    )
    least = {r: fits.of(r).errors[fits.of(r).best] for r in READINGS}
    small, large = sorted(READINGS, key=lambda r: fits.of(r).squares)
    # The criterion by which settings aren't distinguished.
    within = fits.of(large).squares <= region(len(CELLS)) * fits.of(small).squares
    decides = "doesn't decide between them" if within else f"is smaller for {small}"
    return table, Note(
        f"Table 1 has two readings. By the number of its sums near one value the better one: {better}. "
        f"The error of the fits {decides}",
        "Reading A: each cell is the goodput of the row's flow, which started first in a run of its own. Reading B: "
        "one run gave a cell and its mirror, as the report's text has it for CUBIC and Vegas (92.4 and 2.5 Mbit/s of "
        f"one pair). Under B mirrored cells add up to the link's goodput. In the report {len(alike)} of {len(sums)} "
        f"sums lie within {100 * NEAR:.0f} % of {typical:.1f} Mbit/s ({min(alike):.1f} to {max(alike):.1f}). Here, "
        f"with {setting}, the goodputs of the first flows in two runs (A) do so for {like_one_run} of {len(sums)}; "
        f"their standard deviation is {spread['A']:.1f} Mbit/s, that of both flows of one run (B) {spread['B']:.1f}, "
        f"that of the report's sums {spread['report']:.1f}. "
        f"Fitted to all {len(CELLS)} cells, the mean error is {least['A']:.1f} Mbit/s under A "
        f"({fits.of('A').best.words}) and {least['B']:.1f} under B ({fits.of('B').best.words}).",
    )
