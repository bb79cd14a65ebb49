"""The check of a hand-in: each answer beside the figure of the student's own runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from dumbbell.studies.labs.definition import Question, lab
from dumbbell.studies.labs.hand_in import HandIn
from dumbbell.studies.labs.own_runs import figures_of
from dumbbell.studies.labs.student import assignment

__all__ = ["Checked", "Verdict", "check", "verdict"]


class Verdict(StrEnum):
    """The verdict on an answer."""

    RIGHT = "right"
    WRONG = "not right"
    MISSING = "missing"


@dataclass(frozen=True)
class Checked:
    """An answer, checked.

    Attributes
    ----------
    question : Question
    given : float or None
        In the question's unit.
    figure : float
        The figure of the student's own runs.
    """

    question: Question
    given: float | None
    figure: float

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return verdict(self.question, self.given, self.figure)

    @property
    def words(self) -> str:
        """The verdict for the student, without the figure."""
        if self.verdict is Verdict.WRONG:
            return f"not within {self.question.tolerance} of the run's figure"
        return self.verdict.value


def verdict(question: Question, given: float | None, figure: float) -> Verdict:
    """Compare an answer with the run's figure."""
    if given is None:
        return Verdict.MISSING
    return Verdict.RIGHT if question.accepts(given, figure) else Verdict.WRONG


def check(hand_in: HandIn) -> list[Checked]:
    """Check every answer of a hand-in; the scenario is run again in the simulator."""
    figures = _figures(hand_in.lab.name, hand_in.assigned.student)
    return [Checked(q, hand_in.given.get(q.id), figures[q.id]) for q in hand_in.lab.questions]


@lru_cache(maxsize=64)
def _figures(name: str, student: str) -> dict[str, float]:
    """Compute the figures of a student's runs, once."""
    return figures_of(assignment(lab(name), student))
