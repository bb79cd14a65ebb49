"""The parts of a lab, read from its folder: parameters, runs, questions."""

from __future__ import annotations

import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown
from dumbbell.studies.labs.units import KINDS

__all__ = ["Lab", "Parameter", "Planned", "Question", "lab", "labs"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Part):
    """A value of the scenario that differs between students.

    Attributes
    ----------
    what : str
    unit : str
    start, stop, step : float
        The set that it is drawn from: start, start + step, ... up to stop.
    """

    what: str
    unit: str
    start: float
    stop: float
    step: float = Field(gt=0)

    @property
    def count(self) -> int:
        """The number of values in the set."""
        return round((self.stop - self.start) / self.step) + 1

    def value(self, n: int) -> str:
        """Return value n of the set, with its unit."""
        return f"{round(self.start + n * self.step, 9):g} {self.unit}"

    @property
    def set_text(self) -> str:
        """The set in words."""
        return f"{self.value(0)}, {self.value(1)}, ... {self.value(self.count - 1)}"


class Planned(_Part):
    """A run of the student: the scenario with changes, kept in a directory of the run's name.

    Attributes
    ----------
    changes : dict of str to str
        Path -> value, as with ``dumbbell run --set``; values may hold ``$parameters``.
    trace : bool
        True if the run keeps its series.
    backend : {"sim", "uml"}
        The check makes only runs of the simulator.
    """

    changes: dict[str, str] = {}
    trace: bool = False
    backend: Literal["sim", "uml"] = "sim"

    def command(self, name: str) -> str:
        """Return the command that makes the run."""
        sets = "".join(f" --set {shlex.quote(f'{path}={value}')}" for path, value in self.changes.items())
        backend = f" --backend {self.backend}" if self.backend != "sim" else ""
        return f"dumbbell run scenario.toml{sets}{backend}{' --trace' if self.trace else ''} --out {name}"


class Text(_Part):
    """A prediction, or a question that asks for an explanation: kept and shown in the sheet, never checked."""

    id: str = Field(pattern=r"^[pe]\d$")
    text: str


class Question(_Part):
    """A question with a number as its answer.

    Attributes
    ----------
    id, text : str
    unit : str
        The unit of a bare number; empty for a ratio or a count.
    relative, absolute : float or None
        The tolerance: a share of the run's figure, or a difference in the unit. One of the two.
    """

    id: str = Field(pattern=r"^q\d$")
    text: str
    unit: str = ""
    relative: float | None = Field(default=None, gt=0)
    absolute: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _whole(self) -> Question:
        if self.unit and self.unit not in KINDS:
            raise ValueError(f"{self.id}: {unknown('unit', self.unit, list(KINDS))}")
        if (self.relative is None) == (self.absolute is None):
            raise ValueError(f"{self.id}: give one of relative and absolute")
        return self

    @property
    def tolerance(self) -> str:
        """The tolerance in words."""
        if self.relative is not None:
            return f"{self.relative * 100:g} %"
        unit = "percentage points" if self.unit == "%" else self.unit
        return f"{self.absolute:g} {unit}".rstrip()

    def accepts(self, given: float, figure: float) -> bool:
        """Return True if an answer is within the tolerance of the run's figure."""
        allowed = self.absolute if self.absolute is not None else abs(figure) * (self.relative or 0)
        # A tolerance that is met exactly, such as 1 packet, must not fail by rounding.
        return abs(given - figure) <= allowed * (1 + 1e-9)


class Lab(_Part):
    """A lab: its folder's ``lab.toml``.

    Attributes
    ----------
    order : int
        Its place in the list.
    minutes : int
        The time that a student needs, about.
    kernel : bool
        True if it uses the real kernel.
    """

    order: int
    title: str
    about: str
    minutes: int
    kernel: bool = False
    parameters: dict[str, Parameter]
    runs: dict[str, Planned]
    predict: list[Text]
    questions: list[Question] = Field(min_length=1)
    explain: list[Text]
    _folder: Path = PrivateAttr()

    @classmethod
    def load(cls, folder: Path) -> Lab:
        """Read a lab from its folder."""
        found = cls(**tomllib.loads((folder / "lab.toml").read_text(encoding="utf-8")))
        found._folder = folder
        return found

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self._folder.name.replace("_", "-")

    @property
    def module(self) -> str:
        """The module that computes its figures."""
        return f"dumbbell.studies.labs.{self._folder.name}.figures"

    def question(self, id_: str) -> Question:
        """Look up a question by its id."""
        return next(question for question in self.questions if question.id == id_)

    def text(self, file: str) -> str:
        """Read one of its files."""
        return (self._folder / file).read_text(encoding="utf-8")

    def description(self) -> dict[str, Any]:
        """Return everything that a student may see, for ``--json``."""
        return {"name": self.name, **self.model_dump(exclude={"order"})}


@cache
def labs() -> dict[str, Lab]:
    """Return every lab by name, in the order of a course: each folder beside this file that holds a ``lab.toml``."""
    found = [Lab.load(path.parent) for path in Path(__file__).parent.glob("*/lab.toml")]
    return {found_lab.name: found_lab for found_lab in sorted(found, key=lambda one: one.order)}


def lab(name: str) -> Lab:
    """Look up a lab by its name.

    Raises
    ------
    DumbbellError
        If no lab has this name, with the nearest name.
    """
    if name not in labs():
        raise DumbbellError(unknown("lab", name, list(labs())))
    return labs()[name]
