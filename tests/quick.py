"""Runs a study with --quick, once, and looks at what every study must leave behind."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from dumbbell.studies import Done, Study, Verdict, run_study


class Quick:
    """A quick run of a study."""

    def __init__(self, study: Study, place: Path) -> None:
        self.study = study
        self.out = place / "out"
        self.notes: list[str] = []
        self.done: Done = run_study(study, self.out, quick=True, note=self.notes.append)
        self.content: dict[str, Any] = json.loads((self.out / "study.json").read_text(encoding="utf-8"))

    def table(self, name: str) -> list[dict[str, str]]:
        """Read a table as it was written."""
        with (self.out / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def check(self) -> None:
        """Look for a verdict with numbers for each claim, every figure with its rows, and the page."""
        claims = self.content["claims"]
        assert [c["id"] for c in claims] == [c.id for c in self.study.paper.claims]
        for claim in claims:
            assert claim["verdict"] in set(Verdict)
            assert claim["rule"]
            assert claim["why"]
            assert claim["measured"]
        figures = self.content["figures"]
        assert len({f["name"] for f in figures}) == len(figures) > 0
        for figure in figures:
            for key in ("png", "svg", "rows"):
                assert (self.out / figure[key]).stat().st_size > 0
            assert figure["reading"].endswith(".")
            assert "nan" not in figure["reading"]
        page = (self.out / "report.html").read_text(encoding="utf-8")
        for figure in figures:
            assert f'<figure id="{figure["name"]}">' in page
        for claim in claims:
            assert f'<tr id="{claim["id"]}">' in page
        assert self.notes == []
