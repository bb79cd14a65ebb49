"""The page "What the five reports got right": counts, lessons and lists, all from stored verdicts.

``docs/data/studies/NAME.json`` holds the verdicts of a whole run (`validation/reports/verdicts.py` writes them),
``paper.toml`` of the study the report's words, ``lessons.toml`` the lessons, which the page of the study begins with
too. The answer of a lesson belongs to certain verdicts, and appears only where the data have them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from dumbbell.exceptions import DumbbellError
from dumbbell.report.finding import Verdict
from dumbbell.studies import Study, studies
from dumbbell.studies.declared import Covers, Near
from dumbbell.studies.lessons import Declared, declared
from dumbbell.studies.listing import places
from dumbbell.studies.paper import Claim
from dumbbell.studies.rules import repetitions_text
from md import cell, escaped, table

DOCS = Path(__file__).resolve().parents[1]
DATA = DOCS / "data" / "studies"
VERDICTS = {
    "agrees": "shown to hold",
    "depends": "shown to hold for some of the settings that it covers, and shown not to hold for others",
    "differs": "shown not to hold",
    "undecided at this budget": "neither, with the repetitions that the budget allows",
    "the model can't show it": "the rule doesn't hold, on a path that can't show it",
    "not measured": "the runs don't have the quantity",
    "not testable": "no run here can decide it: a recommendation, an outlook, a lab's task, a quotation from another "
    "work, or a statement on a graph, a service or a number that the report doesn't describe",
}
"""In the order of the page."""
UNMODELED = "the model can't show it"
RENEW = "validation/reports/verdicts.py --write-docs"
SHOWN = 3
"""Measured numbers of a claim that a lesson's table has; the study's page has all."""


@dataclass(frozen=True)
class Report:
    """A report: its study, and the stored verdicts."""

    study: Study
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """The heading of the study's page, such as "The ns-2 report"."""
        first = (DOCS / "reference" / "studies" / f"{self.study.name}.md").read_text(encoding="utf-8").splitlines()[0]
        return first.removeprefix("# ")

    @property
    def link(self) -> str:
        """The name, linked to the study's page."""
        return f"[{self.name}](../reference/studies/{self.study.name}.md)"

    @property
    def counts(self) -> Counter[str]:
        """The number of claims by verdict."""
        return Counter(claim["verdict"] for claim in self.data["claims"])

    def verdict(self, claim: str) -> dict[str, Any]:
        """Look up the stored verdict of a claim."""
        return next(c for c in self.data["claims"] if c["id"] == claim)


def reports(folder: Path = DATA) -> list[Report]:
    """Return the reports whose sentences are listed, with their stored verdicts."""
    found = []
    for study in studies().values():
        if study.paper.listed:
            path = folder / f"{study.name}.json"
            found.append(Report(study, json.loads(path.read_text(encoding="utf-8"))))
            stored, claims = [c["id"] for c in found[-1].data["claims"]], [c.id for c in study.paper.claims]
            if stored != claims:
                other = ", ".join(sorted(set(stored) ^ set(claims))) or "the order"
                raise DumbbellError(f"{path}: not of these claims ({other}): renew it with {RENEW}")
    return found


def total(found: Sequence[Report]) -> Counter[str]:
    """Return the number of claims by verdict, of all reports."""
    return sum((report.counts for report in found), Counter())


def answer(found: Sequence[Report]) -> str:
    """Return the page's first sentences."""
    counts = total(found)
    tested = counts.total() - counts["not testable"]
    contrary = max(found, key=lambda r: r.counts["differs"] / _tested(r))
    best = max(found, key=lambda r: r.counts["agrees"] / _tested(r))
    return (
        f"**{counts['agrees']} of {tested} statements that a run can test agree with the measurements; "
        f"{counts['differs']} differ, {counts['depends']} depend on a setting, "
        f"{counts['undecided at this budget']} are undecided, and {counts[UNMODELED]} can't be shown by the model.** "
        f"The five reports make {counts.total()} statements on their results; {counts['not testable']} "
        "can't be tested. "
        f"The largest part agrees in {best.link} ({best.counts['agrees']} of {_tested(best)}), and the largest part "
        f"differs in {contrary.link} ({contrary.counts['differs']} of {_tested(contrary)})."
    )


def _tested(report: Report) -> int:
    return report.counts.total() - report.counts["not testable"]


def counted(found: Sequence[Report]) -> str:
    """Return the counts by report and verdict."""
    counts = total(found)
    used = [v for v in VERDICTS if counts[v]]
    rows = [[r.link, r.counts.total(), *(r.counts[v] for v in used)] for r in found]
    rows.append(["**all**", f"**{counts.total()}**", *(f"**{counts[v]}**" for v in used)])
    meaning = "\n".join(f"- *{v}*: {VERDICTS[v]}" for v in used)
    return f"{table(['report', 'statements', *used], rows)}\n\n{meaning}"


def lessons(found: Sequence[Report]) -> str:
    """Return the lessons, each with the claims that it rests on."""
    return "\n\n".join(_lesson(report, lesson) for report in found for lesson in declared(report.study))


def _lesson(report: Report, lesson: Declared) -> str:
    stored = {claim: report.verdict(claim) for claim in lesson.verdicts}
    texts = {claim: report.study.claim(claim).text for claim in stored}
    told = lesson.of_runs({claim: Verdict(each["verdict"]) for claim, each in stored.items()}, texts)
    rows = [
        [f"{report.link}: {_words(report.study, report.study.claim(claim))}", _measured(each), f"**{each['verdict']}**"]
        for claim, each in stored.items()
    ]
    parts = [f"### {told.question}", f"**{told.sentence}**", table(["the report", "here", "verdict"], rows), told.text]
    return "\n\n".join(part for part in parts if part)


def _words(study: Study, claim: Claim) -> str:
    place = next(iter((*claim.words, *claim.values)))
    said = f"“{escaped(claim.words[place])}”" if claim.words else escaped(claim.values[place])
    value = ""
    if isinstance(claim.rule, Near | Covers):
        words = import_module(f"dumbbell.studies.{study.folder.name}.quantities").WORDS
        unit = words.unit(claim.rule.metric)
        after = f" {unit}" if unit else ""
        if isinstance(claim.rule, Near) and claim.rule.numbers:
            listed = "; ".join(f"{words.value(v)} {x:g}{after}" for v, x in claim.rule.numbers.items())
            value = f" Its values: {listed}."
        else:
            value = f" Its value: {claim.rule.value:g}{after}."
    return f"{said} ({escaped(place)}).{value}"


def _measured(stored: dict[str, Any]) -> str:
    if stored["verdict"] == "depends":
        return escaped(stored["why"])
    numbers = stored.get("measured", [])
    more = f"; and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return escaped("; ".join(numbers[:SHOWN]) + more)


def listed(found: Sequence[Report]) -> str:
    """Return every claim of every report with its verdict, folded."""
    parts = []
    for report in found:
        rows = []
        for stored in report.data["claims"]:
            claim = report.study.claim(stored["id"])
            needs = f" (needs {repetitions_text(stored['needs'])} repetitions)" if stored.get("needs") else ""
            reason = stored["why"] if stored["verdict"] == "not testable" else ""
            rows.append(
                [
                    escaped(places(claim)),
                    escaped(claim.text),
                    f"{stored['verdict']}{needs}",
                    _by_seed(stored),
                    escaped("; ".join(stored.get("at", [])) or "none"),
                    str(claim.version) if claim.rule is not None else "",
                    escaped(reason),
                ]
            )
        body = table(
            ["place", "statement", "verdict", "by seed", "open settings", "rule version", "reason, if not testable"],
            rows,
        )
        title = f"{report.name}: {report.counts.total()} statements"
        parts.append(f'??? note "{title}"\n\n' + "\n".join(f"    {line}" for line in body.splitlines()))
    return "\n\n".join(parts)


def _by_seed(stored: dict[str, Any]) -> str:
    """Return in how many of the seeds a claim has its verdict, or its verdicts by seed."""
    counts = stored.get("by_seed", {})
    seeds = sum(counts.values())
    if stored["verdict"] in counts and len(counts) == 1:
        return f"{seeds} of {seeds}"
    return escaped(", ".join(f"{verdict} {n}" for verdict, n in counts.items()))


def stability(found: Sequence[Report]) -> str:
    """Return how many verdicts five seeds have in common, and whether another seed reverses one."""
    claims = [(r, c) for r in found for c in r.data["claims"] if c.get("by_seed")]
    alike = sum(len(c["by_seed"]) == 1 for _, c in claims)
    seeds = max((sum(c["by_seed"].values()) for _, c in claims), default=0)
    others = {r.study.name: r.data["other_seed"] for r in found}
    if seeds == 1 or None in others.values():
        return (
            f"The stored verdicts are those of {seeds} of the five seeds: whether another seed has them isn't stated."
        )
    same, reversed_ = 0, []
    for report, stored in claims:
        other = others[report.study.name]["verdicts"][stored["id"]]
        same += {other} == set(stored["by_seed"])
        if {other, stored["verdict"]} == {"agrees", "differs"}:
            reversed_.append(stored["id"])
    number = " and ".join(sorted({str(o["seed"]) for o in others.values()}))
    return (
        f"{seeds} seeds have the same verdict on {alike} of {len(claims)} claims with a rule of their own "
        f"({100 * alike / len(claims):.0f} %); the other {len(claims) - alike} are undecided. Another seed, {number}, "
        f"has the verdict of all on {same} of them, and reverses {len(reversed_) or 'none'}."
    )


def source(found: Sequence[Report]) -> str:
    """Return the versions, back ends and dates of the runs in a few words."""
    parts = (sorted({str(report.data[key]) for report in found}) for key in ("version", "backend", "date"))
    version, backend, date = (" and ".join(part) for part in parts)
    return f"Dumbbell {version} ({backend}), whole runs of {date}"


def measured(found: Sequence[Report]) -> str:
    """Return how the verdicts were measured."""
    rows = []
    for report in found:
        data, paper = report.data, report.study.paper
        repetitions = sorted(set(data["repetitions"].values()))
        span = f"{repetitions[0]} to {repetitions[-1]}" if len(repetitions) > 1 else f"{repetitions[0]}"
        source = f"{', '.join(paper.authors)}: {paper.title}"
        rows.append(
            [report.link, escaped(source), f"{data['runs']:,}", span, data["backend"], data["version"], data["date"]]
        )
    return table(["study", "report", "runs", "repetitions", "back end", "version", "date"], rows)


def picture(found: Sequence[Report]) -> str:
    """Return the grid of verdicts as an image, with its content in words."""
    words = "; ".join(
        f"{cell(r.name)}: " + ", ".join(f"{r.counts[v]} {v}" for v in VERDICTS if r.counts[v]) for r in found
    )
    return f"![Verdicts by report. {words}](img/five-reports.png)\n\n[The picture as SVG](img/five-reports.svg)"
