"""The lists of the five reports: every sentence has one rule or reason, and every rule has its quantity."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from pydantic import ValidationError

from dumbbell.studies import Study, studies, study
from dumbbell.studies.declared import All
from dumbbell.studies.listing import in_report, places
from dumbbell.studies.paper import Claim, Revision, Statement
from dumbbell.studies.rule_words import Words, rule_text

REPORTS = ("bufferbloat", "geni-fairness", "netem-iperf", "ns2-cbr", "video-real-traffic")
LISTED = [found for found in studies().values() if found.paper.listed]


def words_of(study: Study) -> Words:
    words: Words = import_module(f"dumbbell.studies.{study.folder.name}.quantities").WORDS
    return words


def test_all_five_reports_are_listed() -> None:
    assert sorted(found.name for found in LISTED) == sorted(REPORTS)


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_every_sentence_has_one_rule_or_reason(found: Study) -> None:
    paper = found.paper
    for claim in paper.claims:
        assert (claim.rule is None) == bool(claim.untestable), claim.id
        for place, quote in (*claim.words.items(), *claim.values.items()):
            assert place
            assert 0 < len(quote) <= 200, f"{claim.id}: a quotation is short"
    assert paper.setup
    assert {c.id for c in paper.judged} == {c.id for c in paper.claims if c.rule is not None}


LISTED_NUMBERS = re.compile(r"[a-z]\W{0,3}\d[^,;]*[,;]\s*[A-Za-z]+\W{1,3}\d|\d; ?\d")
"""Names with a number each, or numbers with a semicolon: the form of a table or a list, not of a sentence."""


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_only_sentences_are_in_quotation_marks(found: Study) -> None:
    parts: list[Claim | Statement] = [*found.paper.setup, *found.paper.claims]
    for part in parts:
        for place, quote in part.words.items():
            assert not LISTED_NUMBERS.search(quote), f"{part.id}: numbers of a table or a list belong to `values`"
            assert not place.endswith(("from the table", "from the list")), part.id
            assert quote == " ".join(quote.split()), f"{part.id}: white space is folded"


def test_values_have_no_quotation_marks() -> None:
    claim = Claim(id="x", text="y", words={"Results": "a word"}, values={"Table 1": "CUBIC 41"}, untestable="no data")
    assert (places(claim), in_report(claim)) == ("Results; Table 1", "“a word”; CUBIC 41")


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_every_rule_has_its_quantity_and_its_sentence(found: Study) -> None:
    words = words_of(found)
    for claim in found.paper.judged:
        assert claim.rule is not None
        if not isinstance(claim.rule, All):
            assert claim.rule.metric in words.metrics, claim.id
        text = rule_text(claim.rule, words)
        assert text.endswith("."), claim.id
        assert "{" not in text, claim.id


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_every_picture_of_the_list_is_named_once(found: Study) -> None:
    ids = [exhibit.id for exhibit in found.paper.exhibits]
    assert len(set(ids)) == len(ids)
    for exhibit in found.paper.exhibits:
        assert bool(exhibit.here) != bool(exhibit.reason), exhibit.id


@pytest.mark.parametrize("found", LISTED, ids=lambda s: s.name)
def test_a_listed_report_states_when_its_rules_were_written(found: Study) -> None:
    assert found.paper.rules_written
    assert found.paper.disclosed == [found.paper.rules_written, *found.paper.revised]


def test_a_threshold_that_changed_after_numbers_were_seen_is_disclosed() -> None:
    revised = study("ns2-cbr").claim("exp2-like-fairer").revised
    assert "0.05" in revised
    assert "0.0325" in revised


def test_only_a_rule_can_be_revised() -> None:
    with pytest.raises(ValidationError, match="no rule"):
        Claim(id="x", text="y", untestable="no data", revisions=[Revision(before="5 %", why="", known=True)])
