"""What a study consists of, read from its folder."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.studies.finding import Analysis

__all__ = ["Claim", "Experiment", "Paper", "Study", "studies", "study"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Part):
    """A sentence of the publication that a run can confirm or contradict."""

    id: str
    text: str


class Paper(_Part):
    """The publication: facts, figures and claims."""

    title: str
    authors: list[str]
    method: str
    facts: dict[str, str] = {}
    figures: dict[str, Any] = {}
    """What it measured, for the analysis to put beside ours."""
    claims: list[Claim] = []
    """A suite of tests claims nothing."""


class Experiment(_Part):
    """One scenario file of the study, and what ``--quick`` changes in it (path -> value)."""

    name: str
    file: str
    what: str
    figures: str = ""
    quick: dict[str, Any] = {}
    expected: list[str] = []
    """Names of warnings that the experiment means to provoke."""


class Study(_Part):
    """A study: its folder's ``study.toml`` and ``paper.toml``."""

    name: str
    title: str
    what: str
    figures_note: str = ""
    """What holds for all figures."""
    definitions: str = ""
    """How the metrics are defined, and what a seed sets."""
    experiments: list[Experiment] = Field(min_length=1)
    paper: Paper
    _folder: Path = PrivateAttr()

    @classmethod
    def load(cls, folder: Path) -> Study:
        """Read a study from its folder."""
        study = cls(**_toml(folder / "study.toml"), paper=Paper(**_toml(folder / "paper.toml")))
        study._folder = folder
        return study

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self._folder

    def scenario_file(self, experiment: Experiment) -> Path:
        """Where an experiment's scenario is, to be read, copied and changed."""
        return self._folder / experiment.file

    def scenario(self, experiment: Experiment, *, quick: bool = False) -> Scenario:
        """Read an experiment's scenario, with ``--quick``'s changes if wanted."""
        return Scenario.load(self.scenario_file(experiment), experiment.quick if quick else None)

    def claim(self, claim_id: str) -> Claim:
        """Look up a claim by its id."""
        return next(claim for claim in self.paper.claims if claim.id == claim_id)

    def analyze(self, results: Mapping[str, Results]) -> Analysis:
        """Hold the results of all experiments against the claims; every claim gets one finding, in their order."""
        analysis: Analysis = import_module(f"dumbbell.studies.{self._folder.name}.analysis").analyze(self, results)
        found, claimed = [f.claim for f in analysis.findings], [c.id for c in self.paper.claims]
        if found != claimed:
            raise DumbbellError(f"study {self.name}: findings for {found}, but the claims are {claimed}")
        return analysis


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def studies() -> dict[str, Study]:
    """Find every study by name: each folder beside this file that holds a ``study.toml``."""
    found = [Study.load(path.parent) for path in sorted(Path(__file__).parent.glob("*/study.toml"))]
    return {s.name: s for s in found}


def study(name: str) -> Study:
    """Look up a study.

    Raises
    ------
    DumbbellError
        With the nearest name if there is none of that name.
    """
    known = studies()
    if name not in known:
        raise DumbbellError(unknown("study", name, list(known)))
    return known[name]
