"""The lists of the five reports: every sentence has one rule or reason, and every rule has its quantity."""

from __future__ import annotations

from importlib import import_module

import pytest
from pydantic import ValidationError

from dumbbell.studies import Study, studies, study
from dumbbell.studies.declared import All
from dumbbell.studies.definition import Claim
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
        for place, quote in claim.words.items():
            assert place
            assert 0 < len(quote) <= 200, f"{claim.id}: a quotation is short"
    assert paper.setup
    assert {c.id for c in paper.judged} == {c.id for c in paper.claims if c.rule is not None}


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
        Claim(id="x", text="y", untestable="no data", revised="from 5 to 1 %")
