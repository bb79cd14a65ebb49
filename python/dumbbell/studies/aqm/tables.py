"""Results by section number."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from dumbbell.metrics import summarize
from dumbbell.report.finding import Table
from dumbbell.studies.aqm.data import LABELS, RTTS, Section
from dumbbell.studies.aqm.figures_other import CASES, ratio
from dumbbell.studies.aqm.phases import Phases

__all__ = ["tables"]

WORDS = "median [95 % interval]"


def _queue(section: Section, name: str, other: str | None = None) -> dict[str, str]:
    return {
        "goodput, Mbit/s": summarize(section.goodput(name, other)).text(),
        "mean delay, ms": summarize(section.delay(name, other)).text(),
        "p95 delay, ms": summarize(section.queue("p95_sojourn_ms", name, other)).text(),
        "utilization": summarize(section.queue("utilization", name, other)).text(),
        "dropped, %": summarize(section.drop_rate(name, other)).text(),
    }


def _flows(section: Section, name: str, flows: Mapping[str, str], other: str | None = None) -> dict[str, str]:
    return {f"{words}, Mbit/s": summarize(section.goodput(name, other, flow)).text() for flow, words in flows.items()}


def _one(sections: Mapping[str, Section], number: str, title: str, flows: Mapping[str, str] | None = None) -> Table:
    section = sections[number]
    rows = [
        {"discipline": LABELS[n], **(_flows(section, n, flows) if flows else {}), **_queue(section, n)}
        for n in section.names
    ]
    return Table(f"s{number.replace('.', '-')}", f"§{title}: {WORDS} of {section.n}", pl.DataFrame(rows))


def _windows(section: Section) -> Table:
    rows = [
        {
            "discipline": LABELS[n],
            "initial window": other,
            "short flow, s": summarize(section.transfer_times("short", n, other)).text(),
            "dropped of it, %": summarize(100 * section.flow("drop_rate", "short", n, other)).text(),
            **_flows(section, n, {"long": "long flow"}, other),
            "mean delay, ms": summarize(section.delay(n, other)).text(),
        }
        for n in section.names
        for other in section.others
    ]
    return Table("s5-1-2", f"§5.1.2, short flows of 50 packets: {WORDS} of {section.n}", pl.DataFrame(rows))


def _fairness(section: Section) -> Table:
    rows = [
        {
            "discipline": LABELS[n],
            "round trip of II, ms": str(RTTS[other]),
            "II / I": summarize(ratio(section, n, other)).text(),
            **_flows(section, n, {"category-1": "I", "category-2": "II"}, other),
            "dropped of I, %": summarize(100 * section.flow("drop_rate", "category-1", n, other)).text(),
            "dropped of II, %": summarize(100 * section.flow("drop_rate", "category-2", n, other)).text(),
        }
        for n in section.names
        for other in section.others
    ]
    title = f"§6.2, two flows, I with 100 ms: goodput, its ratio, drop rates; {WORDS} of {section.n}"
    return Table("s6-2", title, pl.DataFrame(rows))


def _bursts(sections: Mapping[str, Section]) -> Table:
    rows = []
    for case, words in CASES.items():
        section = sections[case]
        for n in section.names:
            row = {"case": words, "discipline": LABELS[n], "page, s": summarize(section.page_times(n)).text()}
            for flow in ("cbr", "video"):
                there = section.has(flow)
                delay = section.flow("owd_p99_ms", flow, n) if there else None
                row[f"{flow}: p99 one-way, ms"] = summarize(delay).text() if delay is not None else ""
                lost = 100 * section.flow("drop_rate", flow, n) if there else None
                row[f"{flow}: lost, %"] = summarize(lost).text() if lost is not None else ""
            row["bulk, Mbit/s"] = summarize(section.goodput(n, flow="bulk")).text() if section.has("bulk") else ""
            rows.append(row)
    return Table("s7-2", f"§7.2, bursts: {WORDS} of {sections['7.2-I'].n}", pl.DataFrame(rows))


def _phases(data: Phases, number: str, title: str, *, together: bool = False) -> Table:
    heading = "goodput of both, Mbit/s" if together else "goodput, Mbit/s"
    rows = [
        {
            "discipline": LABELS[n],
            "phase": phase.name,
            heading: summarize(data.total(n) if together else data.goodput(n, phase)).text(),
            "mean delay, ms": summarize(data.delay(n, phase)).text(),
        }
        for n in data.names
        for phase in data.phases
    ]
    return Table(f"s{number.replace('.', '-')}", f"§{title}, by phase: {WORDS} of {data.n}", pl.DataFrame(rows))


def tables(sections: Mapping[str, Section], congestion: Phases, slow: Phases, fast: Phases) -> list[Table]:
    """Make a table for each section."""
    return [
        _one(sections, "5.1.1", "5.1.1, one NewReno flow with SACK"),
        _windows(sections["5.1.2"]),
        _one(sections, "5.2", "5.2, one CUBIC flow"),
        _one(sections, "5.3.1", "5.3, UDP at 12 Mbit/s"),
        _one(sections, "5.3.2", "5.3, UDP at 7.5 Mbit/s and NewReno with SACK", {"tcp": "TCP", "udp": "UDP"}),
        _one(sections, "5.4", "5.4, LEDBAT and NewReno with SACK", {"tcp": "NewReno", "ledbat": "LEDBAT"}),
        _fairness(sections["6.2"]),
        _bursts(sections),
        _phases(congestion, "8.2.5", "8.2.5, varying congestion level"),
        _phases(slow, "8.2.6-1", "8.2.6, capacity changing each 20 s"),
        _phases(fast, "8.2.6-2", "8.2.6, capacity changing each 100 ms", together=True),
    ]
