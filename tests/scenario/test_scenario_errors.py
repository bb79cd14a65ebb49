"""Every refusal names the place, the given value and the allowed ones."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from conftest import BASE, FULL
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell import Scenario, ScenarioError
from dumbbell.plan.build import build
from refusals import BAD


@pytest.mark.parametrize(("changes", "parts"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_refusals(changed: Callable[..., Scenario], changes: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(ScenarioError) as caught:
        changed(changes)
    assert [part for part in parts if part not in str(caught.value)] == []
    assert "pydantic" not in str(caught.value)


def test_all_problems_are_reported_at_once() -> None:
    text = BASE.replace('rate = "2 Mbit/s"', "rate = 2").replace('variant = "newreno"', 'variant = "nwreno"')
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text, source="my.toml")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["my.toml", "network.bottleneck.rate"],
        ["my.toml", "flows.tcp.variant"],
    ]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        ["", "10 ms", "1 Mbit/s", "1 bdp", "10 packets", "reno", "tcp", "r1", "s1", "udp", "custom", "-1 s"]
    )
    | st.datetimes(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "kind", "rate", "from", "to", "queue", "reverse", "cases", "x.y"]), inner
        )
    ),
    max_leaves=5,
)


def places(node: Any) -> list[list[Any]]:
    """Every place in a document."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [[key, *rest] for key, value in items for rest in [[], *places(value)]]


@given(st.data())
@settings(max_examples=500, deadline=None)
def test_every_document_is_a_scenario_or_an_error(data: st.DataObject) -> None:
    """Every document is either a scenario or gives a ScenarioError with the reason."""
    document = tomllib.loads(data.draw(st.sampled_from([BASE, FULL])))
    *parents, last = data.draw(st.sampled_from(places(document)))
    node = document
    for key in parents:
        node = node[key]
    action = data.draw(st.sampled_from(["replace", "delete", "add"]))
    if action == "delete":
        del node[last]
    elif action == "add" and isinstance(node, dict):
        node[data.draw(st.sampled_from(["reverse", "from", "to", "at", "enter", "nodes", "hops", "stop", "zzz"]))] = (
            data.draw(VALUES)
        )
    else:
        node[last] = data.draw(VALUES)
    try:
        scenario = Scenario.from_dict(document)
    except ScenarioError as e:
        assert str(e)
    else:
        assert Scenario.from_dict(scenario.to_dict()) == scenario
        json.dumps([build(cell.scenario) for cell in scenario.cells], allow_nan=False)


def test_toml_errors_name_the_line() -> None:
    with pytest.raises(ScenarioError, match=r"my\.toml: not valid TOML: .*line 2"):
        Scenario.from_toml('name = "x"\nduration = 10 s\n', source="my.toml")


def test_missing_file() -> None:
    with pytest.raises(ScenarioError, match=r"nowhere\.toml: can't be read: No such file"):
        Scenario.load("nowhere.toml")


@pytest.mark.parametrize("missing", ["name", "duration", "network", "flows"])
def test_missing_parts(base: Scenario, missing: str) -> None:
    document = base.to_dict()
    del document[missing]
    with pytest.raises(ScenarioError, match=f"^{missing}: needed, but not given$"):
        Scenario.from_dict(document)
