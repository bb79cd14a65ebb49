"""Every refusal names the place, the given value and the allowed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import BASE

from dumbbell import Scenario, ScenarioError
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
