"""Lessons, the first part of a study's page: they follow from the verdicts of the runs beside them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from dumbbell.report.content import Lesson
from dumbbell.report.finding import Finding, Measured, Verdict
from dumbbell.studies import Study, studies, study
from dumbbell.studies.ending import MOST
from dumbbell.studies.lessons import declared, lessons, tally
from dumbbell.studies.listing import sure
from dumbbell.studies.paper import Claim
from dumbbell.studies.shared import claims_text, counted
from required import require_packages

require_packages("matplotlib", "jinja2")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
LISTED = [each for each in studies().values() if each.paper.listed]
AGREES, DIFFERS, DEPENDS, UNDECIDED = Verdict.AGREES, Verdict.DIFFERS, Verdict.DEPENDS, Verdict.UNDECIDED


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
    two = lesson.model_copy(update={"verdicts": {"fills": AGREES, "yields": AGREES}})
    first, second = two.verdicts
    texts = {first: "One fills the link.", second: "Two yields"}

    def told(a: Verdict, b: Verdict) -> Lesson:
        return two.of_runs({first: a, second: b}, texts)

    assert told(AGREES, AGREES).sentence == f"{two.answer}."
    assert told(AGREES, AGREES).text
    assert told(AGREES, UNDECIDED).sentence == "These runs don't decide it: 1 agrees, 1 undecided at this budget."
    assert told(DIFFERS, UNDECIDED).sentence == "In these runs “One fills the link” differs."
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
    verdicts = dict.fromkeys((c.id for c in found.paper.judged), UNDECIDED)
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
    assert sure(plain, of(UNDECIDED, 10, needs=12), quick=False) == "10 repetitions, needs about 12"
    assert sure(plain, of(AGREES), quick=False) == ""
    rule = {"kind": "covers", "metric": "m", "value": 1.0}
    covers = Claim(id="c", text="x", rule=rule)
    assert sure(covers, of(AGREES, 40), quick=False) == "within the range of 40 single runs"


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_all_lessons_of_a_report_are_among_the_ten_lines(found: Study) -> None:
    assert len(declared(found)) <= MOST - len(("study", "verdicts", "kernel", "more", "numbers", "report"))


def test_tally_names_decided_verdicts_first() -> None:
    assert tally([UNDECIDED, AGREES, UNDECIDED, DIFFERS]) == "1 agrees, 1 differs, 2 undecided at this budget"
