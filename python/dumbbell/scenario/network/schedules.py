"""Rates and delays that change over time, packet-delivery traces, outages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Tag, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from dumbbell.common.words import shown
from dumbbell.scenario import files
from dumbbell.scenario.base import Flag, Part, problem
from dumbbell.scenario.network.cellular import Cellular
from dumbbell.scenario.network.impairments import PLAIN
from dumbbell.scenario.units import Duration, PositiveDuration, Rate

if TYPE_CHECKING:
    from dumbbell import mahimahi

__all__ = [
    "DelayStep",
    "DelaySteps",
    "LinkDelay",
    "LinkRate",
    "Outage",
    "RateStep",
    "RateSteps",
    "RateTrace",
    "TraceFile",
    "delivery_trace",
    "first_delay_ns",
    "first_rate_bps",
]


STEPS, TRACE, CELLULAR = "<steps>", "<trace>", "<cellular>"
"""Tags."""


# ---------------------------------------------------------------- steps


class _Steps(Part):
    period: PositiveDuration | None = None
    """After this the steps begin again. Default: never."""
    start: Duration = Duration("0 s")
    """Start of the steps; until then the first value holds."""

    def _check(self, steps: Sequence[RateStep | DelayStep]) -> None:
        """Refuse steps that are out of order or never happen."""
        if steps[0].at.ns != 0:
            raise problem(
                f"'{steps[0].at}' given: the first step is at \"0 s\", the value at the beginning", "steps.0.at"
            )
        if steps[0].ramp:
            raise problem("the first step has no earlier value to start from", "steps.0.ramp")
        for n, (before, step) in enumerate(pairwise(steps), 1):
            if step.at.ns <= before.at.ns:
                raise problem(
                    f"'{step.at}' given: must be later than the step before, at '{before.at}'", f"steps.{n}.at"
                )
        last = steps[-1]
        if self.period is None:
            return
        if last.at.ns > self.period.ns or (last.at.ns == self.period.ns and not last.ramp):
            place = f"steps.{len(steps) - 1}.at"
            raise problem(f"'{last.at}' given: the steps begin again before, after '{self.period}'", place)

    def _plan(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        period = None if self.period is None else self.period.ns
        return {"steps": steps, "period_ns": period, "start_ns": self.start.ns}


class RateStep(Part):
    """A rate from a time on."""

    at: Duration
    """Time from the start of the steps (or of the period)."""
    rate: Rate
    """The rate from then on, until the next step."""
    ramp: Flag = False
    """True: the value changes linearly from the step before. False: it changes at once."""


class RateSteps(_Steps):
    """A rate that changes: steps and ramps, once or repeated."""

    steps: Annotated[list[RateStep], Field(min_length=1)]
    """The steps in their order; the first is at "0 s"."""

    @model_validator(mode="after")
    def _steps(self) -> RateSteps:
        self._check(self.steps)
        return self

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return self._plan([{"at_ns": s.at.ns, "value": s.rate.bps, "ramp": s.ramp} for s in self.steps])


class DelayStep(Part):
    """A delay from a time on."""

    at: Duration
    """Time from the start of the steps (or of the period)."""
    delay: Duration
    """The delay of packets whose transmission begins from then on, until the next step."""
    ramp: Flag = False
    """True: the value changes linearly from the step before. False: it changes at once."""


class DelaySteps(_Steps):
    """A delay that changes: steps and ramps, once or repeated."""

    steps: Annotated[list[DelayStep], Field(min_length=1)]
    """The steps in their order; the first is at "0 s"."""
    reorders: Flag = False
    """True: packets with a shorter delay may overtake those with a longer one. False: they wait for them."""

    @model_validator(mode="after")
    def _steps(self) -> DelaySteps:
        self._check(self.steps)
        return self

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return self._plan([{"at_ns": s.at.ns, "value": s.delay.ns, "ramp": s.ramp} for s in self.steps])


# ---------------------------------------------------------------- traces


class TraceFile(str):
    """The path of a packet-delivery trace, with the content of the file."""

    __slots__ = ("_trace",)

    _trace: mahimahi.Trace

    def __new__(cls, text: str) -> Self:
        """Read the file."""
        if isinstance(text, cls):
            return text
        if not isinstance(text, str) or not text:
            raise problem(f"{shown(text)} given: the path of a trace is needed")
        from dumbbell import mahimahi  # imports numpy

        path = files.resolve(text)
        try:
            trace = mahimahi.read(path)
        except OSError as e:
            raise problem(f"'{text}' can't be read: {e.strerror or e} ({path.absolute()})") from None
        except ValueError as e:
            raise problem(f"'{text}' is no packet-delivery trace: {e}") from None
        self = super().__new__(cls, text)
        self._trace = trace
        return self

    @property
    def trace(self) -> mahimahi.Trace:
        """Content of the file."""
        return self._trace

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Validate by construction; serialize as the text."""
        return core_schema.no_info_plain_validator_function(
            cls, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the text form."""
        return {"type": "string", "examples": ["verizon.up"]}


class RateTrace(Part):
    """A packet-delivery trace in place of a rate."""

    trace: TraceFile
    """A file in mahimahi's form, found from the scenario's folder: a line for each 1500 bytes, the time in ms."""


# ---------------------------------------------------------------- rate and delay of a link


def _rate(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Cellular) or (isinstance(value, dict) and "cellular" in value):
        return CELLULAR
    if isinstance(value, dict):
        return TRACE if "trace" in value else STEPS
    if isinstance(value, RateSteps):
        return STEPS
    return TRACE if isinstance(value, RateTrace) else PLAIN


LinkRate = Annotated[
    Annotated[Rate, Tag(PLAIN)]
    | Annotated[RateSteps, Tag(STEPS)]
    | Annotated[RateTrace, Tag(TRACE)]
    | Annotated[Cellular, Tag(CELLULAR)],
    Discriminator(_rate),
]


def _delay(value: Any) -> Any:  # noqa: ANN401
    return STEPS if isinstance(value, dict | DelaySteps) else PLAIN


LinkDelay = Annotated[Annotated[Duration, Tag(PLAIN)] | Annotated[DelaySteps, Tag(STEPS)], Discriminator(_delay)]


def first_rate_bps(rate: LinkRate) -> int:
    """Return the rate to which limits in time or bdp refer: the first, or a trace's mean."""
    if isinstance(rate, RateSteps):
        return rate.steps[0].rate.bps
    if isinstance(rate, Rate):
        return rate.bps
    return delivery_trace(rate).mean_bps


def delivery_trace(rate: RateTrace | Cellular) -> mahimahi.Trace:
    """Return the packet-delivery trace of a rate."""
    return rate.trace if isinstance(rate, Cellular) else rate.trace.trace


def first_delay_ns(delay: LinkDelay) -> int:
    """Return the delay to which base round-trip times refer: the first."""
    return delay.steps[0].delay.ns if isinstance(delay, DelaySteps) else delay.ns


# ---------------------------------------------------------------- outages


class OutageLength(PositiveDuration):
    """Length of an outage."""

    __slots__ = ()
    example = '"500 ms"'


class OutagePeriod(Duration):
    """From one outage to the next."""

    __slots__ = ()
    minimum = (1_000_000, "at least 1 ms")


class Outage(Part):
    """The link is down for a while."""

    at: Duration
    """Start of the outage."""
    for_: Annotated[OutageLength, Field(alias="for")]
    """Length of the outage."""
    every: OutagePeriod | None = None
    """Time from one start to the next. Default: one outage only."""
    packets: Literal["hold", "drop"] = "hold"
    """"hold": nothing is sent until it is over. "drop": packets in transmission during the outage are lost."""

    @model_validator(mode="after")
    def _shorter_than_its_period(self) -> Outage:
        if self.every is not None and self.every.ns <= self.for_.ns:
            raise problem(f"'{self.every}' given: must be longer than the outage, '{self.for_}'", "every")
        return self

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {
            "at_ns": self.at.ns,
            "for_ns": self.for_.ns,
            "every_ns": None if self.every is None else self.every.ns,
            "drops": self.packets == "drop",
        }
