"""The decisions of a study: looks, seeds, open settings."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from dumbbell.report.finding import Finding, Verdict
from dumbbell.studies import studies
from dumbbell.studies.decided import by_seed
from dumbbell.studies.definition import Study
from dumbbell.studies.open_settings import OpenSetting, OpenValue
from dumbbell.studies.paper import Claim, Paper
from dumbbell.studies.partial import StudyResults
from dumbbell.studies.sequential import Design, World, decide_all

SIMULATED = Path(__file__).parents[2] / "docs" / "data" / "significance" / "sequential.csv"
PAGE = OpenSetting(
    id="page", setting="size of the pages", used="750 kB", experiments=["pages"],
    values=[OpenValue(name="pages of 2 MB", changes={"size": "2 MB"})],
)  # fmt: skip
Rule = Callable[[World, int], tuple[Verdict, int | None]]
"""World and repetitions -> verdict and the repetitions that are needed."""


def claim(name: str, metric: str) -> Claim:
    rule = {"kind": "at least", "metric": metric, "bound": 1.0}
    return Claim.model_validate({"id": name, "text": "x", "words": {"1": "x"}, "rule": rule})


class Fake:
    """A study whose verdicts are given as functions of the world and the repetitions."""

    def __init__(self, rules: Mapping[str, Rule], settings: list[OpenSetting] | None = None) -> None:
        self.rules = rules
        claims = [claim(name, f"{name.split('-')[0]} x") for name in rules]
        self.paper = Paper(title="t", authors=["a"], method="m", claims=claims, open=settings or [])
        self.made: list[tuple[World, dict[str, int]]] = []
        self.levels: list[float] = []

    experiments_of = Study.experiments_of
    judged_at = Study.judged_at
    measured_in: Mapping[str, list[str]] = {}

    def claim(self, name: str) -> Claim:
        return next(c for c in self.paper.claims if c.id == name)

    def judging(self, *, level: float, quick: bool) -> Fake:
        assert not quick
        self.levels.append(level)
        return self

    def findings(self, results: Mapping[str, Any]) -> list[Finding]:
        found = []
        for name, rule in self.rules.items():
            world, n = results[name.split("-")[0]]
            verdict, needs = rule(world, n)
            found.append(Finding(name, verdict, "rule", (), f"n = {n}", needs=needs))
        return found

    def runs(self, world: World, counts: Mapping[str, int]) -> StudyResults:
        self.made.append((world, dict(counts)))
        return StudyResults(cast("Any", {e: (world, n) for e, n in counts.items()}), {})

    def decided(self, design: Design, scenarios: Mapping[str, int]) -> dict[str, Finding]:
        return decide_all(cast("Study", self), design, scenarios, self.runs)[0]


def from_(n: int, verdict: Verdict = Verdict.AGREES, needs: int = 50) -> Rule:
    """Decide from a number of repetitions on."""
    return lambda _world, have: (verdict, None) if have >= n else (Verdict.UNDECIDED, needs)


def test_only_open_claims_get_more_repetitions() -> None:
    study = Fake({"load-a": from_(10), "pages-b": from_(35), "pages-c": from_(20)})
    found = study.decided(Design((1,), looks=4), {"load": 10, "pages": 10, "window": 1})
    assert [f.verdict for f in found.values()] == [Verdict.AGREES] * 3
    assert [counts for _, counts in study.made] == [
        {"load": 10, "pages": 10, "window": 1},
        {"pages": 20},
        {"pages": 40},
    ]
    assert found["load-a"].why == "n = 10"
    assert found["pages-c"].why == "n = 20"


def test_the_first_look_that_decides_counts() -> None:
    fickle: Rule = lambda _w, n: (Verdict.AGREES if n == 10 else Verdict.DIFFERS, None)  # noqa: E731
    study = Fake({"load-a": fickle, "load-b": from_(40)})
    assert study.decided(Design((1,), looks=4), {"load": 10})["load-a"].verdict is Verdict.AGREES


def test_the_budget_ends_a_decision() -> None:
    study = Fake({"load-a": from_(1000)})
    design = Design.of([10, 1], seed=3, seeds=1, looks=4, budget=50, repetitions=None)
    assert study.decided(design, {"load": 10})["load-a"].verdict is Verdict.UNDECIDED
    assert [counts["load"] for _, counts in study.made] == [10, 20, 40, 50]
    hopeless = Fake({"load-a": from_(1000, needs=1_000_000)})
    hopeless.decided(design, {"load": 10})
    assert [counts["load"] for _, counts in hopeless.made] == [10]


@pytest.mark.parametrize("looks", range(1, 9))
def test_the_errors_of_all_looks_add_up(looks: int) -> None:
    design = Design(looks=looks)
    assert sum(1 - design.level(k) for k in range(looks)) == pytest.approx(0.05)
    study = Fake({"load-a": from_(1 << 30)})
    study.decided(design, {"load": 5})
    assert study.levels == [design.level(k) for k in range(looks)]


def test_a_design_names_its_options() -> None:
    whole = Design.of([10], seed=None, seeds=5, looks=4, budget=None, repetitions=None)
    assert whole.options() == ""
    one = Design.of([10], seed=7, seeds=1, looks=4, budget=40, repetitions=5)
    assert one.options() == " --seed 7 --seeds 1 --repetitions 5 --budget 40"
    assert one.looks == 4
    assert Design((3,), looks=1).options() == " --seed 3"
    assert Design().options() == ""


def test_a_verdict_is_that_of_all_seeds() -> None:
    odd: Rule = lambda w, _n: (Verdict.DIFFERS if w.seed == 3 else Verdict.AGREES, None)  # noqa: E731
    found = Fake({"load-a": from_(10), "load-b": odd}).decided(Design((1, 2, 3), looks=4), {"load": 10})
    assert found["load-a"].verdict is Verdict.AGREES
    assert found["load-a"].why.startswith("By 3 of 3 seeds. Seed 1: ")
    assert found["load-b"].verdict is Verdict.UNDECIDED
    assert by_seed(found["load-b"].decisions) == Counter({Verdict.AGREES: 2, Verdict.DIFFERS: 1})


def test_a_claim_depends_on_an_open_setting() -> None:
    page: Rule = lambda w, _n: (Verdict.DIFFERS if w.setting is None else Verdict.AGREES, None)  # noqa: E731
    study = Fake({"pages-a": page, "load-b": from_(10), "pages-c": from_(1000)}, [PAGE])
    found = study.decided(Design((1, 2), looks=2), {"load": 10, "pages": 10})
    assert found["pages-a"].verdict is Verdict.DEPENDS
    assert "pages of 2 MB: agrees 2" in found["pages-a"].why
    assert [d.value for d in found["load-b"].decisions] == ["", ""]
    assert [d.value for d in found["pages-c"].decisions] == ["", ""]  # open without it: stays so
    changed = [counts for world, counts in study.made if world.setting is not None]
    assert changed == [{"pages": 10}, {"pages": 10}]


def test_a_study_that_looks_once_varies_no_open_setting() -> None:
    study = Fake({"pages-a": from_(10)}, [PAGE])
    study.decided(Design((1, 2), looks=1), {"pages": 10})
    assert all(world.setting is None for world, _ in study.made)


def test_false_verdicts_of_the_simulation() -> None:
    with SIMULATED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(rows) > 50
    for row in rows:
        true = float(row["true difference"])
        false = {"agrees (%)"} if true < 1 else {"differs (%)"} if true > 1 else {"agrees (%)", "differs (%)"}
        assert sum(float(row[column]) for column in false) <= 5, row
        assert sum(float(row[f"five seeds: {column}"]) for column in false) <= 0.5, row


LISTED = [found for found in studies().values() if found.paper.listed]


@pytest.mark.parametrize("study", LISTED, ids=lambda s: s.name)
def test_every_claim_names_its_experiments(study: Study) -> None:
    known = {e.name for e in study.experiments}
    for one in study.paper.judged:
        assert set(study.experiments_of(one)) <= known, one.id
    for setting in study.paper.open:
        assert set(setting.experiments) <= known, setting.id
        assert study.judged_at(setting) or setting.reason, setting.id
        for value in setting.values:
            for e in (e for e in study.experiments if e.name in setting.experiments):
                assert study.scenario(e, more=value.changes, file=value.file).cells
