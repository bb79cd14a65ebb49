"""A student's own scenario: parameters and seed that follow from the student's ID alone."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from string import Template

from dumbbell.exceptions import DumbbellError
from dumbbell.studies.labs.definition import Lab, Planned

__all__ = ["NOBODY", "Assignment", "assignment", "checked_id"]

NOBODY = "self-study"
"""The ID of someone who works alone."""
ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


@dataclass(frozen=True)
class Assignment:
    """A lab for one student.

    Attributes
    ----------
    lab : Lab
    student : str
    values : dict of str to str
        Parameters with their values, and ``student``, ``seed``, ``lab``.
    """

    lab: Lab
    student: str
    values: dict[str, str]

    def filled(self, text: str) -> str:
        """Replace the parameters of a text."""
        return Template(text).substitute(self.values)

    @property
    def scenario(self) -> str:
        """The student's scenario file."""
        return self.filled(self.lab.text("scenario.toml"))

    @property
    def runs(self) -> dict[str, Planned]:
        """The runs by name, with the student's values."""
        return {
            name: run.model_copy(update={"changes": {path: self.filled(v) for path, v in run.changes.items()}})
            for name, run in self.lab.runs.items()
        }


def checked_id(student: str) -> str:
    """Return a student's ID if it is one.

    Raises
    ------
    DumbbellError
        If it has other characters than an ID has; it becomes part of a scenario and of a file.
    """
    if not ALLOWED.fullmatch(student):
        shown = repr(student) if len(student) <= 80 else f"{len(student)} characters"
        raise DumbbellError(
            f"student: {shown} given: 1 to 64 letters from a to z, digits and . _ @ - are allowed, "
            "a letter or digit first, such as s1234567"
        )
    return student


def assignment(lab: Lab, student: str) -> Assignment:
    """Draw a student's parameters: the same ID always gets the same ones."""
    checked_id(student)
    values = {
        name: parameter.value(_draw(lab.name, name, student) % parameter.count)
        for name, parameter in lab.parameters.items()
    }
    seed = _draw(lab.name, "seed", student) % 2**31
    return Assignment(lab, student, {**values, "student": student, "lab": lab.name, "seed": str(seed)})


def _draw(*words: str) -> int:
    """Return a number that follows from the words."""
    return int.from_bytes(hashlib.sha256("/".join(words).encode()).digest()[:8], "big")
