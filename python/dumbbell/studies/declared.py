"""Rules as data: a claim of a report in `paper.toml` declares how it is judged.

A rule names a quantity of the study (``metric``), the setting (``at``), the settings for which its statement must
hold (``each``), and the values that it compares along one key of the setting. `dumbbell.studies.judge` evaluates it.
::

    rule = { kind = "highest", metric = "throughput", along = "variant", who = "vegas", among = ["tahoe", "reno"],
             at = { cbr = "8 to 10" } }
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dumbbell.studies.rules import EQUAL

__all__ = ["Rule", "Setting", "Value"]

Value = str | int | float
Setting = dict[str, Value]


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: str
    at: Setting = {}
    each: dict[str, list[Value]] = {}
    """Key -> values: the statement is made for every combination. Where it holds for some and not for others, the
    verdict is "depends"."""
    reason: str = ""
    """The reason for a threshold that isn't the report's."""


class _Compared(_Rule):
    occurs: bool = False
    """True for a statement on how much of something occurs, such as stalls: a setting where the metric is zero in
    every run of all sides has nothing to compare, and isn't measured. In a quick study it isn't decided: a few runs
    can miss a rare event."""

    @property
    @abstractmethod
    def sides(self) -> list[Value]:
        """The values that are compared."""


class Higher(_Compared):
    """The mean at ``a`` is higher than that at ``b``."""

    kind: Literal["higher"]
    along: str
    a: Value
    b: Value
    matter: float = EQUAL
    """Smallest difference that counts, as a part of the larger mean."""

    @property
    def sides(self) -> list[Value]:
        """The values that are compared."""
        return [self.a, self.b]


class Extreme(_Compared):
    """The mean at ``who`` is the highest (or lowest) of all."""

    kind: Literal["highest", "lowest"]
    along: str
    who: Value
    among: list[Value]
    """The others."""
    matter: float = EQUAL

    @property
    def sides(self) -> list[Value]:
        """The values that are compared."""
        return [self.who, *self.among]


class Order(_Compared):
    """The means decrease in this order."""

    kind: Literal["order"]
    along: str
    values: list[Value] = Field(min_length=2)
    matter: float = EQUAL

    @property
    def sides(self) -> list[Value]:
        """The values that are compared."""
        return self.values


class Alike(_Rule):
    """The means differ by no more than a part of the middle one, or by no more than ``off`` in the metric's unit."""

    kind: Literal["alike"]
    along: str
    values: list[Value] = Field(min_length=2)
    part: float | None = None
    off: float | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Alike:
        if (self.part is None) == (self.off is None):
            raise ValueError("give either part or off")
        return self


class Near(_Rule):
    """The mean lies near the report's value: within a part, a factor, or ``off`` in the metric's unit.

    With ``along`` the report has a value for each of several settings (``numbers``), such as one for each variant.
    With ``of = "median"`` the value is a median over runs, and so is ours.
    """

    kind: Literal["near"]
    of: Literal["mean", "median"] = "mean"
    value: float = math.nan
    along: str = ""
    numbers: dict[str, float] = {}
    part: float | None = None
    factor: float | None = None
    off: float | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Near:
        if sum(x is not None for x in (self.part, self.factor, self.off)) != 1:
            raise ValueError("give one of part, factor, off")
        if math.isnan(self.value) != bool(self.numbers) or bool(self.numbers) != bool(self.along):
            raise ValueError("give either value, or along and numbers")
        return self

    @property
    def combinations(self) -> dict[str, list[Value]]:
        """``each`` with the settings that have values of their own."""
        return {**self.each, **({self.along: list(self.numbers)} if self.along else {})}

    def ends(self, at: Setting) -> tuple[float, float]:
        """Return the band at a setting, in the metric's unit."""
        value = self.numbers[str(at[self.along])] if self.along else self.value
        if self.factor is not None:
            return value / self.factor, value * self.factor
        off = self.off if self.off is not None else abs((self.part or 0.0) * value)
        return value - off, value + off


class Bound(_Rule):
    """The mean is at least (or at most) a bound."""

    kind: Literal["at least", "at most"]
    bound: float

    def ends(self, _at: Setting) -> tuple[float, float]:
        """Return the band, in the metric's unit; the same at each setting."""
        return (self.bound, math.inf) if self.kind == "at least" else (-math.inf, self.bound)


class Covers(_Rule):
    """The report's single measurement lies within the range of single measurements here."""

    kind: Literal["covers"]
    value: float
    slack: float = 0.0


class Exchange(_Rule):
    """Over the values of one key, ``a`` is ahead at some and ``b`` at others."""

    kind: Literal["exchange"]
    along: str
    a: Value
    b: Value
    over: str
    points: list[Value] = Field(min_length=1)


class All(BaseModel):
    """A sentence that sums up other claims: it holds if all of them hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["all"]
    of: list[str] = Field(min_length=1)
    """Ids of claims that are listed before."""


Rule = Annotated[Higher | Extreme | Order | Alike | Near | Bound | Covers | Exchange | All, Field(discriminator="kind")]
