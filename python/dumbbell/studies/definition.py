"""The parts of a study, read from its folder: experiments, the publication, its claims."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.studies.finding import Analysis

if TYPE_CHECKING:
    from dumbbell.studies.runner import Done

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
    """Its measurements, for comparison in the analysis."""
    claims: list[Claim] = []
    """A suite of tests claims nothing."""


class Experiment(_Part):
    """One scenario file of the study, and the changes that ``--quick`` makes to it (path -> value)."""

    name: str
    file: str
    what: str
    figures: str = ""
    quick: dict[str, Any] = {}
    expected: list[str] = []
    """Names of warnings that are expected for this experiment."""


class Study(_Part):
    """A study: its folder's ``study.toml`` and ``paper.toml``."""

    name: str
    title: str
    what: str
    figures_note: str = ""
    """A note that applies to all figures."""
    definitions: str = ""
    """Definitions of the metrics, and the values that a seed sets."""
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
        """The folder of its files."""
        return self._folder

    def scenario_file(self, experiment: Experiment) -> Path:
        """Return the file of an experiment's scenario."""
        return self._folder / experiment.file

    def scenario(self, experiment: Experiment, *, quick: bool = False) -> Scenario:
        """Read an experiment's scenario, with ``--quick``'s changes if wanted."""
        return Scenario.load(self.scenario_file(experiment), experiment.quick if quick else None)

    def claim(self, claim_id: str) -> Claim:
        """Look up a claim by its id."""
        return next(claim for claim in self.paper.claims if claim.id == claim_id)

    def run(self, out: str | os.PathLike[str], **options: Any) -> Done:  # noqa: ANN401 - those of run_study
        """Run the study and write its page, figures and tables into a directory.

        Parameters
        ----------
        out : path
            The directory; runs that it holds already are not made again.
        **options
            ``quick``, ``jobs``, ``backend``: see `dumbbell.studies.run_study`.

        Returns
        -------
        Done
            With ``results`` by experiment, ``analysis`` with a finding for each claim, and ``report``, the page.
        """
        from dumbbell.studies.runner import run_study  # noqa: PLC0415 - imports this module

        return run_study(self, out, **options)

    def analyze(self, results: Mapping[str, Results]) -> Analysis:
        """Compare the results of all experiments with the claims; every claim gets one finding, in their order."""
        analysis: Analysis = import_module(f"dumbbell.studies.{self._folder.name}.analysis").analyze(self, results)
        found, claimed = [f.claim for f in analysis.findings], [c.id for c in self.paper.claims]
        if found != claimed:
            raise DumbbellError(f"study {self.name}: findings for {found}, but the claims are {claimed}")
        return analysis


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def studies() -> dict[str, Study]:
    """Return every study by name: each folder beside this file that holds a ``study.toml``."""
    found = [Study.load(path.parent) for path in sorted(Path(__file__).parent.glob("*/study.toml"))]
    return {s.name: s for s in found}


def study(name: str) -> Study:
    """Look up a study by its name; `Study.run` runs it.

    Parameters
    ----------
    name : str
        One of `dumbbell.studies`.

    Returns
    -------
    Study

    Raises
    ------
    DumbbellError
        If no study has this name, with the nearest name.

    Examples
    --------
    >>> import dumbbell
    >>> quickstart = dumbbell.study("quickstart")
    >>> [experiment.name for experiment in quickstart.experiments]
    ['sawtooth', 'cubic', 'bloat', 'pair']
    """
    known = studies()
    if name not in known:
        raise DumbbellError(unknown("study", name, list(known)))
    return known[name]
