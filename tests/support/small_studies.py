"""Studies with few of their experiments, and without their analysis, which needs all of them."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell.report.finding import Analysis
from dumbbell.studies import Experiment, Study

__all__ = ["experiment", "only", "without_analysis"]


def experiment(found: Study, name: str) -> Experiment:
    """Return an experiment of a study."""
    return next(e for e in found.experiments if e.name == name)


def only(found: Study, quick: dict[str, dict[str, Any]], **changes: object) -> Study:
    """Return a study with these experiments, each with changes for quick runs, and with other fields of its own."""
    kept = [experiment(found, n).model_copy(update={"quick": q, "kernel_quick": {}}) for n, q in quick.items()]
    small = found.model_copy(update={"experiments": kept, **changes})
    small._folder = found.folder
    return small


@pytest.fixture
def without_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the analysis of every study be empty."""

    def nothing(_study: Study, _results: object, **_how: bool) -> Analysis:
        return Analysis([], [], [], [], [])

    monkeypatch.setattr(Study, "analyze", nothing)
