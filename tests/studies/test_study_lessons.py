"""Lessons, the first part of a study's page: they follow from the verdicts of the runs beside them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html import unescape

import pytest

from browser import probe
from dumbbell.report.content import Lesson
from dumbbell.report.finding import Finding, Measured, Verdict
from dumbbell.report.html_page import page
from dumbbell.report.markdown import markdown
from dumbbell.studies import Done, Study, studies, study
from dumbbell.studies.ending import MOST, ending
from dumbbell.studies.lessons import declared, lessons, tally
from dumbbell.studies.listing import sure
from dumbbell.studies.paper import Claim
from dumbbell.studies.report import of_study
from dumbbell.studies.shared import claims_text, counted
from required import require_packages

require_packages("matplotlib", "jinja2")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
LISTED = [each for each in studies().values() if each.paper.listed]
AGREES, DIFFERS, DEPENDS, NOT_SHOWN = Verdict.AGREES, Verdict.DIFFERS, Verdict.DEPENDS, Verdict.NOT_SHOWN


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_every_report_has_lessons_that_rest_on_its_claims(found: Study) -> None:
    given = declared(found)
    assert given
    assert len({lesson.figure for lesson in given}) == len(given)
    judged = {c.id for c in found.paper.judged}
    for lesson in given:
        assert set(lesson.verdicts) <= judged, lesson.question
        assert lesson.question.endswith("?")
        assert not lesson.answer.endswith(".")


def test_a_lesson_follows_from_the_verdicts_of_the_runs() -> None:
    (lesson, *_) = declared(study("geni-fairness"))
    (two,) = [
        x for x in declared(study("geni-fairness")) if len(x.verdicts) == 2 and DEPENDS not in x.verdicts.values()
    ]
    first, second = two.verdicts
    texts = {first: "One fills the link.", second: "Two yields"}

    def told(a: Verdict, b: Verdict) -> Lesson:
        return two.of_runs({first: a, second: b}, texts)

    assert told(AGREES, AGREES).sentence == f"{two.answer}."
    assert told(AGREES, AGREES).text
    assert told(AGREES, NOT_SHOWN).sentence == "These runs don't decide it: 1 agrees, 1 not shown."
    assert told(DIFFERS, NOT_SHOWN).sentence == "In these runs “One fills the link” differs."
    assert told(DIFFERS, DEPENDS).sentence == "In these runs “One fills the link” differs; “Two yields” depends."
    for a in Verdict:
        for b in Verdict:
            if (a, b) != (AGREES, AGREES):
                assert two.answer not in told(a, b).sentence
                assert not told(a, b).text
    # A claim that was expected to depend, and agrees in these runs, is no less contrary to the answer.
    (claim,) = lesson.verdicts
    assert lesson.of_runs({claim: AGREES}, {claim: "Alike."}).sentence == "In these runs “Alike” agrees."


def test_a_lesson_has_its_figure_only_if_the_runs_have_it() -> None:
    found = study("netem-iperf")
    verdicts = dict.fromkeys((c.id for c in found.paper.judged), NOT_SHOWN)
    first, second = lessons(found, verdicts, ["linux", "extra1-long"])
    assert (first.figure, second.figure) == ("", "extra1-long")


@pytest.mark.parametrize("found", [s for s in studies().values() if not declared(s)], ids=lambda s: s.name)
def test_a_study_without_lessons_begins_with_its_purpose(found: Study) -> None:
    (lesson,) = lessons(found, {}, ["first", "second"])
    assert " ".join(found.what.split()).startswith(lesson.sentence)
    assert lesson.sentence.endswith(".")
    assert lesson.figure == "first"


@pytest.mark.parametrize("found", studies().values(), ids=lambda s: s.name)
def test_the_number_of_claims_is_one_number(found: Study) -> None:
    paper = found.paper
    of = [Finding(c.id, AGREES, "", (), "") for c in paper.judged]
    untestable = len(paper.claims) - len(of)
    text = claims_text(paper)
    assert text.startswith(f"{len(paper.claims)} claims: ")
    assert text.endswith(f": {len(of)} judged, {untestable} not testable" if untestable else ": all judged")
    if of:
        assert counted(paper, of) == f"{text}. {len(of)} agree with the measurements."


def test_list_has_the_numbers_of_the_pages(cli: Cli) -> None:
    listed = json.loads(cli("study", "list", "--json").stdout)
    for each in listed:
        paper = study(each["name"]).paper
        assert (each["claims"], each["judged"]) == (len(paper.claims), len(paper.judged))
    shown = cli("study", "show", "ns2-cbr").stdout
    assert f"({claims_text(study('ns2-cbr').paper)})" in shown


def test_a_verdict_states_how_sure_it_is() -> None:
    plain = Claim(id="c", text="x")

    def of(verdict: Verdict, *n: int, needs: int | None = None) -> Finding:
        return Finding("c", verdict, "", [Measured("a", "1", n=x) for x in n], "", needs=needs)

    assert sure(plain, of(AGREES, 10), quick=False) == "at 95 %, 10 repetitions"
    assert sure(plain, of(DEPENDS, 5, 10), quick=True) == "at 99.9 %, 5 to 10 repetitions"
    assert sure(plain, of(NOT_SHOWN, 10, needs=12), quick=False) == "10 repetitions, needs about 12"
    assert sure(plain, of(AGREES), quick=False) == ""
    rule = {"kind": "covers", "metric": "m", "value": 1.0}
    covers = Claim(id="c", text="x", rule=rule)
    assert sure(covers, of(AGREES, 40), quick=False) == "within the range of 40 single runs"


@pytest.fixture(scope="module")
def netem(done: Callable[[str], Done]) -> Done:
    return done("netem-iperf")


def test_a_page_begins_with_lessons_then_verdicts_by_strength(netem: Done) -> None:
    text = netem.report.read_text(encoding="utf-8")
    markup = unescape(re.sub(r"<(script|style|svg)\b.*?</\1>", "", text, flags=re.DOTALL))
    places = [markup.index(f'id="{part}"') for part in ("lessons", "summary", "claims", "figures", "tables")]
    assert places == sorted(places)
    first = markup[places[0] : places[1]]
    for lesson in lessons(netem.study, {f.claim: f.verdict for f in netem.analysis.findings}, _names(netem)):
        assert lesson.question in first
        assert lesson.sentence in first
        assert f'<figure id="{lesson.figure}"' in first
    groups = re.findall(r'<h3 id="verdict-([a-z-]+)">', markup)
    assert groups == [
        v.value.replace(" ", "-") for v in Verdict if v in {f.verdict for f in netem.analysis.findings}
    ] + ["not-testable"]
    for claim in netem.study.paper.claims:
        assert markup.count(f'<tr id="{claim.id}">') == 1
    open_ = re.sub(r"<details>.*?</details>", "", markup[places[2] : places[3]], flags=re.DOTALL)
    assert "Rule." not in open_
    assert not re.search(r"\[[-+\d]", open_)  # no interval


def test_an_answer_leaves_a_page_whose_verdicts_are_others(netem: Done) -> None:
    lesson = declared(netem.study)[0]

    def shown(verdicts: dict[str, Verdict]) -> str:
        findings = [replace(f, verdict=verdicts.get(f.claim, f.verdict)) for f in netem.analysis.findings]
        changed = replace(netem, analysis=replace(netem.analysis, findings=findings))
        return page(of_study(changed), netem.drawn)

    assert lesson.answer in unescape(shown(lesson.verdicts))
    claim = next(iter(lesson.verdicts))
    text = unescape(shown({**lesson.verdicts, claim: DIFFERS}))
    assert lesson.answer not in text
    assert f"In these runs “{netem.study.claim(claim).text.rstrip('.')}” differs." in text


def test_a_study_ends_with_ten_lines(netem: Done) -> None:
    lines = ending(netem)
    assert len(lines) <= MOST
    assert lines[-1] == ("report", str(netem.report))
    assert ("verdicts", counted(netem.study.paper, netem.analysis.findings)) in lines
    given = [text for head, text in lines if head == "lesson"]
    assert [text.split("?")[0] + "?" for text in given] == [x.question for x in declared(netem.study)]
    # However much there is to state, the page stays the last line.
    none = replace(netem, analysis=replace(netem.analysis, findings=[], summary=[f"§{k}." for k in range(30)]))
    assert len(ending(none)) == MOST
    assert ending(none)[-1] == lines[-1]
    assert ending(none)[1] == ("result", "§0.")


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_all_lessons_of_a_report_are_among_the_ten_lines(found: Study) -> None:
    assert len(declared(found)) <= MOST - len(("study", "verdicts", "kernel", "more", "numbers", "report"))


def test_tally_names_decided_verdicts_first() -> None:
    assert tally([NOT_SHOWN, AGREES, NOT_SHOWN, DIFFERS]) == "1 agrees, 1 differs, 2 not shown"


def _names(done: Done) -> list[str]:
    return [d.picture.name for d in done.drawn]


def test_markdown_begins_with_the_lessons_too(netem: Done) -> None:
    text = markdown(of_study(netem), netem.drawn, netem.out)
    places = [text.index(f"\n## {part}\n") for part in ("Lessons", "Summary", "Claims", "Figures")]
    assert places == sorted(places)
    for lesson in declared(netem.study):
        assert f"### {lesson.question}" in text
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert sorted(links) == sorted(str(d.png.relative_to(netem.out)) for d in netem.drawn)
    assert text.count("| not testable |") == len(netem.study.paper.claims) - len(netem.study.paper.judged)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_first_screen_fits_its_window(netem: Done, width: int, dark: bool) -> None:
    steps = """{
        const part = (name) => document.querySelector(name).getBoundingClientRect();
        return { lesson: part("#lessons .lesson").bottom, figure: part("#lessons figure").top,
                 drawn: document.querySelectorAll("#lessons figure.drawn").length };
    }"""
    found = probe(netem.report, width=width, dark=dark, script=steps)
    assert found["page"] == width
    assert found["wide"] == []
    assert found["drawn"] >= found["figures"] == len(netem.drawn)
    assert found["result"]["drawn"] == len(declared(netem.study))
    # The frame has 1000 pixels: the first sentence, and at least the beginning of its figure.
    assert 0 < found["result"]["lesson"] < found["result"]["figure"] < 1000


def test_print_has_what_the_screen_folds(netem: Done) -> None:
    steps = """{
        const parts = [...document.querySelectorAll("#claims details")];
        const opened = () => parts.filter((p) => p.open).length;
        parts[3].open = true;
        const screen = opened();
        dispatchEvent(new Event("beforeprint"));
        const paper = opened(), scenarios = document.querySelectorAll("#run details[open]").length;
        dispatchEvent(new Event("afterprint"));
        return { screen, paper, all: parts.length, scenarios, after: opened(), kept: parts[3].open };
    }"""
    found = probe(netem.report, script=steps)["result"]
    assert found["paper"] == found["all"] > len(netem.study.paper.claims)
    assert (found["screen"], found["after"], found["kept"], found["scenarios"]) == (1, 1, True, 0)
