"""Scenarios that the page shows as they are, whatever their topology: `dumbbell.plan` makes their plans here.

The page has no rules of scenarios. It holds a plan for each cell and the seed of each repetition, and runs them. A
plan can also be a part of a link (`fragment`), which a page of the documentation uses.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

from dumbbell.common.words import counted
from dumbbell.exceptions import DumbbellError
from dumbbell.plan.text import plan_text, plan_values
from dumbbell.scenario import Scenario

__all__ = ["MOST_FLOWS", "MOST_RUNS", "fragment", "given", "given_runs"]

MOST_RUNS = 2000
"""Runs of a page: a list that a reader can choose from."""
MOST_FLOWS = 64
"""Flows of a run: columns of the tables, and curves of a plot."""
MOST_CELLS = 100
"""Cells of a page: each has a plan of some kB."""


def given(scenario: Scenario) -> dict[str, Any]:
    """Return the runs of a scenario for the page: its name, its file, and for each cell the plan and the seeds.

    Raises
    ------
    DumbbellError
        If it has more cells, repetitions or flows than the page holds, or code of its own.
    """
    return given_runs(scenario.name, {"": scenario}, scenario.to_toml())


def given_runs(name: str, scenarios: Mapping[str, Scenario], file: str | None = None) -> dict[str, Any]:
    """Return the runs of scenarios by their titles, for one page; see `given`."""
    cells = [cell for title, scenario in scenarios.items() for cell in _cells(title, scenario)]
    _refuse_above(name, "cell", len(cells), MOST_CELLS, ": choose values with --set")
    _refuse_above(name, "run", sum(len(cell["seeds"]) for cell in cells), MOST_RUNS, ": set fewer repetitions")
    return {"name": name, "file": file, "cells": cells}


def _cells(title: str, scenario: Scenario) -> list[dict[str, Any]]:
    # Series of everything, for the plots. They never change a result; captures would only need memory.
    _refuse_above(scenario.name, "cell", len(scenario.cells), MOST_CELLS, ": choose values with --set")
    if code := scenario.cells.properties.code:
        raise DumbbellError(f"{scenario.name}: '{code[0]}' is code of its own, which a browser can't run")
    traced = scenario.with_changes({"trace": {"series": True}, "capture": []})
    seeds = [str(traced.repetition_seed(n)) for n in range(traced.repetitions)]
    found = []
    for cell in traced.cells:
        _refuse_above(scenario.name, "flow", len(plan_values(cell)["flows"]), MOST_FLOWS)
        before, after = plan_text(cell).around_seed()
        parts = [title, *(f"{path} = {_value(value)}" for path, value in cell.values.items())]
        label = ", ".join(part for part in parts if part) or "the scenario"
        found.append({"label": label, "before": before, "after": after, "seeds": seeds})
    return found


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _refuse_above(name: str, noun: str, count: int, most: int, remedy: str = "") -> None:
    if count > most:
        raise DumbbellError(f"{name}: {counted(count, noun)} given: the page holds at most {most}{remedy}")


def fragment(scenario: Scenario) -> str:
    """Return the part of a link behind ``#`` that holds a scenario's runs.

    It is `given` without the scenario file, as JSON, compressed [RFC 1951], in base64url [RFC 4648 §5]. A page can't
    make plans of a file: a file in a link could differ from the plans that it runs.

    Raises
    ------
    DumbbellError
        As `given`.
    """
    text = json.dumps(given(scenario) | {"file": None}, ensure_ascii=False).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(text) + packer.flush()
    return f"given={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
