"""Plans as text. The runs of a cell differ in the seed only, so that the rest is written once for each cell."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

from dumbbell.plan.build import build
from dumbbell.scenario import Cell

__all__ = ["PlanText", "plan_text"]


@dataclass(frozen=True)
class PlanText:
    """The plan of a cell's runs as JSON, without the seed.

    Attributes
    ----------
    plan : (str, str)
        Before and after the seed, as the simulator reads it.
    key : (str, str, str)
        The same with the cell's values and sorted keys: before and after the repetition, and after the seed.
    values : dict
        The plan as plain values.
    """

    plan: tuple[str, str]
    key: tuple[str, str, str]
    values: dict[str, Any]

    def with_seed(self, seed: int) -> str:
        """Return the plan of a run."""
        return f"{self.plan[0]}{seed}{self.plan[1]}"

    def of_run(self, repetition: int, seed: int) -> str:
        """Return ``[values of the cell, repetition, plan]`` with sorted keys and without spaces."""
        values, before, after = self.key
        return f"{values}{repetition}{before}{seed}{after}"


KEPT = 4_000_000
"""Characters of the plans that are kept: those of a thousand small cells, which wait for a thread and for results."""


class _Kept:
    """The plans of the cells that were used last."""

    def __init__(self) -> None:
        self._plans: OrderedDict[Cell, PlanText] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def get(self, cell: Cell) -> PlanText | None:
        with self._lock:
            found = self._plans.get(cell)
            if found is not None:
                self._plans.move_to_end(cell)
            return found

    def add(self, cell: Cell, plan: PlanText) -> None:
        with self._lock:
            if cell in self._plans:
                return
            self._plans[cell] = plan
            self._characters += len(plan.plan[1])
            while self._characters > KEPT and len(self._plans) > 1:
                _, oldest = self._plans.popitem(last=False)
                self._characters -= len(oldest.plan[1])


_KEPT = _Kept()


def plan_text(cell: Cell) -> PlanText:
    """Write the plan of a cell's runs."""
    found = _KEPT.get(cell)
    if found is None:
        found = _write(cell)
        _KEPT.add(cell, found)
    return found


def _write(cell: Cell) -> PlanText:
    plan = build(cell.scenario)
    rest = {name: value for name, value in plan.items() if name != "seed"}
    before = {name: value for name, value in rest.items() if name < "seed"}
    after = {name: value for name, value in rest.items() if name > "seed"}
    return PlanText(
        plan=('{"seed": ', f", {json.dumps(rest, allow_nan=False)[1:]}"),
        key=(f"[{_sorted(cell.values)},", f',{_sorted(before)[:-1]},"seed":', f",{_sorted(after)[1:]}]"),
        values=plan,
    )


def _sorted(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
