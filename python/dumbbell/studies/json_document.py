"""A study's results for programs: the document that ``--json`` prints and ``study.json`` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.studies.report import lessons_of

if TYPE_CHECKING:
    from dumbbell.studies.done import Done

__all__ = ["FORMAT", "document"]

FORMAT = 1


def document(done: Done) -> dict[str, Any]:
    """Return everything but the runs in plain values; paths are relative to the directory."""
    claims = {c.id: c for c in done.study.paper.claims}
    analysis = done.analysis
    return {
        "format": FORMAT,
        "study": done.study.name,
        "title": done.study.title,
        "version": _core.version,
        "quick": done.quick,
        "backend": done.backend,
        "decisions": done.design.document(),
        "directory": str(done.out),
        "report": done.report.name,
        "experiments": [
            {
                "name": e.name,
                "scenario": str(done.study.scenario_file(e)),
                "cells": len(done.scenarios[e.name].cells),
                "repetitions": done.scenarios[e.name].repetitions,
                "runs": len(done.results[e.name]),
                "seed": done.scenarios[e.name].seed,
            }
            for e in done.study.experiments
        ],
        "kernel": done.column.document() if done.column is not None else None,
        "refused": done.refused,
        "claims": [
            {
                **f.document(),
                "text": claims[f.claim].text,
                "revised": claims[f.claim].revised,
                "rule_version": claims[f.claim].version,
                "revisions": [r.model_dump() for r in claims[f.claim].revisions],
                "open": [o.id for o in done.study.paper.open if f.claim in done.study.judged_at(o)],
            }
            for f in analysis.findings
        ],
        "open": [o.model_dump() for o in done.study.paper.open],
        "not_testable": [{"id": c.id, "text": c.text, "why": c.untestable} for c in claims.values() if c.untestable],
        "lessons": [
            {
                "question": lesson.question,
                "sentence": lesson.sentence,
                "figure": lesson.figure,
                "claims": {claim: verdict.value for claim, verdict in lesson.claims},
            }
            for lesson in lessons_of(done)
        ],
        "disclosed": done.study.paper.disclosed,
        "figures": [
            {
                "name": d.picture.name,
                "title": d.picture.title,
                "reading": d.picture.reading,
                "png": str(d.png.relative_to(done.out)),
                "svg": str(d.svg.relative_to(done.out)),
                "rows": f"tables/{d.picture.name}.csv",
            }
            for d in done.drawn
        ],
        "tables": [{"name": t.name, "title": t.title, "rows": f"tables/{t.name}.csv"} for t in analysis.tables],
        "summary": list(analysis.summary),
        "notes": [{"headline": n.headline, "text": n.text} for n in analysis.notes],
    }
