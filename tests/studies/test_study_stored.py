"""The stored verdicts of reports have the numbers of this version: a few claims are measured again.

A change that moves a simulated number makes this fail until ``validation/reports/verdicts.py --write-docs`` has
renewed ``docs/data/studies``. The runs of ``geni-fairness``, at 100 Mbit/s, take too long for a test.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.metrics.significance import LEVEL
from dumbbell.studies import studies
from dumbbell.studies.judge import judge

DATA = Path(__file__).parents[2] / "docs" / "data" / "studies"
FIRST, SECOND = slice(1), slice(1, 2)
CASES: list[tuple[str, dict[str, dict[str, slice]], set[str]]] = [
    (
        "ns2-cbr",
        {"exp3": {"flows.tcp.variant": SECOND, "network.bottleneck.queue": slice(4)}},
        {"exp3-sack-red-choice"},
    ),
    ("netem-iperf", {"grid": {"network.bottleneck.delay": slice(2, 3), "cases": FIRST}}, {"cubic-efficient"}),
    ("bufferbloat", {"pages": {"cases": FIRST}}, {"large-queue-irregular", "large-queue-irregular-waiting"}),
    ("video-real-traffic", {"queue": {"cases": SECOND}, "policer": {"cases": SECOND}}, {"median-dupacks-veno"}),
]
"""Study; experiments with the parts of their sweeps that the claims need; claims."""


@pytest.mark.parametrize(("name", "experiments", "claims"), CASES, ids=[f"{c[0]} {' '.join(c[1])}" for c in CASES])
def test_stored_numbers_are_those_of_this_version(
    name: str, experiments: dict[str, dict[str, slice]], claims: set[str], tmp_path: Path
) -> None:
    study = studies()[name]
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    stored = {c["id"]: c for c in data["claims"]}
    for claim in (study.claim(one) for one in claims):
        repetitions, level = stored[claim.id]["judged"] or (None, LEVEL)
        results = {}
        for experiment, parts in experiments.items():
            scenario: dict[str, Any] = Scenario.load(study.folder / f"{experiment}.toml").to_dict()
            for key, part in parts.items():
                scenario["sweep"][key] = scenario["sweep"][key][part]
            scenario["repetitions"] = repetitions or scenario["repetitions"]
            scenario["seed"] = data["decisions"]["seeds"][0] or scenario["seed"]
            results[experiment] = dumbbell.run(Scenario.from_dict(scenario), out=tmp_path / experiment)
        found = import_module(f"dumbbell.studies.{name.replace('-', '_')}.measured").measured(results)
        finding = judge(claim, found, {}, level=level)
        assert [f"{m.what} {m.text}" for m in finding.measured] == stored[claim.id]["measured"]
        assert finding.verdict.value in {stored[claim.id]["verdict"], *stored[claim.id]["own"]}
