"""The page: one HTML file that needs nothing else, neither network nor scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.results.store import Store

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.studies import Done

__all__ = ["page"]

ROWS = 250
"""Rows of a figure's table on the page; all of them are in its CSV file."""


def page(done: Done) -> str:
    """Write the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra

    surroundings = Environment(
        loader=PackageLoader("dumbbell.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text: str = surroundings.get_template("study.html").render(_content(done))
    return text


def _content(done: Done) -> dict[str, Any]:
    study, analysis = done.study, done.analysis
    claims = {c.id: c.text for c in study.paper.claims}
    manifests = [Store(folder).manifest() for folder in done.folders.values()]
    return {
        "study": study,
        "quick": done.quick,
        "version": _core.version,
        "runs": done.runs,
        "host": manifests[0]["host"],
        "begun": min(m["started"] for m in manifests)[:19].replace("T", " "),
        "summary": analysis.summary,
        "findings": [{"finding": f, "text": claims[f.claim]} for f in analysis.findings],
        "counts": _counts(done),
        "figures": [
            {"picture": d.picture, "svg": d.inline, "table": _table(d.picture.rows()), "png": d.png.name}
            for d in done.drawn
        ],
        "tables": [{"table": t, "rows": _table(t.frame)} for t in analysis.tables],
        "notes": analysis.notes,
        "experiments": [
            {
                "experiment": e,
                "scenario": done.scenarios[e.name],
                "cells": len(done.scenarios[e.name].cells),
                "seeds": sorted({run.seed for run in done.results[e.name].runs}),
                "text": study.scenario_file(e).read_text(encoding="utf-8"),
            }
            for e in study.experiments
        ],
    }


def _counts(done: Done) -> list[tuple[str, int]]:
    """Count the verdicts, those that occur."""
    counts: dict[str, int] = {}
    for finding in done.analysis.findings:
        counts[finding.verdict.value] = counts.get(finding.verdict.value, 0) + 1
    return sorted(counts.items())


def _table(frame: pl.DataFrame) -> dict[str, Any]:
    """Prepare a frame for the page: headings, the first rows as texts, and how many more there are."""
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    rows = [[_cell(value) for value in row] for row in frame.head(ROWS).iter_rows()]
    return {"headings": frame.columns, "numeric": numeric, "rows": rows, "more": max(0, frame.height - ROWS)}


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
