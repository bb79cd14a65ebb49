"""The cells of a study that aren't run on a back end: found before anything is made, and listed on the page."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from dumbbell.backends import Backend, Job
from dumbbell.exceptions import BackendError
from dumbbell.report.finding import Table
from dumbbell.results.frames.run_frames import label
from dumbbell.scenario import Cell, Scenario
from dumbbell.studies.partial import Refused

__all__ = ["REFUSED", "refused_cells", "refused_table", "words_of"]

REFUSED = "refused"
"""Name of the table."""
_PREFIX = re.compile(r"^back end '\w+': ")
_CELL = re.compile(r" \(cell .*\)$")


def words_of(cell: Cell) -> str:
    """Name a cell by its swept values."""
    return ", ".join(f"{path} = {label(value)}" for path, value in cell.values.items()) or "the only cell"


def refused_cells(backend: Backend, scenarios: Mapping[str, Scenario]) -> Refused:
    """Find the cells that a back end can't run, each with the reason.

    Raises
    ------
    BackendError
        If it can run none of them: the reason against the first one.
    """
    refused: Refused = {}
    first: BackendError | None = None
    runs = 0
    for name, scenario in scenarios.items():
        for cell in scenario.cells:
            try:
                backend.check([Job(cell, 0, scenario.repetition_seed(0))])
                runs += 1
            except BackendError as e:
                first = first or e
                reason = _CELL.sub("", _PREFIX.sub("", str(e)))
                refused.setdefault(name, {})[words_of(cell)] = reason
    if not runs and first is not None:
        raise first
    return refused


def refused_table(refused: Refused) -> Table:
    """List the cells with their reasons."""
    rows = [
        {"experiment": name, "cell": cell, "reason": reason}
        for name, cells in refused.items()
        for cell, reason in cells.items()
    ]
    return Table(REFUSED, "Cells that were not run on this back end", pl.DataFrame(rows))
