"""The glossary has every term that the project uses, each with a meaning and a source."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
TERMS = """
    cwnd, ssthresh, rwnd, mss, srtt, rttvar, min_rtt, rto, inflight, snd_una, snd_nxt, rcv_nxt, dupacks, recover,
    pipe, delivered, app_limited, pacing_rate, bdp, sojourn, backlog, goodput, throughput, w_max, k, alpha, beta,
    base_rtt, delayed ACK, head-of-line blocking, fast retransmit, fast recovery, loss recovery, SACK, D-SACK, RACK,
    TLP, PRR, F-RTO, ECN, CE, AQM, qdisc, virtual time, seed, repetition, sweep, cell, Jain's index, harm
"""


def rows() -> list[list[str]]:
    """Return the cells of each row of the glossary's tables."""
    lines = (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()
    found = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("| ")]
    return [row for row in found if row[0] != "term"]


def test_every_term_is_explained() -> None:
    explained = {row[0].strip("`") for row in rows()}
    assert {term.strip() for term in " ".join(TERMS.split()).split(",")} - explained == set()


def test_each_term_has_one_line_with_a_source() -> None:
    names = [row[0] for row in rows()]
    assert len(names) == len(set(names))
    for row in rows():
        term, meaning, source = row
        assert meaning.endswith(".") and len(meaning) > 15, term
        assert re.search(r"RFC \d+|Linux|Dumbbell|\]\(|\d{4}$", source), term


def test_names_of_linux_are_files_and_functions() -> None:
    named = [row[2] for row in rows() if re.search(r"Linux \w+\\?_?\w*\.[ch]", row[2])]
    assert len(named) >= 8
    assert all(re.search(r"Linux [\w\\/]+\.[ch]( [\w\\]+)?", source) for source in named)


def test_pages_link_to_the_glossary() -> None:
    linking = [page for page in DOCS.rglob("*.md") if "glossary.md" in page.read_text(encoding="utf-8")]
    assert len(linking) >= 5
