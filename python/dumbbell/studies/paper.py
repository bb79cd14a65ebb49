"""The publication that a study repeats: set-up, exhibits, claims and printed numbers, read from ``paper.toml``."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from dumbbell.studies.declared import All, Rule
from dumbbell.studies.open_settings import OpenSetting

__all__ = ["Claim", "Exhibit", "Paper", "Printed", "Revision", "Statement"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Quotations = dict[str, str]
"""Quotations by their place in the publication, such as ``"4 Results, Fig. 3"``."""


class Revision(_Part):
    """A change of a claim's rule.

    Attributes
    ----------
    before : str
        The rule before, in words.
    why : str
    known : bool
        True if numbers that the rule judges were known when it was changed.
    """

    before: str
    why: str
    known: bool


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
    revisions : list of Revision
        The changes of its rule, the first one first.
    unmodeled : str
        Why the study's model can't show it, such as a path on which no congestion control could matter. The rule is
        applied, but where it doesn't hold, that says nothing on the publication.
    """

    id: str
    text: str = ""
    words: Quotations = {}
    values: dict[str, str] = {}
    rule: Rule | None = None
    untestable: str = ""
    revisions: list[Revision] = []
    unmodeled: str = ""

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
        if (self.revisions or self.unmodeled) and self.rule is None:
            raise ValueError(f"claim {self.id}: no rule, so none that was revised or that the model can't show")
        return self

    @property
    def version(self) -> int:
        """The version of its rule, from 1."""
        return 1 + len(self.revisions)

    @property
    def revised(self) -> str:
        """The changes of its rule in sentences; empty if there are none."""
        return " ".join(
            f"Version {k} (numbers {'' if r.known else 'not '}known): before, the rule {r.before} {r.why}".rstrip()
            for k, r in enumerate(self.revisions, 2)
        )


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
    open: list[OpenSetting] = []
    """The settings that it doesn't state."""
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
        if strange := {c for o in self.open for c in o.claims} - {c.id for c in self.judged}:
            raise ValueError(f"open settings name claims that aren't judged: {', '.join(sorted(strange))}")
        before: set[str] = set()
        for claim in self.claims:
            if self.listed and not ((claim.words or claim.values) and (claim.rule or claim.untestable)):
                raise ValueError(f"claim {claim.id}: give the report's words or values, and a rule or a reason")
            if isinstance(claim.rule, All) and not set(claim.rule.of) <= before:
                raise ValueError(f"claim {claim.id}: sums up claims that aren't judged before it")
            if claim.rule is not None:
                before.add(claim.id)
        return self
