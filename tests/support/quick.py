"""Readers of the files that a quick study has written, for its tests."""

from __future__ import annotations

import csv
import json

from dumbbell.studies import Done

__all__ = ["table", "verdicts"]


def table(done: Done, name: str) -> list[dict[str, str]]:
    """Read a table as it was written."""
    with (done.out / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdicts(done: Done) -> dict[str, str]:
    """Return the verdicts as they were written, by claim."""
    content = json.loads((done.out / "study.json").read_text(encoding="utf-8"))
    return {claim["id"]: claim["verdict"] for claim in content["claims"]}
