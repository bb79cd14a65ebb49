"""The lessons of a study, from ``lessons.toml`` in its folder: a question, its answer, and the claims that it rests on.

An answer belongs to certain verdicts. It is given only for runs that have these verdicts; for all others the sentence
states the verdicts that they do have, so that no lesson contradicts the runs beside it.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from dumbbell.report.content import Lesson
from dumbbell.report.finding import Verdict

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["Declared", "declared", "lessons", "tally"]


class Declared(BaseModel):
    """A lesson as it is declared.

    Attributes
    ----------
    question : str
        True of any runs, so it presupposes no answer.
    answer : str
        One sentence, without its full stop.
    figure : str
        Name of the picture that shows it.
    verdicts : dict of str to Verdict
        By claim: the verdicts that the answer belongs to.
    text : str
        The reasons, in a few sentences. They belong to the same verdicts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str
    answer: str
    figure: str
    verdicts: dict[str, Verdict] = Field(min_length=1)
    text: str

    def of_runs(self, found: Mapping[str, Verdict], claims: Mapping[str, str]) -> Lesson:
        """Return the lesson of some runs.

        Parameters
        ----------
        found : mapping of str to Verdict
            The verdicts of the runs, by claim.
        claims : mapping of str to str
            The claims' sentences by their ids.
        """
        own = {claim: found[claim] for claim in self.verdicts}
        holds = own == self.verdicts
        return Lesson(
            question=self.question,
            sentence=f"{self.answer}." if holds else self._otherwise(own, claims),
            figure=self.figure,
            claims=list(own.items()),
            text=" ".join(self.text.split()) if holds else "",
        )

    def _otherwise(self, own: Mapping[str, Verdict], claims: Mapping[str, str]) -> str:
        other = [claim for claim, verdict in own.items() if verdict is not self.verdicts[claim] and verdict.decided]
        if not other:
            return f"These runs don't decide it: {tally(own.values())}."
        listed = "; ".join(f"“{claims[claim].rstrip('.')}” {own[claim].value}" for claim in other)
        return f"In these runs {listed}."


def declared(study: Study) -> list[Declared]:
    """Return the lessons of a study; none if it declares none."""
    path = study.folder / "lessons.toml"
    if not path.exists():
        return []
    return [Declared(**each) for each in tomllib.loads(path.read_text(encoding="utf-8"))["lessons"]]


def lessons(study: Study, found: Mapping[str, Verdict], pictures: Iterable[str]) -> list[Lesson]:
    """Return the lessons of a study's runs: of one that declares none, the first sentence of its purpose.

    Parameters
    ----------
    study : Study
    found : mapping of str to Verdict
        The verdicts of the runs, by claim.
    pictures : iterable of str
        Names of the pictures that the runs have, in their order.
    """
    names = list(pictures)
    claims = {claim.id: claim.text for claim in study.paper.claims}
    given = [lesson.of_runs(found, claims) for lesson in declared(study) if lesson.verdicts.keys() <= found.keys()]
    if not given:
        first = re.split(r"(?<=[.?!])\s", " ".join(study.what.split()), maxsplit=1)[0]
        given = [Lesson(question="", sentence=first, figure=next(iter(names), ""))]
    return [lesson if lesson.figure in names else replace(lesson, figure="") for lesson in given]


def tally(verdicts: Iterable[Verdict]) -> str:
    """Count verdicts in words, decided ones first: "2 agrees, 1 differs"."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
