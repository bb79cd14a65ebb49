"""A study, read from its folder: experiments and the publication."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from dumbbell.exceptions import DumbbellError
from dumbbell.metrics.significance import LEVEL
from dumbbell.report.finding import Analysis, Finding
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.scenario.extends import files_of
from dumbbell.studies.declared import All
from dumbbell.studies.kernel_cells import KernelCells
from dumbbell.studies.open_settings import OpenSetting
from dumbbell.studies.paper import Claim, Paper
from dumbbell.studies.partial import absent
from dumbbell.studies.rule_words import Words, rule_text

__all__ = ["Experiment", "Study"]


class Experiment(BaseModel):
    """One scenario file of the study, and the changes that ``--quick`` makes to it (path -> value)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    file: str
    """Default in ``study.toml``: the name, with ``.toml``."""
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


class Study(BaseModel):
    """A study: its folder's ``study.toml`` and ``paper.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    looks: int = 4
    """Looks of a decision without a budget: at 1, 2, 4, 8, ... times the repetitions of the scenarios."""
    measured_in: dict[str, list[str]] = {}
    """First word of metrics -> the experiments that they are measured in, unless it is an experiment's name."""
    paper: Paper
    _level: float = PrivateAttr(default=LEVEL)
    _decided: dict[str, Finding] = PrivateAttr(default_factory=dict)
    _folder: Path = PrivateAttr()
    _quick: bool = PrivateAttr(default=False)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a study from its folder."""
        declared = _toml(folder / "study.toml")
        every = declared.pop("every", {})
        for part in ("experiments", "real_programs"):
            declared[part] = [_experiment(every, own) for own in declared.get(part, [])]
        study = cls(**declared, paper=Paper(**_toml(folder / "paper.toml")))
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

    def judging(
        self, *, level: float = LEVEL, quick: bool = False, decided: Mapping[str, Finding] | None = None
    ) -> Self:
        """Return the study as its runs are judged: at a confidence level, quick or whole, or with its findings."""
        judged = self.model_copy()
        judged._level, judged._quick, judged._decided = level, quick, dict(decided or {})
        return judged

    @property
    def decided(self) -> Mapping[str, Finding]:
        """The findings, by claim, of a study that was decided by several seeds; else nothing."""
        return self._decided

    @property
    def level(self) -> float:
        """Confidence level at which all statements of a claim together are judged."""
        return self._level

    def experiments_of(self, claim: Claim) -> list[str]:
        """Return the experiments whose runs a claim is judged by; of a sum of claims none."""
        if claim.rule is None or isinstance(claim.rule, All):
            return []
        word = claim.rule.metric.partition(" ")[0]
        return self.measured_in.get(word, [word])

    def judged_at(self, setting: OpenSetting) -> list[str]:
        """Return the claims that are judged at the values of an open setting."""
        reading = (c.id for c in self.paper.judged if {*self.experiments_of(c)} & {*setting.experiments})
        return setting.claims or list(reading)

    def on(self, backend: str) -> Self:
        """Return the study with the experiments that a back end, by its name, runs."""
        if backend != "kernel" or not self.real_programs:
            return self
        # The publication's printed numbers belong to the pictures of the other experiments.
        paper = self.paper.model_copy(update={"printed": []})
        return self.model_copy(update={"experiments": self.real_programs, "paper": paper})

    def scenario_file(self, experiment: Experiment) -> Path:
        """Return the file of an experiment's scenario."""
        return self._folder / experiment.file

    def scenario_text(self, experiment: Experiment) -> str:
        """Return the text of an experiment's scenario, with those of the files that it extends."""
        files = files_of(self.scenario_file(experiment))
        texts = [file.read_text(encoding="utf-8") for file in files]
        return "\n".join(
            [texts[0], *(f"# {file.name}\n\n{text}" for file, text in zip(files[1:], texts[1:], strict=True))]
        )

    def scenario(
        self,
        experiment: Experiment,
        *,
        quick: bool = False,
        kernel: bool = False,
        slower: bool | None = None,
        more: Mapping[str, Any] | None = None,
        file: str = "",
    ) -> Scenario:
        """Read an experiment's scenario, with the changes for ``--quick`` and for a real kernel if wanted.

        `slower` adds those for ``--quick`` on a back end slower than the simulator; default: on a real kernel. `more`
        are changes after these, `file` another file of the study's folder.
        """
        changes = {**self.changes(experiment, quick=quick, kernel=kernel, slower=slower), **(more or {})}
        return Scenario.load(self._folder / (file or experiment.file), changes or None)

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

    def analyze(
        self, results: Mapping[str, Results], *, quick: bool = False, decided: Mapping[str, Finding] | None = None
    ) -> Analysis:
        """Compare the results of all experiments with the claims; every claim that can be judged gets one finding.

        With `quick`, the results are those of ``--quick``. `decided` has the findings, by claim, of a study that was
        decided by several seeds; the rest of the analysis is of `results`.
        """
        from dumbbell.studies.reference import with_printed  # slow to import

        judged = self.judging(quick=quick, decided=decided)
        analysis: Analysis = self._analysis().analyze(judged, results)
        found, claimed = [f.claim for f in analysis.findings], [c.id for c in self.paper.judged]
        if found != claimed:
            raise DumbbellError(f"study {self.name}: findings for {found}, but the claims are {claimed}")
        drawn = {picture.name for picture in analysis.pictures}
        printed = [p for p in self.paper.printed if p.picture in drawn or not absent(results)]
        return replace(analysis, pictures=with_printed(analysis.pictures, printed))

    def findings(self, results: Mapping[str, Results]) -> list[Finding]:
        """Judge the claims of a listed report, without pictures and tables."""
        found: list[Finding] = self._analysis().findings(self, results)
        return found

    def _analysis(self) -> Any:  # noqa: ANN401 - a module
        return import_module(f"dumbbell.studies.{self._folder.name}.analysis")


def _experiment(every: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Complete an experiment by what ``[every]`` declares for all; of tables, such as changes, key by key."""
    tables = {key: {**value, **own.get(key, {})} for key, value in every.items() if isinstance(value, dict)}
    return {"file": f"{own['name']}.toml", **every, **own, **tables}


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
