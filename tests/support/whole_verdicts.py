"""The stored verdicts of whole runs, and those of a quick run that differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dumbbell.studies import Verdict

__all__ = ["unlike_whole"]

STORED = Path(__file__).parents[2] / "docs" / "data" / "studies"
OPEN = (Verdict.UNDECIDED, Verdict.NOT_MEASURED, Verdict.NOT_MODELED)


def unlike_whole(name: str, claims: list[dict[str, Any]]) -> dict[str, str]:
    """Return the verdicts of a quick run that neither a whole run has nor leave a claim open.

    None of a study whose verdicts aren't stored.
    """
    path = STORED / f"{name}.json"
    stored = json.loads(path.read_text())["claims"] if path.exists() else []
    # A quick study has no other values of open settings: the verdict at the study's own ones is one of the whole study.
    whole = {c["id"]: {c["verdict"], *c.get("own", [])} for c in stored}
    quick = {c["id"]: c["verdict"] for c in claims}
    return {i: v for i, v in quick.items() if v not in whole.get(i, {v}) | {*OPEN}}
