"""The experiments and the claims of a study, from its folder."""

from __future__ import annotations

import json
from pathlib import Path

from dumbbell.exceptions import DumbbellError
from dumbbell.studies import Study, study
from dumbbell.studies.open_settings import OpenSetting
from dumbbell.studies.paper import Claim, Statement
from md import escaped, table

DATA = Path(__file__).resolve().parents[1] / "data" / "studies"


def experiments(name: str) -> str:
    """Return the experiments with their files and sizes."""
    found = study(name)
    rows = []
    for e in [*found.experiments, *found.real_programs]:
        scenario = found.scenario(e)
        size = f"{len(scenario.cells)} x {scenario.repetitions}"
        rows.append([f"`{e.file}`", escaped(e.what), size, e.figures or "none"])
    return table(["scenario", "experiment", "cells x repetitions", "figures of the report"], rows)


def claims(name: str) -> str:
    """Return the claims; of a report that is listed whole, every sentence with how it is judged."""
    found = study(name)
    paper = found.paper
    if not paper.listed:
        return table(["claim", "statement of the report"], [[f"`{c.id}`", escaped(c.text)] for c in paper.claims])
    rows = [[f"`{c.id}`", _reported(c), escaped(c.text), _rule(found, c)] for c in paper.claims]
    exhibits = [[e.id, escaped(e.title), escaped(", ".join(e.here) or e.reason)] for e in paper.exhibits]
    setup = [[_reported(s), escaped(s.here)] for s in paper.setup]
    return "\n\n".join(
        (
            table(
                ["claim", "the report's words or values", "judged statement", "rule, or the reason why there is none"],
                rows,
            ),
            "### When the rules were written",
            "\n".join(f"- {escaped(sentence)}" for sentence in [_versions(found), *paper.disclosed]),
            "### Settings that the report leaves open",
            table(["setting", "here", "also judged with, or why not"], [_open(o) for o in paper.open]),
            "### Figures and tables of the report",
            table(["report", "title", "counterpart in the study's page"], exhibits),
            "### Set-up of the report",
            table(["the report's words or values", "here"], setup),
        )
    )


def _versions(found: Study) -> str:
    """Count the rules by version, and the changes that were made with the numbers known."""
    rules = [c for c in found.paper.judged if c.rule is not None]
    revised = [c for c in rules if c.revisions]
    known = sum(r.known for c in revised for r in c.revisions)
    changes = sum(len(c.revisions) for c in revised)
    return (
        f"{len(rules)} rules, {len(rules) - len(revised)} of them as first written; {len(revised)} were revised, in "
        f"{changes} changes, {known} of these when the numbers were known."
    )


def _open(setting: OpenSetting) -> list[str]:
    values = "; ".join(value.name for value in setting.values)
    return [escaped(setting.setting), escaped(setting.used), escaped(values or f"not varied: {setting.reason}")]


def verdicts(name: str) -> str:
    """Return the stored verdicts of a whole run (`validation/reports/verdicts.py` writes them)."""
    found = study(name)
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    if [c["id"] for c in data["claims"]] != [c.id for c in found.paper.claims]:
        raise DumbbellError(f"{name}.json: not of these claims: renew it with validation/reports/verdicts.py")
    rows = [[escaped(found.claim(c["id"]).text), f"**{c['verdict']}**", escaped(c["why"])] for c in data["claims"]]
    repetitions = sorted(set(data["repetitions"].values()))
    span = " to ".join(str(n) for n in dict.fromkeys((repetitions[0], repetitions[-1])))
    source = (
        f"{data['runs']:,} runs, {span} of each cell ({data['backend']}, version {data['version']}, {data['date']})."
    )
    return f"{table(['statement', 'verdict', 'measured'], rows)}\n\n{source}"


def linux(name: str) -> str:
    """Return the stored decisive cells of both back ends (`validation/reports/verdicts.py` writes them)."""
    path = DATA / "linux" / f"{name}.json"
    if not path.exists():
        raise DumbbellError(f"{path}: missing: make it with validation/reports/verdicts.py --only-linux")
    data = json.loads(path.read_text(encoding="utf-8"))
    rows = [
        [
            escaped(row["what"]),
            escaped(f"{row['metric']}, {row['unit']}" if row["unit"] else row["metric"]),
            "-" if row["report"] is None else f"{row['report']:.4g}",
            _ends(row["simulator"]),
            _ends(row["linux"]),
        ]
        for row in data["numbers"]
    ]
    repetitions = " to ".join(str(n) for n in sorted({row["repetitions"] for row in data["numbers"]}))
    listed = table(["cell", "quantity", "report", "simulator", f"Linux {data['kernel']}"], rows)
    notes = "".join(f" {escaped(note)}." for note in data["notes"])
    source = f"Mean (smallest to largest) over {repetitions} repetitions of the same seeds, Linux in virtual time."
    return f"{listed}\n\n{source}{notes}"


def _ends(values: list[float]) -> str:
    mean, low, high = values
    return f"{mean:.4g}" if low == high else f"{mean:.4g} ({low:.4g} to {high:.4g})"


def notes(name: str) -> str:
    """Return the stored notes of a whole run: what the study computes from its own rows, beside the verdicts."""
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    if "notes" not in data:
        raise DumbbellError(f"{name}.json: has no notes: renew it with validation/reports/verdicts.py")
    lines = [f"- **{escaped(note['headline'])}.** {escaped(note['text'])}" for note in data["notes"]]
    source = f"{data['runs']:,} runs ({data['backend']}, version {data['version']}, {data['date']})."
    return "\n".join(lines) + f"\n\nComputed from {source}"


def _rule(found: Study, claim: Claim) -> str:
    version = f" {escaped(claim.revised)}" if claim.revisions else ""
    return escaped(found.rule_text(claim)) + version


def _reported(of: Claim | Statement) -> str:
    quoted = (f"{escaped(place)}: “{escaped(quote)}”" for place, quote in of.words.items())
    printed = (f"{escaped(place)}: {escaped(value)}" for place, value in of.values.items())
    return "; ".join((*quoted, *printed))
