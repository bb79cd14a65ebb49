"""Results are the stored ones to the last bit, on every machine.

After an intended change run tests/golden/renew.py and explain the change in the commit and in CHANGELOG.md.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

RENEW = Path(__file__).parents[1] / "golden" / "renew.py"


@pytest.fixture(scope="module")
def renew() -> ModuleType:
    spec = importlib.util.spec_from_file_location("renew", RENEW)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["mixed", "variants"])
def test_results_are_what_they_were(renew: ModuleType, name: str) -> None:
    kept, now = renew.golden(name), renew.results(name)
    assert now == kept, renew.largest_difference(kept, now)


def test_a_difference_is_found_and_named(renew: ModuleType) -> None:
    old, new = {"runs": [{"a": 10.0, "b": 1}]}, {"runs": [{"a": 10.1, "b": 2}]}
    assert renew.largest_difference(old, new) == ".runs[0].b: 1 -> 2"
    assert renew.largest_difference(old, old) == "no number"
