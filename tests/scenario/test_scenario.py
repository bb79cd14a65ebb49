"""Scenarios: in and out, sweeps, changes, schema."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from conftest import BASE, FULL
from hypothesis import given
from hypothesis import strategies as st

from dumbbell import Scenario, ScenarioError, json_schema, registry
from dumbbell.plan.build import build
from dumbbell.scenario.paths import join, split
from dumbbell.scenario.sweep.seeds import repetition_seed


@pytest.mark.parametrize("text", [BASE, FULL])
def test_round_trip(text: str) -> None:
    scenario = Scenario.from_toml(text)
    assert Scenario.from_toml(scenario.to_toml()) == scenario
    assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert Scenario.from_toml(scenario.to_toml()).to_toml() == scenario.to_toml()


def test_text_of_quantities_is_kept() -> None:
    text = BASE.replace('"2 Mbit/s"', '"2_000 kbit/s"')
    assert 'rate = "2_000 kbit/s"' in Scenario.from_toml(text).to_toml()


def test_from_python_as_from_toml(base: Scenario) -> None:
    assert Scenario(**tomllib.loads(BASE)) == base


def test_a_discipline_within_another(changed: Callable[..., Scenario]) -> None:
    inner = {"discipline": "codel", "target": "10 ms"}
    made = changed({"network.bottleneck.queue": {"discipline": "tbf", "rate": "1 Mbit/s", "inner": inner}})
    assert Scenario.from_toml(made.to_toml()) == made
    # Its name addresses it too, and its parameters can be reached.
    short = changed({"network.bottleneck.queue": {"discipline": "tbf", "rate": "1 Mbit/s", "inner": "codel"}})
    assert short.with_changes({"network.bottleneck.queue.inner.target": "10 ms"}) == made
    queues = {link["name"]: link["queue"] for link in build(made.cells[0].scenario)["links"]}
    assert queues["r1->r2"] == {"name": "tbf", "params": {"rate": "1 Mbit/s", "inner": inner}}


def test_sweep_is_cases_times_product() -> None:
    cells = Scenario.from_toml(FULL).cells
    assert len(cells) == 2 * 2 * 2
    assert [c.values["flows.long.variant.alpha"] for c in cells] == [1, 1, 2, 2, 1, 1, 2, 2]
    last = cells[-1].scenario
    assert last.flows[0].variant is not None
    assert last.flows[0].variant.params == {"alpha": 2, "beta": 4}
    assert last.flows[1].variant is not None
    assert (last.flows[1].variant.name, last.flows[1].variant.params) == ("cubic", {"beta": 0.8})
    assert last.flows[1].access is not None
    assert last.flows[1].access.delay == "2 ms"
    assert list(cells[0].values) == ["network.bottlenecks.0.queue", "flows.long.variant.alpha", "flows.short.variant"]


def test_sweep_paths_without_quotes_are_the_same(changed: Callable[..., Scenario]) -> None:
    quoted = BASE + '[sweep]\n"flows.tcp.variant" = ["reno", "vegas"]\n'
    bare = BASE + '[sweep]\nflows.tcp.variant = ["reno", "vegas"]\n'
    assert [c.values for c in changed(text=quoted).cells] == [c.values for c in changed(text=bare).cells]


def test_sweep_into_a_short_form(changed: Callable[..., Scenario]) -> None:
    scenario = changed({"sweep": {"flows.tcp.stack.window": ["10 packets", "20 packets"]}})
    assert [build(c.scenario)["flows"][0]["transport"]["stack"] for c in scenario.cells] == [
        {"name": "ns2", "params": {"window": w}} for w in ("10 packets", "20 packets")
    ]


def test_without_sweep_there_is_one_cell(base: Scenario) -> None:
    assert [c.values for c in base.cells] == [{}]


def test_change_of_a_swept_path_keeps_one_value(changed: Callable[..., Scenario]) -> None:
    text = BASE + '[sweep]\n"flows.tcp.variant" = ["reno", "vegas"]\nstart_jitter = ["0 s", "1 ms"]\n'
    cells = changed({"flows.0.variant": "cubic"}, text).cells
    assert [c.values["flows.tcp.variant"] for c in cells] == ["cubic", "cubic"]
    with pytest.raises(ScenarioError, match=r"flows\.tcp\.variant\.name: the sweep varies 'flows\.tcp\.variant'"):
        changed({"flows.tcp.variant.name": "cubic"}, text)


def test_seeds_are_the_same_in_every_cell_and_never_change() -> None:
    # sha256("dumbbell/1/0")[:6]: results of published scenarios depend on it.
    import hashlib

    assert repetition_seed(1, 0) == int(hashlib.sha256(b"dumbbell/1/0").hexdigest()[:12], 16)
    assert len({repetition_seed(s, r) for s in range(20) for r in range(20)}) == 400


@given(
    st.lists(st.text(st.characters(exclude_characters="\"'", exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1)
)
def test_paths_split_as_joined(parts: list[str]) -> None:
    assert split(join(parts)) == parts


def test_schema_names_every_variant_and_parameter() -> None:
    schema = json_schema()
    definitions: dict[str, Any] = schema["$defs"]
    forms = definitions["Variant"]["anyOf"]
    names = [name for v in registry.variants().values() for name in (v.name, *v.aliases)]
    assert forms[0]["enum"] == names
    vegas = next(f for f in forms[1:] if f["properties"]["name"] == {"const": "vegas"})
    assert "alpha" in vegas["properties"]
    assert schema["additionalProperties"] is False


def test_every_field_is_documented() -> None:
    schema = json_schema()
    for name, definition in {"Scenario": schema, **schema["$defs"]}.items():
        for key, field in definition.get("properties", {}).items():
            if "const" not in field:
                assert field.get("description"), f"{name}.{key}"


def test_a_swept_none_is_no_toml(base: Scenario) -> None:
    """It stands for a key that isn't given."""
    swept = base.with_changes({"sweep": {"network.bottleneck.queue": [None, "codel"]}})
    assert [cell.scenario.to_dict()["network"]["bottleneck"].get("queue") for cell in swept.cells][1] == "codel"
    with pytest.raises(ScenarioError, match=r"^sweep\.network\.bottleneck\.queue\.0: None can't be written as TOML$"):
        swept.to_toml()
