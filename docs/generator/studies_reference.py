"""The experiments and the claims of a study, from its folder."""

from __future__ import annotations

from dumbbell.studies import study
from md import escaped, table


def experiments(name: str) -> str:
    """Return the experiments with their files and sizes."""
    found = study(name)
    rows = []
    for e in found.experiments:
        scenario = found.scenario(e)
        size = f"{len(scenario.cells)} x {scenario.repetitions}"
        rows.append([f"`{e.file}`", escaped(e.what), size, e.figures or "none"])
    return table(["scenario", "experiment", "cells x repetitions", "figures of the report"], rows)


def claims(name: str) -> str:
    """Return the claims of the publication."""
    return table(
        ["claim", "statement of the report"], [[f"`{c.id}`", escaped(c.text)] for c in study(name).paper.claims]
    )
