"""The small print of a figure: the experiment and the version that made its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.common.words import counted

if TYPE_CHECKING:
    from dumbbell.results import Results, Run

__all__ = ["source_of"]


def source_of(results: Results, run: Run | None = None) -> str:
    """Name the scenario, the seed, the number of runs (or the one run) and the version.

    The key identifies a run by everything that determines it: two figures with the same key show the same data.
    """
    parts = [results.scenario.name, f"seed {results.scenario.seed}"]
    if run is None:
        cells = len(results.by_cell())
        count = len(results)
        parts.append(f"{counted(count, 'run')} in {counted(cells, 'cell')}")
    else:
        parts.append(f"run {run.index} ({run.key[:8]})")
    return " · ".join([*parts, results.made_by])
