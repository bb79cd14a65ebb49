"""Paths with ``*`` in sweeps and changes: the same as the paths written out."""

from __future__ import annotations

from typing import Any

import pytest
from one_link import network

from dumbbell import Scenario, ScenarioError

NAMES = ["a-1", "a-2", "b"]
DOCUMENT: dict[str, Any] = {
    "name": "every",
    "duration": "1 s",
    "network": network(),
    "flows": [{"name": name, "variant": "reno"} for name in NAMES],
}


def cells(sweep: dict[str, Any]) -> list[dict[str, Any]]:
    scenario = Scenario.from_dict({**DOCUMENT, "sweep": sweep})
    return [scenario.cells.values_of(n) for n in range(len(scenario.cells))]


def test_a_list_sets_every_flow_that_fits() -> None:
    assert cells({"flows.*.variant": ["cubic", "bbr"]}) == [
        {f"flows.{name}.variant": variant for name in NAMES} for variant in ("cubic", "bbr")
    ]
    assert cells({"flows.a-*.variant": ["cubic"]}) == [{"flows.a-1.variant": "cubic", "flows.a-2.variant": "cubic"}]


def test_cases_are_within_the_list_and_other_lists_within_the_cases() -> None:
    limit = "network.bottleneck.queue.limit"
    sweep = {
        limit: ["5 packets", "9 packets"],
        "flows.a-*.variant": ["cubic", "bbr"],
        "cases": [{"flows.b.variant": "vegas"}, {"flows.*.start": "1 ms"}],
    }
    both = [{"flows.a-1.variant": v, "flows.a-2.variant": v} for v in ("cubic", "bbr")]
    assert cells(sweep) == [
        {**variants, **case, limit: value}
        for variants in both
        for case in ({"flows.b.variant": "vegas"}, {f"flows.{name}.start": "1 ms" for name in NAMES})
        for value in ("5 packets", "9 packets")
    ]


def variants(scenario: Scenario) -> list[str]:
    return [flow.variant.name for flow in scenario.flows if flow.variant is not None]


def test_a_change_sets_every_flow_that_fits() -> None:
    changed = Scenario.from_dict(DOCUMENT, {"flows.a*.variant": "cubic"})
    assert variants(changed) == ["cubic", "cubic", "reno"]
    assert variants(changed.with_changes({"flows.*.variant": "bbr"})) == ["bbr"] * 3
    swept = {**DOCUMENT, "sweep": {"flows.b.variant": ["cubic", "bbr"]}}
    cell_values = Scenario.from_dict(swept, {"flows.*.variant": "vegas"}).cells.values_of(0)
    assert cell_values == {"flows.b.variant": "vegas"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("flows.c*.variant", r"flows\.c\*\.variant: no name fits 'c\*' \(a-1, a-2, b\)"),
        ("network.*.rate", r"network\.\*"),
        ("flows.*.varient", "varient"),
    ],
)
def test_a_path_that_fits_nothing_is_refused(path: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario.from_dict(DOCUMENT, {path: "cubic"})
    with pytest.raises(ScenarioError, match=message):
        cells({path: ["cubic"]})


def test_one_place_set_twice_is_refused() -> None:
    with pytest.raises(ScenarioError, match="it is set twice"):
        Scenario.from_dict(DOCUMENT, {"flows.*.variant": "cubic", "flows.b.variant": "bbr"})
    with pytest.raises(ScenarioError, match="the same place"):
        cells({"flows.*.variant": ["cubic"], "flows.b.variant": ["bbr"]})
