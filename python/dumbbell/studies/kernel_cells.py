"""The cells of a study that run on the real kernel too, and the numbers that its page shows beside the simulator's.

In ``study.toml``::

    [kernel]
    repetitions = 3
    quick = 2
    decisive = [                       # the metric as in the rules of paper.toml
        { what = "1st of two", metric = "pairs goodput", at = { pair = "vegas/vegas", flow = "first" }, report = 48.7 },
    ]

    [[kernel.cells.pairs]]             # cells of the experiment `pairs`: a value, or a list of values, for each path
    "flows.first.variant" = "vegas"
    "flows.second.variant" = ["vegas", "cubic"]
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from dumbbell.scenario import Cell
from dumbbell.studies.declared import Setting

__all__ = ["Decisive", "KernelCells"]


class Decisive(BaseModel):
    """A number that the page shows for both back ends.

    Attributes
    ----------
    what : str
        Its name on the page.
    metric : str
        A quantity of the study.
    at : Setting
        The setting of the quantity.
    report : float or None
        The report's number, in the metric's unit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    metric: str
    at: Setting
    report: float | None = None


class KernelCells(BaseModel):
    """The decisive cells of a study; see the top of this file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repetitions: int = Field(ge=1)
    quick: int = Field(ge=1)
    """Repetitions with ``--quick``."""
    cells: dict[str, list[dict[str, Any]]]
    decisive: list[Decisive] = Field(min_length=1)

    def holds(self, experiment: str, cell: Cell) -> bool:
        """Return True if a cell of an experiment is decisive."""
        return any(_matches(cell.values, wanted) for wanted in self.cells.get(experiment, []))


def _matches(values: dict[str, Any], wanted: dict[str, Any]) -> bool:
    def fits(path: str, allowed: Any) -> bool:  # noqa: ANN401 - of any kind
        return values.get(path) in (allowed if isinstance(allowed, list) else [allowed])

    return all(fits(path, allowed) for path, allowed in wanted.items())
