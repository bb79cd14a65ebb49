"""Findings of a study: a verdict for each claim with its numbers, figures, tables, notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import polars as pl

from dumbbell.metrics import Paired, Summary, number

if TYPE_CHECKING:
    from dumbbell.plots import Picture

__all__ = ["Analysis", "Decision", "Finding", "Measured", "Note", "Table", "Verdict"]


class Verdict(StrEnum):
    """The result of comparing a claim with the measurements, the decided ones first."""

    AGREES = "agrees"
    """The statement is shown."""
    DIFFERS = "differs"
    """It is shown not to hold: the difference is too small to matter, or has the other sign."""
    DEPENDS = "depends"
    """It is shown for some of the settings that it covers, and shown not to hold for others."""
    UNDECIDED = "undecided at this budget"
    """Neither is shown, or not by each of the independent decisions."""
    NOT_MODELED = "the model can't show it"
    """Its rule doesn't hold, on a path that can't show what the statement is about."""
    NOT_MEASURED = "not measured"
    """The runs don't have the quantity, or not for all settings that the claim covers."""

    @property
    def decided(self) -> bool:
        """True if the measurements decide the claim, for or against it or by setting."""
        return self in {Verdict.AGREES, Verdict.DIFFERS, Verdict.DEPENDS}


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its interval: value, low, high in unit, from n repetitions; ``text`` shows it."""

    what: str
    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    n: int | None = None

    @classmethod
    def of(cls, what: str, found: Summary | Paired, unit: str = "", digits: int = 3) -> Measured:
        """Make it of a summary or a paired difference."""
        value = found.mean if isinstance(found, Paired) else found.value
        text = found.text(unit, digits)
        return cls(what, text, _number(value), _number(found.low), _number(found.high), unit, found.n)

    @classmethod
    def number(cls, what: str, value: float, unit: str = "", digits: int = 3) -> Measured:
        """Make it of a number that has no interval."""
        after = f" {unit}" if unit else ""
        return cls(what, f"{number(value, digits)}{after}", _number(value), unit=unit)

    def document(self) -> dict[str, Any]:
        """Return it in plain values."""
        return {name: getattr(self, name) for name in ("what", "value", "low", "high", "unit", "n", "text")}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Decision:
    """One of the independent decisions behind a verdict: by one seed, at one value of each open setting.

    Attributes
    ----------
    seed : int or None
        Of the scenarios; None: their own.
    value : str
        The value of the open setting that differs from the study's own, in words; empty: none.
    verdict : Verdict
    repetitions : int
        Repetitions of the claim's experiments when it was decided; of a sum of claims 0.
    level : float
        Confidence level at which its statements were then judged together.
    why : str
        As in `Finding`.
    """

    seed: int | None
    value: str
    verdict: Verdict
    repetitions: int
    level: float
    why: str

    def document(self) -> dict[str, Any]:
        """Return it in plain values."""
        return {**asdict(self), "verdict": self.verdict.value}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for a claim.

    Attributes
    ----------
    claim : str
        Its id.
    verdict : Verdict
    rule : str
        When the verdict is "agrees": one sentence with thresholds and their reason.
    measured : sequence of Measured
        The numbers that the rule used.
    why : str
        One line: what made the verdict.
    beside : sequence of Measured
        Numbers that put it into its place: other settings, causes.
    needs : int or None
        If the verdict is "undecided at this budget": the repetitions that would decide with a probability of 80 %, if
        mean and spread stay as measured.
    decisions : sequence of Decision
        The independent decisions; of a study that decides once, nothing.
    """

    claim: str
    verdict: Verdict
    rule: str
    measured: Sequence[Measured]
    why: str
    beside: Sequence[Measured] = ()
    needs: int | None = None
    decisions: Sequence[Decision] = ()

    def document(self) -> dict[str, Any]:
        """Return it in plain values."""
        return {
            "id": self.claim,
            "verdict": self.verdict.value,
            "rule": self.rule,
            "measured": [m.document() for m in self.measured],
            "why": self.why,
            "beside": [m.document() for m in self.beside],
            "needs": self.needs,
            "decisions": [d.document() for d in self.decisions],
        }


@dataclass(frozen=True, slots=True)
class Note:
    """A note on the results: a headline and a few sentences."""

    headline: str
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table for the report; cells are texts."""

    name: str
    title: str
    frame: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Analysis:
    """All findings, figures, tables and notes of a study."""

    findings: Sequence[Finding]
    pictures: Sequence[Picture]
    tables: Sequence[Table]
    summary: Sequence[str]
    notes: Sequence[Note]
