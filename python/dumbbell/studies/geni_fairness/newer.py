"""The report's further work: Verus and Sprout with each of its variants, the experiment `newer`."""

from __future__ import annotations

import numpy as np
import polars as pl

from dumbbell.metrics import jain, summarize
from dumbbell.report.finding import Note, Table
from dumbbell.results import Results
from dumbbell.scenario.units import Duration
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["Newer", "newer", "newer_note", "newer_table"]

NAMES = {"verus": "Verus", "sprout": "Sprout"}
FAIR = 0.95
"""Jain's index from which the claims call a pair fair."""
Newer = dict[tuple[str, str, bool], Floats]
"""By newer variant, other variant, and whether the other one starts first: (n, 2) float64, the goodput of the newer
and of the other flow, Mbit/s."""


def newer(results: Results) -> Newer:
    """Return the goodputs; empty if a back end has neither variant."""
    found: Newer = {}
    for runs in results.by_cell():
        cell = runs[0].cell
        key = (
            str(cell["flows.newer.variant"]),
            str(cell["flows.other.variant"]),
            Duration(cell["flows.other.start"]).ns == 0,
        )
        rows = [{flow["name"]: 1e-6 * float(flow["goodput_bps"]) for flow in run.flows} for run in runs]
        found[key] = np.array([(row["newer"], row["other"]) for row in rows])
    return found


def newer_table(found: Newer) -> Table:
    """List both goodputs and Jain's index of each pair."""
    rows = []
    for (who, other, before), both in found.items():
        mine, theirs = (summarize(column) for column in both.T)
        rows.append(
            {
                "newer": NAMES[who],
                "with": LABELS[other],
                "starts first": LABELS[other] if before else NAMES[who],
                "goodput of the newer, Mbit/s": mine.text(),
                "goodput of the other, Mbit/s": theirs.text(),
                "Jain's index": summarize(jain(both)).text(),
            }
        )
    n = len(next(iter(found.values())))
    return Table(
        "newer", f"Further work: Verus and Sprout, median [95 % interval] of {n} repetitions", pl.DataFrame(rows)
    )


def newer_note(found: Newer) -> Note:
    """State with which of the report's variants the newer ones share fairly."""
    fair, parts = [], []
    for who in dict.fromkeys(key[0] for key in found):
        shares = []
        for other in dict.fromkeys(key[1] for key in found if key[0] == who):
            pairs = [both for (a, b, _), both in found.items() if (a, b) == (who, other)]
            shares.append(f"{100 * np.mean([p[:, 0] / p.sum(axis=1) for p in pairs]):.0f} % with {LABELS[other]}")
            if all(summarize(jain(p)).low > FAIR for p in pairs):
                fair.append(f"{NAMES[who]} and {LABELS[other]}")
        parts.append(f"{NAMES[who]} has {', '.join(shares)}")
    return Note(
        f"Verus and Sprout, the report's further work: {', '.join(fair) or 'no pair'} shown to share fairly",
        f"Shares of the newer variant, means over both orders of the start: {'; '.join(parts)}. Fair: in both orders "
        f"Jain's index is above {FAIR:g} with the whole interval. Both were designed for cellular links, whose rate "
        "varies; this link has a constant one. The report states nothing on them that could hold or not.",
    )
