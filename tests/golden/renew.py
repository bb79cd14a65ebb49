"""Renew the golden results: python tests/golden/renew.py. Prints the largest difference of each scenario first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell import registry

HERE = Path(__file__).parent
SCENARIOS = ("mixed", "variants")


def results(name: str) -> dict[str, Any]:
    """Run a golden scenario; the document of its results, with every variant that there is."""
    scenario = dumbbell.Scenario.load(HERE / f"{name}.toml")
    if name == "variants" and scenario.sweep is not None:
        every = {"flows.tcp.variant": list(registry.variants())}
        scenario = scenario.with_changes({"sweep": scenario.sweep.axes | every})
    document: dict[str, Any] = json.loads(json.dumps(dumbbell.run(scenario).document()))
    return document


def golden(name: str) -> dict[str, Any]:
    """Read what was kept."""
    path = HERE / f"{name}.json"
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return document


def numbers(value: object, place: str = "") -> dict[str, float | None]:
    """Flatten a document into its numbers, each with its place."""
    if isinstance(value, dict):
        return {k: v for key, item in value.items() for k, v in numbers(item, f"{place}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, item in enumerate(value) for k, v in numbers(item, f"{place}[{i}]").items()}
    return {place: value} if isinstance(value, int | float) or value is None else {}


def largest_difference(old: object, new: object) -> str:
    """Return where two documents differ most, relative to the old value."""
    before, after = numbers(old), numbers(new)
    worst, where = 0.0, "no number"
    for place in before.keys() | after.keys():
        a, b = before.get(place), after.get(place)
        if a != b:
            share = abs(b - a) / abs(a) if a and b is not None else float("inf")
            if share >= worst:
                worst, where = share, f"{place}: {a} -> {b}"
    return where


if __name__ == "__main__":
    for each in SCENARIOS:
        now = results(each)
        print(f"{each}: largest difference: {largest_difference(golden(each), now)}")
        lines = ",\n".join(json.dumps(run) for run in now["runs"])
        (HERE / f"{each}.json").write_text(f'{{"runs": [\n{lines}\n]}}\n', encoding="utf-8")
