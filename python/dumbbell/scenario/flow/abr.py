"""Rules that choose the bit rate of a video's segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from dumbbell.registry import unknown
from dumbbell.scenario.base import Fraction, Part, Text, Whole, problem
from dumbbell.scenario.own import abr
from dumbbell.scenario.own.abr import OwnAbr
from dumbbell.scenario.units import PositiveDuration, Rate

__all__ = ["Abr", "Bola", "Dynamic", "FixedRate", "OwnRule", "RateBased", "rule"]


class FixedRate(Part):
    """Always the same bit rate."""

    kind: Literal["fixed"]
    """The rule."""
    bitrate: Rate | None = None
    """The bit rate, one of the ladder. Default: the highest."""

    def level(self, ladder: Sequence[Rate]) -> int:
        """Return its index in the ladder; `problem` if it has no such rate."""
        if self.bitrate is None:
            return len(ladder) - 1
        rates = [rate.bps for rate in ladder]
        if self.bitrate.bps not in rates:
            known = ", ".join(f"'{rate}'" for rate in ladder)
            raise problem(f"'{self.bitrate}' given: the ladder has {known}", "abr.bitrate")
        return rates.index(self.bitrate.bps)

    def plan(self, ladder: Sequence[Rate]) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"kind": "fixed", "level": self.level(ladder)}


class RateBased(Part):
    """By throughput, as hls.js 1.7: the smaller of two averages weighted by time."""

    kind: Literal["rate"]
    """The rule."""
    estimate: Rate = Rate("500 kbit/s")
    """The estimate before the first download."""
    fast: PositiveDuration = PositiveDuration("3 s")
    """Half-life of the fast average."""
    slow: PositiveDuration = PositiveDuration("9 s")
    """Half-life of the slow average."""
    factor: Annotated[Fraction, Field(gt=0)] = 0.95
    """Share of the estimate that the current bit rate and lower ones may use."""
    up_factor: Annotated[Fraction, Field(gt=0)] = 0.7
    """Share that higher bit rates may use."""

    def plan(self, ladder: Sequence[Rate]) -> dict[str, Any]:  # noqa: ARG002 - the other rules need it
        """Return its part of the plan, as plain values."""
        return {
            "kind": "rate",
            "estimate_bps": self.estimate.bps,
            "half_lives_ns": [self.fast.ns, self.slow.ns],
            "factor": self.factor,
            "up_factor": self.up_factor,
        }


class Bola(Part):
    """By the buffer level, with the parameters of dash.js's first version."""

    kind: Literal["bola"]
    """The rule."""
    minimum: PositiveDuration = PositiveDuration("10 s")
    """M: below about this buffer level the lowest bit rate is chosen."""

    def plan(self, ladder: Sequence[Rate]) -> dict[str, Any]:  # noqa: ARG002 - the other rules need it
        """Return its part of the plan, as plain values."""
        return {"kind": "bola", "minimum_ns": self.minimum.ns}


class Dynamic(Part):
    """By throughput until enough is buffered, then as `bola`, as dash.js; a short buffer limits the bit rate."""

    kind: Literal["dynamic"]
    """The rule."""
    minimum: PositiveDuration = PositiveDuration("10 s")
    """M of BOLA."""
    switch: PositiveDuration = PositiveDuration("10 s")
    """Buffer level from which BOLA decides, if its choice isn't lower."""
    factor: Annotated[Fraction, Field(gt=0)] = 0.9
    """Share of the mean throughput that a bit rate may use."""
    segments: Annotated[Whole, Field(ge=1)] = 4
    """Number of segments that the mean throughput is of."""

    def plan(self, ladder: Sequence[Rate]) -> dict[str, Any]:  # noqa: ARG002 - the other rules need it
        """Return its part of the plan, as plain values."""
        return {
            "kind": "dynamic",
            "minimum_ns": self.minimum.ns,
            "switch_ns": self.switch.ns,
            "factor": self.factor,
            "segments": self.segments,
        }


class OwnRule(Part):
    """A rule of your own: a Python class."""

    python: Annotated[Text, Field(min_length=3)]
    """A class in a file, `"mine.py:Mine"`; the path is relative to the scenario's folder."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Keyword arguments of the class."""

    _own: OwnAbr = PrivateAttr()

    @model_validator(mode="after")
    def _load(self) -> OwnRule:
        try:
            self._own = abr.load(self.python)
            self._own.check(self.params)
        except ValueError as e:
            raise problem(str(e), "python") from None
        return self

    @property
    def own(self) -> OwnAbr:
        """The loaded class."""
        return self._own

    def plan(self, ladder: Sequence[Rate]) -> dict[str, Any]:  # noqa: ARG002 - the other rules need it
        """Return its part of the plan, as plain values."""
        return {"kind": "external", "name": self.python, "params": dict(self.params), "content": self._own.content}


_RULES = {"fixed": FixedRate, "rate": RateBased, "bola": Bola, "dynamic": Dynamic}
_OWN = "<own>"
"""Tag of a rule of the user: a scenario cannot hold this word."""


def rule(name: str) -> dict[str, Any]:
    """Return the table of a rule that is given by its name."""
    if name not in _RULES:
        raise problem(unknown("rule", name, list(_RULES)), "abr")
    return {"kind": name}


def _tag(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, dict):
        if "python" in value:
            return _OWN
        return str(value.get("kind"))
    return _OWN if isinstance(value, OwnRule) else str(getattr(value, "kind", None))


Abr = Annotated[
    Annotated[FixedRate, Tag("fixed")]
    | Annotated[RateBased, Tag("rate")]
    | Annotated[Bola, Tag("bola")]
    | Annotated[Dynamic, Tag("dynamic")]
    | Annotated[OwnRule, Tag(_OWN)],
    Discriminator(_tag),
]
