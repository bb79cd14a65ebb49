"""CONTRIBUTING's steps for a new results column, carried out on a copy of the crate: nothing else has to change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from crate_copy import CrateCopy
from dumbbell import Results, Scenario, _core
from dumbbell.kernel.ssh import merge
from dumbbell.plots.axis_labels import quantity
from dumbbell.results import columns
from dumbbell.results.frames.summary import flow_summary
from required import require_programs

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COPY = CrateCopy("new-column", "plan")
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = PAGE.split("## Add a results column\n", 1)[1].split("\n## ", 1)[0]
DECLARATIONS = "crates/plan/src/result.rs"

MERGE = "        #[merge(Sum, Router)]\n"
COLUMN = f"""        /// Example: a time that exists for this test, ms.
{MERGE}        #[column(unit = Ms, better = Less, summary = (255, "example ms"))]
        pub example_ms: f64,
"""
BEFORE = "        /// Mean opinion score"
"""The column that follows the new one in the rows."""
PRINT = """//! Prints the declarations, and the row of a flow with two connections.

use dumbbell_plan::{FRAMES, FlowResult};

#[test]
fn print() {
    let mut row = FlowResult { example_ms: 30.0, ..FlowResult::default() };
    row.add_connection(&FlowResult { example_ms: 12.0, ..FlowResult::default() });
    println!("\\n@{}\\n@{}", serde_json::to_string(&FRAMES).unwrap(), serde_json::to_string(&row).unwrap());
}
"""


def steps(column: str) -> None:
    source = (ROOT / DECLARATIONS).read_text(encoding="utf-8")
    assert source.count(BEFORE) == 1
    COPY.write({DECLARATIONS: source.replace(BEFORE, column + BEFORE), "crates/plan/tests/new_column.rs": PRINT})


@pytest.fixture(scope="module")
def printed() -> list[Any]:
    """The declarations and the row that the copy prints."""
    require_programs("cargo")
    steps(COLUMN)
    done = COPY.cargo("test", "--test", "new_column", "--", "--nocapture")
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line[1:]) for line in done.stdout.splitlines() if line.startswith("@")]


def forget() -> None:
    for cached in (columns.columns, columns.better, columns.summarized, columns.shown_where_any, merge._measured_by):
        cached.cache_clear()


@pytest.fixture
def declared(printed: list[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The declarations of the copy instead of those of the extension module."""
    monkeypatch.setattr(_core, "result_columns", lambda: printed[0])
    forget()
    yield
    forget()


def measured(base: Scenario, row: dict[str, Any], value: float) -> Results:
    """Results of a simulator that measures the new column, as its rows would have it."""
    made = dumbbell.run(base, repetitions=4)
    first, last = list(row).index("example_ms"), len(row)
    runs = []
    for run in made.runs:
        flows = [
            {**dict(list(flow.items())[: first + 1]), "example_ms": value + run.repetition, **flow}
            for flow in run.flows
        ]
        runs.append(replace(run, flows=flows))
    assert all(len(flow) > last for run in runs for flow in run.flows)
    return Results(base, runs)


def test_the_steps_name_the_three_places() -> None:
    places = re.findall(r"`(crates/[^`]+)`", STEPS)
    assert places[0] == DECLARATIONS
    assert all((ROOT / place).exists() for place in places)
    assert len(re.findall(r"^\d\. ", STEPS, re.MULTILINE)) == 3


@pytest.mark.usefixtures("declared")
def test_a_declaration_makes_a_column(printed: list[Any], base: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    _, row = printed
    # Of several connections: the sum, by its rule.
    assert row["example_ms"] == 42.0
    slow, fast = (measured(base, row, value) for value in (50.0, 40.0))
    # In rows, JSON and frames, at its place; in the summary with its heading.
    document = slow.document()["runs"][0]["flows"][0]
    assert list(document).index("mos") == list(document).index("example_ms") + 1
    assert slow.flows["example_ms"].to_list() == [50.0, 50.0, 51.0, 51.0, 52.0, 52.0, 53.0, 53.0]
    table = flow_summary(slow)
    assert table.metrics[-1] == "example ms"
    assert [line[-1] for line in table.rows] == [51.5, 51.5]
    # The better direction, the axis.
    changes = dumbbell.compare(fast, slow, ["example_ms"])
    assert [change.worse for change in changes] == [True, True]
    assert quantity("example_ms").label == "example, ms"
    # Of several hosts: the router's value, by its rule.
    seen = dict.fromkeys(row, 1.0)
    at_sender: dict[str, Any] = {"variant": "udp", "example_ms": 7.0, "stop_s": 2.0, "seconds": 1.0}
    merge._by_router(at_sender, {**seen, "example_ms": 9.0})
    assert at_sender["example_ms"] == 9.0
    # The reference of the documentation.
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generator"))
    import results_reference

    assert (
        "| `example_ms` | number, ms | Example: a time that exists for this test, ms. |"
        in results_reference.measured_columns("flows").replace("\\_", "_")
    )


@pytest.mark.usefixtures("printed")
def test_a_forgotten_merge_is_an_error() -> None:
    steps(COLUMN.replace(MERGE, ""))
    done = COPY.cargo("check")
    assert done.returncode != 0
    assert "result.rs" in done.stderr
    assert "merge" in done.stderr
