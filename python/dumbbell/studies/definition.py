"""The parts of a study, read from its folder: experiments, the publication, its claims."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown
from dumbbell.report.finding import Analysis
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.studies.declared import All, Rule
from dumbbell.studies.kernel_cells import KernelCells
from dumbbell.studies.partial import absent
from dumbbell.studies.rule_words import Words, rule_text

if TYPE_CHECKING:
    from dumbbell.studies.runner import Done

__all__ = ["Claim", "Exhibit", "Experiment", "Paper", "Printed", "Statement", "Study", "studies", "study"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Quotations = dict[str, str]
"""Quotations by their place in the publication, such as ``"4 Results, Fig. 3"``."""


class Claim(_Part):
    """A statement of the publication on its results.

    Attributes
    ----------
    id : str
    text : str
        The statement that is judged; default: the first quotation.
    words : dict of str to str
        The publication's words by their place, shortened.
    values : dict of str to str
        Numbers that it prints in a table, a list or a figure, by their place. They aren't quotations.
    rule : Rule or None
        The rule that judges it. The claims of a suite that has none are judged by its analysis.
    untestable : str
        Instead of a rule: the reason why it can't be judged.
    revised : str
        What changed in the rule after numbers were seen, and why; empty if nothing did.
    """

    id: str
    text: str = ""
    words: Quotations = {}
    values: dict[str, str] = {}
    rule: Rule | None = None
    untestable: str = ""
    revised: str = ""

    @model_validator(mode="before")
    @classmethod
    def _text_of_words(cls, data: dict[str, Any]) -> dict[str, Any]:
        if not data.get("text") and data.get("words"):
            data = {**data, "text": next(iter(data["words"].values()))}
        return data

    @model_validator(mode="after")
    def _one_judgement(self) -> Claim:
        if not self.text:
            raise ValueError(f"claim {self.id}: give text or words")
        if self.rule is not None and self.untestable:
            raise ValueError(f"claim {self.id}: either a rule or a reason why it can't be judged")
        if self.revised and self.rule is None:
            raise ValueError(f"claim {self.id}: no rule, so none that was revised")
        return self


class Statement(_Part):
    """A statement of the publication on its set-up, and how the study sets it."""

    id: str
    words: Quotations = {}
    values: dict[str, str] = {}
    """Printed numbers; see `Claim`."""
    here: str
    """The study's own setting, or the reason why it has none."""


class Exhibit(_Part):
    """A figure or table of the publication: its counterpart here, or the reason why it has none."""

    id: str
    title: str
    here: list[str] = []
    """Names of pictures and tables of the study."""
    reason: str = ""
    shown: dict[str, Any] = {}
    """Its printed numbers."""

    @model_validator(mode="after")
    def _one_answer(self) -> Exhibit:
        if bool(self.here) == bool(self.reason):
            raise ValueError(f"{self.id}: either its counterpart or the reason why it has none")
        return self


class Printed(_Part):
    """A number that the publication prints, drawn in a picture of the study: points, a line across, or a band.

    Attributes
    ----------
    picture, panel : str
        Where it is drawn; without a panel's title: in all panels of the picture.
    place : str
        Where the publication has it.
    label : str
        Words for the legend, after "report".
    x : list of float or str, y : list of float
        Points, in the units of the axes; a word is a category.
    level : float or None
        Height of a line across the panel.
    beyond : float or None
        Place on the x axis from which a statement holds, such as "throughput falls".
    """

    picture: str
    place: str
    label: str
    panel: str = ""
    x: list[float | str] = []
    y: list[float] = []
    level: float | None = None
    beyond: float | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Printed:
        if len(self.x) != len(self.y):
            raise ValueError(f"{self.label}: {len(self.x)} values of x, {len(self.y)} of y")
        if (bool(self.x), self.level is not None, self.beyond is not None).count(True) != 1:
            raise ValueError(f"{self.label}: give one of points (x and y), level, beyond")
        return self


class Paper(_Part):
    """The publication: set-up, exhibits and claims.

    One that lists its exhibits is a report that is listed whole: each claim has the report's words with their place,
    and exactly one rule or reason. It also states when its rules were written.
    """

    title: str
    authors: list[str]
    method: str
    rules_written: str = ""
    """When the rules were written, and which numbers were known then."""
    revised: list[str] = []
    """What changed in the study's design, or in all rules, after numbers were seen, and why."""
    facts: dict[str, str] = {}
    figures: dict[str, Any] = {}
    """Its measurements, for comparison in the analysis."""
    printed: list[Printed] = []
    """Its numbers that the study's pictures show."""
    setup: list[Statement] = []
    exhibits: list[Exhibit] = []
    claims: list[Claim] = []
    """A suite of tests claims nothing."""

    @property
    def listed(self) -> bool:
        """True if the publication is listed sentence by sentence."""
        return bool(self.exhibits)

    @property
    def judged(self) -> list[Claim]:
        """The claims that get a verdict."""
        return [claim for claim in self.claims if not claim.untestable]

    @property
    def disclosed(self) -> list[str]:
        """Sentences for the study's page: when the rules were written, and their changes after numbers were seen."""
        return [*([self.rules_written] if self.rules_written else []), *self.revised]

    @model_validator(mode="after")
    def _whole(self) -> Paper:
        ids = [s.id for s in self.setup] + [e.id for e in self.exhibits] + [c.id for c in self.claims]
        double = sorted({i for i in ids if ids.count(i) > 1})
        if double:
            raise ValueError(f"ids are given twice: {', '.join(double)}")
        if self.listed and not self.rules_written:
            raise ValueError("state when the rules were written, and which numbers were known then: rules_written")
        before: set[str] = set()
        for claim in self.claims:
            if self.listed and not ((claim.words or claim.values) and (claim.rule or claim.untestable)):
                raise ValueError(f"claim {claim.id}: give the report's words or values, and a rule or a reason")
            if isinstance(claim.rule, All) and not set(claim.rule.of) <= before:
                raise ValueError(f"claim {claim.id}: sums up claims that aren't judged before it")
            if claim.rule is not None:
                before.add(claim.id)
        return self


class Experiment(_Part):
    """One scenario file of the study, and the changes that ``--quick`` makes to it (path -> value)."""

    name: str
    file: str
    what: str
    figures: str = ""
    quick: dict[str, Any] = {}
    expected: list[str] = []
    """Names of warnings that are expected for this experiment."""
    kernel: dict[str, Any] = {}
    """Changes for a real kernel, which has its own stack (path -> value)."""
    kernel_quick: dict[str, Any] = {}
    """Changes for ``--quick`` on a real kernel, which is slower than the simulator."""
    kernel_note: str = ""
    """How the results on a real kernel then differ."""


class Study(_Part):
    """A study: its folder's ``study.toml`` and ``paper.toml``."""

    name: str
    title: str
    what: str
    figures_note: str = ""
    """A note that applies to all figures."""
    definitions: str = ""
    """Definitions of the metrics, and the values that a seed sets."""
    kernel: KernelCells | None = None
    """The cells that run on the real kernel too."""
    experiments: list[Experiment] = Field(min_length=1)
    real_programs: list[Experiment] = []
    """Experiments with real programs. On back end `kernel` they replace the others, which take days in real time."""
    paper: Paper
    _folder: Path = PrivateAttr()
    _quick: bool = PrivateAttr(default=False)

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

    @property
    def quick(self) -> bool:
        """True while the runs of ``--quick`` are judged: its verdicts need stronger evidence."""
        return self._quick

    def on(self, backend: str) -> Study:
        """Return the study with the experiments that a back end, by its name, runs."""
        if backend != "kernel" or not self.real_programs:
            return self
        # The publication's printed numbers belong to the pictures of the other experiments.
        paper = self.paper.model_copy(update={"printed": []})
        return self.model_copy(update={"experiments": self.real_programs, "paper": paper})

    def scenario_file(self, experiment: Experiment) -> Path:
        """Return the file of an experiment's scenario."""
        return self._folder / experiment.file

    def scenario(
        self, experiment: Experiment, *, quick: bool = False, kernel: bool = False, slower: bool | None = None
    ) -> Scenario:
        """Read an experiment's scenario, with the changes for ``--quick`` and for a real kernel if wanted.

        `slower` adds those for ``--quick`` on a back end slower than the simulator; default: on a real kernel.
        """
        changes = self.changes(experiment, quick=quick, kernel=kernel, slower=slower)
        return Scenario.load(self.scenario_file(experiment), changes or None)

    @staticmethod
    def changes(experiment: Experiment, *, quick: bool, kernel: bool, slower: bool | None = None) -> dict[str, Any]:
        """Return the changes to an experiment's scenario: path -> value."""
        changes = dict(experiment.quick) if quick else {}
        if kernel:
            changes |= experiment.kernel
        if quick and (kernel if slower is None else slower):
            changes |= experiment.kernel_quick
        return changes

    def claim(self, claim_id: str) -> Claim:
        """Look up a claim by its id."""
        return next(claim for claim in self.paper.claims if claim.id == claim_id)

    def rule_text(self, claim: Claim) -> str:
        """Write how a claim is judged: its rule in the words of the study, or the reason why it has none."""
        if claim.rule is None:
            return f"not testable: {claim.untestable}" if claim.untestable else ""
        words: Words = import_module(f"dumbbell.studies.{self._folder.name}.quantities").WORDS
        return rule_text(claim.rule, words)

    def run(self, out: str | os.PathLike[str], **options: Any) -> Done:  # noqa: ANN401 - those of run_study
        """Run the study and write its page, figures and tables into a directory.

        Parameters
        ----------
        out : path
            The directory; runs that it holds already are not made again.
        **options
            ``quick``, ``jobs``, ``backend``, ``kernel``: see `dumbbell.studies.run_study`.

        Returns
        -------
        Done
            With ``results`` by experiment, ``analysis`` with a finding for each claim, and ``report``, the page.
        """
        from dumbbell.studies.runner import run_study  # imports this module

        return run_study(self, out, **options)

    def analyze(self, results: Mapping[str, Results], *, quick: bool = False) -> Analysis:
        """Compare the results of all experiments with the claims; every claim that can be judged gets one finding.

        With `quick`, the results are those of ``--quick``.
        """
        from dumbbell.studies.reference import with_printed  # imports the plots

        judged = self.model_copy()
        judged._quick = quick
        analysis: Analysis = import_module(f"dumbbell.studies.{self._folder.name}.analysis").analyze(judged, results)
        found, claimed = [f.claim for f in analysis.findings], [c.id for c in self.paper.judged]
        if found != claimed:
            raise DumbbellError(f"study {self.name}: findings for {found}, but the claims are {claimed}")
        drawn = {picture.name for picture in analysis.pictures}
        printed = [p for p in self.paper.printed if p.picture in drawn or not absent(results)]
        return replace(analysis, pictures=with_printed(analysis.pictures, printed))


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
