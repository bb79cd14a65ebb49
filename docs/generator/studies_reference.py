"""What a study runs and which claims it checks, from its folder."""

from __future__ import annotations

from dumbbell.studies import study
from md import escaped, table


def experiments(name: str) -> str:
    """The experiments with their files and sizes."""
    found = study(name)
    rows = []
    for e in found.experiments:
        scenario = found.scenario(e)
        size = f"{len(scenario.cells)} x {scenario.repetitions}"
        rows.append([f"`{e.file}`", escaped(e.what), size, e.figures or "none"])
    return table(["scenario", "what", "cells x repetitions", "figures of the report"], rows)


def claims(name: str) -> str:
    """The claims of the publication."""
    return table(["claim", "the report says"], [[f"`{c.id}`", escaped(c.text)] for c in study(name).paper.claims])
