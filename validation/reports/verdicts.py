"""The verdicts on statements, from whole runs of the studies, in ``docs/data/studies``.

The studies are those of the five reports, and those whose page shows stored verdicts. ``python
validation/reports/verdicts.py`` runs them and prints the counts. ``--write-docs`` also writes the data of the pages
``docs/explanations/five-reports.md`` and ``docs/reference/studies``; with the virtual-time kernel, also the decisive
cells of both back ends in ``docs/data/studies/linux``. ``--only-linux`` runs nothing but these cells. Runs that
``--out`` holds already are not made again.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.results.store.directory import Store
from dumbbell.studies import Done, studies
from dumbbell.studies.decided import by_seed
from dumbbell.studies.kernel_column import Column
from dumbbell.studies.runner import decisive_column
from dumbbell.studies.sequential import SEEDS

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data" / "studies"
PAGES = ROOT / "docs" / "reference" / "studies"
UNTESTABLE = "not testable"
OTHER = 78
"""A seed beside those of a whole study, by which its claims are decided once more."""


def stored() -> list[str]:
    """Return the studies whose verdicts are stored."""
    shown = "{{ study-verdicts: "
    return [n for n, s in studies().items() if s.paper.listed or shown in (PAGES / f"{n}.md").read_text("utf-8")]


def document(done: Done, other: Done | None = None) -> dict[str, Any]:
    """Return a study's verdicts with their numbers, in the order of the claims, and those of another seed."""
    otherwise = {f.claim: f.verdict.value for f in other.analysis.findings} if other is not None else {}
    found = {f.claim: f for f in done.analysis.findings}
    claims: list[dict[str, Any]] = []
    for claim in done.study.paper.claims:
        if claim.untestable:
            claims.append({"id": claim.id, "verdict": UNTESTABLE, "why": claim.untestable})
            continue
        finding = found[claim.id]
        measured = [f"{m.what} {m.text}" for m in finding.measured]
        claims.append(
            {
                "id": claim.id,
                "verdict": finding.verdict.value,
                "why": finding.why,
                "needs": finding.needs,
                "measured": measured,
                "judged": [finding.decisions[0].repetitions, finding.decisions[0].level] if finding.decisions else None,
                "by_seed": {v.value: n for v, n in by_seed(finding.decisions).items()},
                "at": sorted({d.value for d in finding.decisions if d.value}),
                "own": sorted({d.verdict.value for d in finding.decisions if not d.value}),
                "rule_version": claim.version,
            }
        )
    return {
        "study": done.study.name,
        "version": _core.version,
        "date": min(Store(folder).manifest()["started"] for folder in done.folders.values())[:10],
        "backend": done.backend,
        "runs": sum(len(results) for results in done.results.values()),
        "decisions": done.design.document(),
        "other_seed": {"seed": OTHER, "verdicts": otherwise} if otherwise else None,
        "repetitions": {e.name: done.scenarios[e.name].repetitions for e in done.study.experiments},
        "notes": [{"headline": note.headline, "text": note.text} for note in done.analysis.notes],
        "claims": claims,
    }


def linux(column: Column) -> dict[str, Any]:
    """Return the decisive numbers of both back ends: mean, smallest and largest over the same seeds."""

    def ends(values: list[float]) -> list[float]:
        return [sum(values) / len(values), min(values), max(values)]

    document = column.document()
    rows = [
        {**row, "simulator": ends(row["simulator"]), "linux": ends(row["linux"]), "repetitions": len(row["linux"])}
        for row in document["numbers"]
    ]
    return {"kernel": document["kernel"], "version": _core.version, "notes": document["notes"], "numbers": rows}


def write_linux(name: str, column: Column, folder: Path = DATA / "linux") -> Path | None:
    """Write the decisive numbers of a study; nothing, and None, without a kernel."""
    if not column.rows:
        print(f"  {column.summary}")
        return None
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(linux(column), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def write(found: dict[str, Any], folder: Path = DATA) -> Path:
    """Write a study's verdicts."""
    path = folder / f"{found['study']}.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """Run the studies."""
    listed = stored()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="directory of the studies; default: results")
    parser.add_argument("--jobs", type=int, help="runs at a time; default: one for each core")
    parser.add_argument("--only", choices=listed, nargs="+", default=listed, help="some of the studies")
    parser.add_argument("--write-docs", action="store_true", help="write the data of the page")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="decisions of each claim; with 1, no other seed")
    parser.add_argument("--no-linux", action="store_true", help="leave the kernel out")
    parser.add_argument("--only-linux", action="store_true", help="run the decisive cells alone, on both back ends")
    given = parser.parse_args()
    for name in given.only:
        study = studies()[name]
        if given.only_linux:
            if study.kernel is not None:
                print(f"{name}: {write_linux(name, decisive_column(study, given.out / name, jobs=given.jobs))}")
            continue
        other, seeds = None, given.seeds if study.paper.listed else None
        if study.paper.listed and given.seeds > 1:
            other = study.run(given.out / name, jobs=given.jobs, seed=OTHER, seeds=1, kernel=False)
        done = study.run(given.out / name, jobs=given.jobs, seed=seeds and 1, seeds=seeds, kernel=not given.no_linux)
        found = document(done, other)
        counts = Counter(claim["verdict"] for claim in found["claims"])
        print(f"{name}: {len(found['claims'])} statements, " + ", ".join(f"{n} {v}" for v, n in counts.most_common()))
        if given.write_docs:
            print(f"  {write(found)}")
            if done.column is not None:
                print(f"  {write_linux(name, done.column)}")


if __name__ == "__main__":
    main()
