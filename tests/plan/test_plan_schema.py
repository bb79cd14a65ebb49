"""Plans and their schema: each plan that Python writes from the project's scenarios is valid by the schema.

`crates/plan/tests/schema.rs` checks the other side: the types that read plans accept what the schema accepts.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from dumbbell import Scenario
from dumbbell._core import plan_schema
from dumbbell.plan.build import build

ROOT = Path(__file__).resolve().parents[2]
SCHEMA: dict[str, Any] = json.loads(plan_schema())
VALIDATOR = Draft202012Validator(SCHEMA)

FOLDERS = ["python/dumbbell/studies/*", "tests/golden", "benches", "examples"]


def is_whole(path: Path) -> bool:
    """Return True for a scenario; files that others extend have no name."""
    keys = tomllib.loads(path.read_text(encoding="utf-8")).keys()
    return "name" in keys and not keys.isdisjoint({"network", "extends"})


SCENARIOS = [path for folder in FOLDERS for path in sorted(ROOT.glob(f"{folder}/*.toml")) if is_whole(path)]


def refusal(plan: dict[str, Any]) -> str | None:
    """The most relevant error of a plan, None if it is valid."""
    error = best_match(VALIDATOR.iter_errors(plan))
    return None if error is None else f"{error.json_path}: {error.message}"


def test_the_schema_is_valid_and_so_is_its_example() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    (example,) = SCHEMA["examples"]
    assert refusal(example) is None


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: str(path.relative_to(ROOT)))
def test_plans_of_the_projects_scenarios(path: Path) -> None:
    cells = Scenario.load(path).cells
    for cell in {id(cell): cell for cell in (cells[0], cells[len(cells) // 2], cells[-1])}.values():
        assert refusal(build(cell.scenario, seed=1)) is None


def test_scenarios_were_found() -> None:
    assert len(SCENARIOS) > 50


def test_an_invalid_plan_is_refused(base: Scenario) -> None:
    plan = build(base.cells[0].scenario)
    assert refusal(plan) is None
    assert refusal(plan | {"unknown": 1}) is not None
    assert refusal({key: value for key, value in plan.items() if key != "seed"}) is not None
    plan["links"][0]["rate_bps"] = "1 Mbit/s"
    assert "rate_bps" in (refusal(plan) or "")
