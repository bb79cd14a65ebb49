"""Plans as text. The runs of a cell differ in the seed only, so that the rest is written once for each cell."""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from threading import Lock
from typing import Any

from dumbbell.plan.build import build
from dumbbell.scenario import Cell

__all__ = ["PlanText", "as_in_plan", "plan_text", "plan_values"]


KEPT = 4_000_000
"""Characters of the plans that are kept: those of a thousand small cells, which wait for a thread and for results."""


_PLANS = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_VALUES = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def as_in_plan(part: object) -> str:
    """Write a part of a plan as it is in the plan's text."""
    return _PLANS.encode(part)


class PlanText:
    """The plan of a cell's runs as JSON, with sorted keys and without spaces: the text before and after the seed.

    A plan with more than `KEPT` characters is kept compressed. The run of many flows needs the memory, and as Python
    objects a plan takes several times as much as its text.

    Attributes
    ----------
    characters : int
        Length of the plan.
    values : dict, optional
        The plan as plain values, with the seed 0; None if it is large.
    """

    def __init__(self, cell: Cell) -> None:
        values = build(cell.scenario)
        before = _PLANS.encode({name: value for name, value in values.items() if name < "seed"})
        after = _PLANS.encode({name: value for name, value in values.items() if name > "seed"})
        self.characters = len(before) + len(after)
        large = self.characters > KEPT
        self.values = None if large else values
        self._before = _Text(f'{before[:-1]},"seed":', large)
        self._after = _Text(f",{after[1:]}", large)
        self._cell = _VALUES.encode(cell.values)

    def around_seed(self) -> tuple[str, str]:
        """Return the plan before and after the seed."""
        return self._before.read(), self._after.read()

    def with_seed(self, seed: int) -> str:
        """Return the plan of a run."""
        before, after = self.around_seed()
        return f"{before}{seed}{after}"

    def of_run(self, repetition: int, seed: int) -> str:
        """Return ``[values of the cell, repetition, plan]`` with sorted keys and without spaces."""
        return f"[{self._cell},{repetition},{self.with_seed(seed)}]"


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
            self._characters += plan.characters
            while self._characters > KEPT and len(self._plans) > 1:
                _, oldest = self._plans.popitem(last=False)
                self._characters -= oldest.characters


_KEPT = _Kept()


def plan_text(cell: Cell) -> PlanText:
    """Write the plan of a cell's runs."""
    found = _KEPT.get(cell)
    if found is None:
        found = PlanText(cell)
        _KEPT.add(cell, found)
    return found


def plan_values(cell: Cell) -> dict[str, Any]:
    """Return the plan of a cell's runs as plain values, with the seed 0."""
    found = plan_text(cell).values
    return build(cell.scenario) if found is None else found


class _Text:
    """A text that may be compressed."""

    def __init__(self, text: str, compressed: bool) -> None:
        self._text = zlib.compress(text.encode(), level=1) if compressed else text

    def read(self) -> str:
        text = self._text
        return text if isinstance(text, str) else zlib.decompress(text).decode()
