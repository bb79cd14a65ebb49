"""The page on the five reports: its data have every claim, its counts are the data's, no lesson contradicts them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from dumbbell import DumbbellError
from dumbbell.studies import Study, Verdict, studies
from dumbbell.studies.lessons import declared
from required import require_packages

require_packages("matplotlib")

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = DOCS / "data" / "studies"
Generator = dict[str, ModuleType]
"""Modules of the documentation's generator by name."""
LISTED = [study for study in studies().values() if study.paper.listed]


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Generator:
    monkeypatch.syspath_prepend(DOCS / "generator")
    return {n: __import__(n) for n in ("five_reports", "studies_reference", "verdict_grid")}


@pytest.mark.parametrize("study", [*LISTED, studies()["quic-beside-tcp"]], ids=lambda s: s.name)
def test_the_data_have_every_claim_of_a_whole_run(study: Study) -> None:
    data = json.loads((DATA / f"{study.name}.json").read_text(encoding="utf-8"))
    assert [c["id"] for c in data["claims"]] == [c.id for c in study.paper.claims]
    for stored, claim in zip(data["claims"], study.paper.claims, strict=True):
        assert (stored["verdict"] == "not testable") == bool(claim.untestable)
        assert stored["why"]
        if claim.untestable:
            assert stored["why"] == claim.untestable
    assert data["version"]
    assert data["backend"]
    scenarios = {e.name: study.scenario(e) for e in study.experiments}
    assert list(data["repetitions"]) == list(scenarios)
    for name, n in data["repetitions"].items():  # doubled at each look
        assert n in {scenarios[name].repetitions << look for look in range(data["decisions"]["looks"])}
    cells = sum(len(scenario.cells) * data["repetitions"][name] for name, scenario in scenarios.items())
    assert data["runs"] == cells


@pytest.mark.parametrize("path", sorted((DATA / "linux").glob("*.json")), ids=lambda p: p.stem)
def test_the_decisive_cells_on_linux_are_those_of_the_study(generator: Generator, path: Path) -> None:
    found = next(study for study in LISTED if study.name == path.stem)
    assert found.kernel is not None
    data = json.loads(path.read_text(encoding="utf-8"))
    declared = [(d.what, d.report) for d in found.kernel.decisive]
    assert [(row["what"], row["report"]) for row in data["numbers"]] == declared
    for row in data["numbers"]:
        for mean, low, high in (row["simulator"], row["linux"]):
            assert low <= mean <= high
    shown = generator["studies_reference"].linux(path.stem)
    assert f"Linux {data['kernel']}" in shown
    assert len(shown.splitlines()) >= len(declared) + 2
    page = (DOCS / "reference" / "studies" / f"{path.stem}.md").read_text(encoding="utf-8")
    assert f"{{{{ study-linux: {path.stem} }}}}" in page


def test_the_counts_of_the_page_are_those_of_the_data(generator: Generator) -> None:
    page = generator["five_reports"]
    found = page.reports()
    assert [r.study.name for r in found] == [s.name for s in LISTED]
    counts: Counter[str] = Counter()
    for study in LISTED:
        data = json.loads((DATA / f"{study.name}.json").read_text(encoding="utf-8"))
        own = Counter(c["verdict"] for c in data["claims"])
        counts += own
        row = next(line for line in page.counted(found).splitlines() if f"/{study.name}.md)" in line)
        numbers = [int(x) for x in row.strip("| ").split(" | ")[1:]]
        used = [v for v in page.VERDICTS if any(r.counts[v] for r in found)]
        assert numbers == [sum(own.values()), *(own[v] for v in used)]
        words = page.picture(found).split(f"{next(r for r in found if r.study is study).name}: ")[1]
        assert words.startswith(", ".join(f"{own[v]} {v}" for v in page.VERDICTS if own[v]))
    tested = sum(counts.values()) - counts["not testable"]
    assert f"{counts['agrees']} of {tested} statements" in page.answer(found)
    assert f"{counts['differs']} differ, {counts['depends']} depend" in page.answer(found)
    assert f"make {sum(counts.values())} statements" in page.answer(found)
    assert set(counts) <= set(page.VERDICTS) == set(generator["verdict_grid"].SIGNS)
    lines = page.listed(found).splitlines()
    assert sum(line.startswith("    | ") for line in lines) == sum(counts.values()) + len(found)


def test_an_answer_is_shown_only_with_the_verdicts_that_it_belongs_to(generator: Generator) -> None:
    page = generator["five_reports"]
    report = page.reports()[0]
    (lesson, *_) = declared(report.study)
    claim, verdict = next(iter(lesson.verdicts.items()))
    other = Verdict.DIFFERS if verdict is Verdict.AGREES else Verdict.AGREES
    assert lesson.answer in page._lesson(report, lesson)
    contrary = lesson.model_copy(update={"verdicts": {claim: other}})
    text = page._lesson(report, contrary)
    assert lesson.answer not in text
    assert f"{verdict.value}.**" in text
    assert f"**{verdict.value}** |" in text


def test_a_lesson_shows_all_values_of_a_claim_without_quotation_marks(generator: Generator) -> None:
    video = next(s for s in LISTED if s.name == "video-real-traffic")
    text = generator["five_reports"]._words(video, video.claim("values-load-wifi"))
    assert text == "Vegas 124 sec, Veno 109 sec (Wi-Fi, video load time). Its values: Veno 109 s; Vegas 124 s."


def test_every_lesson_has_its_answer(generator: Generator) -> None:
    # Stored verdicts that change take an answer from the page: then the lesson is to be revised.
    page = generator["five_reports"]
    text = page.lessons(page.reports())
    for study in LISTED:
        for lesson in declared(study):
            assert f"### {lesson.question}\n\n**{lesson.answer}.**" in text


def test_data_of_other_claims_are_refused(generator: Generator, tmp_path: Path) -> None:
    for path in DATA.glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    path = tmp_path / f"{LISTED[0].name}.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    gone = data["claims"].pop(0)["id"]
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(DumbbellError, match=f"{gone}.*verdicts.py"):
        generator["five_reports"].reports(tmp_path)


def test_the_picture_is_the_same_each_time_and_has_a_sign_for_each_verdict(generator: Generator) -> None:
    grid = generator["verdict_grid"]
    counts = {"A": {"agrees": 3, "differs": 1}, "B": {"not testable": 26}}
    assert grid.draw(counts, "Dumbbell", "png") == grid.draw(counts, "Dumbbell", "png")
    svg = grid.draw(counts, "Dumbbell", "svg").decode()
    # 30 squares and one for each of the three verdicts in the legend.
    assert svg.count("stroke: #767676") == 33
    signs = [sign for _, _, sign in grid.SIGNS.values()]
    assert len(set(signs)) == len(signs)
