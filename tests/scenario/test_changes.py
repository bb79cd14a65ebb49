"""Changes of a scenario: reading only the changed keys gives what reading the whole document gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from conftest import BASE, FULL

import dumbbell
from dumbbell import Scenario, ScenarioError
from dumbbell.plan.text import PlanText
from dumbbell.scenario import Cell
from dumbbell.scenario.own import variants
from dumbbell.scenario.reading_modes import announce_before_cells
from dumbbell.scenario.sweep.cells import Cells

SWEPT = (
    BASE + '[sweep]\n"flows.tcp.variant" = ["reno", "cubic"]\n"network.bottleneck.rate" = ["2 Mbit/s", "3 Mbit/s"]\n'
)
CHANGES: list[dict[str, Any]] = [
    {},
    {"name": "other", "description": "x"},
    {"repetitions": 7},
    {"seed": 9, "repetitions": 3},
    {"duration": "3 s"},
    {"measure_from": "1 s", "start_jitter": "5 ms"},
    {"network.bottleneck.rate": "5 Mbit/s"},
    {"network.bottleneck.queue.limit": "20 packets"},
    {"network.access.delay": "1 ms", "flows.cbr.application.rate": "2 Mbit/s"},
    {"flows.tcp.variant": {"name": "vegas", "alpha": 3}},
    {"flows.0.access": {"delay": "3 ms"}},
    {"sweep": None, "flows": [{"name": "only", "variant": "bbr", "count": 2}]},
    {"trace.series": True},
    {"trace": {}, "capture": []},
    {"capture": {"at": ["sender"], "qlog": None}},
    {"sweep": None},
    {"sweep": {"flows.tcp.start": ["0 s", "1 s"]}},
    {"until": {"half_width": "5 %"}},
    {"preset": {"name": "tcp_download", "lead": "1 s", "length": "1 s"}},
    {"variants": {}},
]
WRONG: list[dict[str, Any]] = [
    {"repetitions": 0},
    {"rate": "1 Mbit/s"},
    {"duration": "1"},
    {"measure_from": "5 s"},
    {"flows.tcp.class": 3},
    {"flows.none.start": "1 s"},
    {"trace.only": ["nobody"]},
    {"trace.interval": "1 ms"},
    {"flows.tcp.start": "2500 ms"},
    {"network.bottleneck.queue": {"discipline": "red", "limt": 3}},
    {"sweep": {"flows.tcp.class": [1, 2]}},
    {"until": {"half_width": "5 %", "at_most": 2}, "repetitions": 3},
]


def contents(scenario: Scenario) -> tuple[Any, ...]:
    """Return all that a scenario leads to."""
    cells = [(cell.values, PlanText(cell).with_seed(1)) for cell in scenario.cells]
    return scenario, scenario.to_dict(), list(scenario.to_dict()), scenario.external_files, cells


def problems(make: Any) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        make()
    return [str(problem) for problem in error.value.problems]


@pytest.mark.parametrize("text", [BASE, SWEPT], ids=["single", "swept"])
@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_change_gives_the_scenario_of_the_changed_document(text: str, changes: Mapping[str, Any]) -> None:
    scenario = Scenario.from_toml(text)
    before = contents(scenario)
    assert contents(scenario.with_changes(changes)) == contents(Scenario.from_dict(scenario.to_dict(), changes))
    assert contents(scenario) == before


@pytest.mark.parametrize("text", [BASE, SWEPT], ids=["single", "swept"])
@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_a_wrong_change_has_the_problems_of_the_changed_document(text: str, changes: Mapping[str, Any]) -> None:
    scenario = Scenario.from_toml(text)
    assert problems(lambda: scenario.with_changes(changes)) == problems(
        lambda: Scenario.from_dict(scenario.to_dict(), changes)
    )


@pytest.fixture
def nothing_registered() -> Iterator[None]:
    yield
    variants.KIND.registered.clear()


@pytest.mark.usefixtures("nothing_registered")
def test_an_own_variant_is_read_again() -> None:
    """A class that is registered again under its name is another variant."""

    class Mine:
        cwnd = ssthresh = 10_000

        def __init__(self, setup: object) -> None: ...
        def on_ack(self, ack: object, connection: object) -> None: ...
        def on_congestion(self, event: object, connection: object) -> None: ...

    class Other(Mine):
        """Another one."""

    dumbbell.register_variant(Mine, "mine")
    scenario = Scenario.from_toml(BASE).with_changes({"flows.tcp.variant": "mine"})
    dumbbell.register_variant(Other, "mine")
    first, second = (s.flows[0].variant for s in (scenario, scenario.with_changes({"repetitions": 1})))
    assert first is not None and second is not None and first.own != second.own


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of the cells that are made."""
    numbers: list[int] = []
    scenario_of = Cells.scenario_of

    def noted(cells: Cells, number: int) -> Scenario:
        numbers.append(number)
        return scenario_of(cells, number)

    monkeypatch.setattr(Cells, "scenario_of", noted)
    return numbers


def test_cells_are_checked_again_only_after_a_change_that_they_read(made: list[int]) -> None:
    announced: list[Scenario] = []
    scenario = Scenario.from_toml(SWEPT)
    made.clear()
    with announce_before_cells(announced.append):
        more = scenario.with_changes({"repetitions": 5, "seed": 3})
        assert (made, announced) == ([], [more])
        longer = scenario.with_changes({"duration": "3 s"})
        assert (made, announced) == ([0, 1, 2, 3], [more, longer])


def test_a_flow_is_read_once_for_each_of_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    validate = dumbbell.scenario.flow.model.Flow.model_validate

    def noted(value: dict[str, Any]) -> Any:
        read.append(value["variant"])
        return validate(value)

    monkeypatch.setattr(dumbbell.scenario.flow.model.Flow, "model_validate", noted)
    cells = Scenario.from_toml(SWEPT).cells
    assert read == ["reno", "cubic"]
    assert cells[0].scenario.flows[0] is cells[1].scenario.flows[0]
    assert cells[0].scenario.flows[0] != cells[2].scenario.flows[0]


def test_cells_of_cases_with_equal_values_share_their_parts() -> None:
    cases = [
        {"flows.long.variant": "bbr", "duration": "21 s"},
        {"flows.long.variant": "bbr", "duration": "22 s"},
        {"flows.long.variant": {"name": "bbr"}, "duration": "21 s"},
    ]
    scenario = Scenario.from_toml(FULL).with_changes({"sweep": {"cases": cases}})
    cells: list[Cell] = list(scenario.cells)
    flows = [cell.scenario.flows[0] for cell in cells]
    assert flows[0] is flows[1] and flows[0] is not flows[2]
    assert [str(cell.scenario.duration) for cell in cells] == ["21 s", "22 s", "21 s"]
