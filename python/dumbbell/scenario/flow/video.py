"""A video and its player."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dumbbell.scenario.base import Flag, Fraction, Part, problem
from dumbbell.scenario.flow import browser
from dumbbell.scenario.flow.abr import Abr, Bola, Dynamic, FixedRate, RateBased, rule
from dumbbell.scenario.flow.web import VERSIONS, Web
from dumbbell.scenario.units import ByteCount, Duration, PositiveDuration, Rate, Volume

__all__ = ["Qoe", "Throttle", "Video"]


class Qoe(Part):
    """Weights of the linear quality of experience.

    The defaults are the "balanced" ones of Yin, Jindal, Sekar, Sinopoli: A Control-Theoretic Approach for Dynamic
    Adaptive Video Streaming over HTTP, SIGCOMM 2015.
    """

    switches: Annotated[Fraction, Field(ge=0)] = 1.0
    """Cost of a change of the bit rate by 1 Mbit/s."""
    stalls: Annotated[Fraction, Field(ge=0)] = 3.0
    """Cost of a second of stalls."""
    startup: Annotated[Fraction, Field(ge=0)] = 3.0
    """Cost of a second of startup delay."""


class Throttle(Part):
    """A server that limits how far a progressive download is ahead of playback, as YouTube's did.

    Alcock, Nelson: Application Flow Control in YouTube Video Streams, CCR 2011.
    """

    burst: Duration = Duration("40 s")
    """Media that is sent at once."""
    factor: Annotated[Fraction, Field(gt=0)] = 1.25
    """Rate of the rest, as a multiple of the bit rate."""
    block: Volume = Volume("64 kB")
    """The rest is sent in blocks of this size."""


class Video(Web):
    """A video that the flow's receiver plays while it downloads it from the flow's sender.

    Segments are requested one after the other, and each can be played when it is complete. With `progressive` the
    whole video is one response, which plays as it arrives.
    """

    kind: Literal["video"]
    client: Literal["model", "browser"] = "model"
    """The player: Dumbbell's model, or Chromium ("browser"), on a real kernel only. The browser plays a video of
    Dumbbell's with one bit rate; its other settings are `length`, `buffer` and `http`."""
    length: PositiveDuration
    """Length of the video."""
    segment: PositiveDuration = PositiveDuration("4 s")
    """Length of a segment."""
    ladder: list[Rate] = Field(default_factory=list)
    """Bit rates, ascending; needed, except with the browser."""
    abr: Abr = RateBased(kind="rate")
    """The rule that chooses the bit rate of each segment: a name, or a table. `fixed`: always the same. `rate`: by
    throughput, as hls.js. `bola`: by the buffer. `dynamic`: by throughput, then by the buffer, as dash.js."""
    buffer: PositiveDuration = PositiveDuration("30 s")
    """No segment is requested while this much is buffered; for `bola` and `dynamic` the target B. `bola` itself
    pauses where every score is negative."""
    refill: PositiveDuration | None = None
    """After `buffer` was reached, requests continue when less than this is buffered. Default: `buffer`."""
    start_buffer: PositiveDuration | None = None
    """Playback starts with this much. Default: one segment; 2 s of a progressive download."""
    resume_buffer: PositiveDuration | None = None
    """Playback continues after a stall with this much. Default: `start_buffer`."""
    page: ByteCount = ByteCount("0 bytes")
    """Bytes of the page with the player, which is loaded before the video; 0: none."""
    progressive: Flag = False
    """True: the whole video is one response."""
    throttle: Throttle | None = None
    """The server's limit on a progressive download. Default: none."""
    qoe: Qoe = Qoe()
    """Weights of the quality of experience."""

    @model_validator(mode="after")
    def _consistent(self) -> Video:
        if self.client == "browser":
            browser.check(self.length, self.model_fields_set)
            return self
        if not self.ladder:
            raise problem("needed: at least one bit rate", "ladder")
        for before, rate in zip(self.ladder, self.ladder[1:], strict=False):
            if rate.bps <= before.bps:
                raise problem(f"'{rate}' given after '{before}': bit rates must ascend", "ladder")
        if self.refill is not None and self.refill.ns > self.buffer.ns:
            raise problem(f"'{self.refill}' given: at most '{self.buffer}', the buffer", "refill")
        if isinstance(self.abr, Bola | Dynamic) and self.abr.minimum.ns >= self.buffer.ns:
            if "minimum" in self.abr.model_fields_set:
                raise problem(f"'{self.abr.minimum}' given: must be below '{self.buffer}', the buffer", "abr.minimum")
            raise problem(f"'{self.buffer}' given: must be above '{self.abr.minimum}', the rule's minimum", "buffer")
        for key, level in (("start_buffer", self.start_buffer), ("resume_buffer", self.resume_buffer)):
            if level is not None and level.ns > self.buffer.ns and not self.progressive:
                raise problem(f"'{level}' given: at most '{self.buffer}', the buffer: playback would not begin", key)
        if isinstance(self.abr, FixedRate):
            self.abr.level(self.ladder)
        self._without_effect()
        return self

    def _without_effect(self) -> None:
        """Refuse settings that the kind of download or the rule doesn't use."""
        given = self.model_fields_set
        if self.progressive:
            for key in ("segment", "buffer", "refill"):
                if key in given:
                    raise problem("a progressive download has one response: only `throttle` limits it", key)
            if not isinstance(self.abr, FixedRate) and len(self.ladder) > 1:
                raise problem('a progressive download has one bit rate: give one, or abr = "fixed"', "ladder")
        elif self.throttle is not None:
            raise problem("a throttle needs progressive = true; segments are limited by `buffer`", "throttle")
        if isinstance(self.abr, Bola) and self.refill is not None:
            raise problem("bola limits the buffer itself", "refill")

    def plan(self, transport: str = "tcp") -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        if self.client == "browser":
            return browser.plan(self.http or VERSIONS[transport][0], self.length, self.buffer)
        segment = 2_000_000_000 if self.progressive else min(self.segment.ns, self.length.ns)
        start = self.start_buffer.ns if self.start_buffer is not None else segment
        throttle = self.throttle and {
            "burst_ns": self.throttle.burst.ns,
            "factor": self.throttle.factor,
            "block_bytes": self.throttle.block.bytes,
        }
        return {
            "kind": "video",
            "http": self.http_plan(transport),
            "length_ns": self.length.ns,
            "segment_ns": self.segment.ns,
            "ladder_bps": [rate.bps for rate in self.ladder],
            "abr": self.abr.plan(self.ladder),
            "buffer_ns": self.buffer.ns,
            "refill_ns": (self.refill or self.buffer).ns,
            "start_ns": start,
            "resume_ns": self.resume_buffer.ns if self.resume_buffer is not None else start,
            "page_bytes": self.page.bytes,
            "progressive": {"throttle": throttle} if self.progressive else None,
            "qoe": {"switches": self.qoe.switches, "stalls": self.qoe.stalls, "startup": self.qoe.startup},
        }

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:  # noqa: ANN401
        """Accept the name of a rule in place of its table."""
        if isinstance(data, dict) and isinstance(data.get("abr"), str):
            return {**data, "abr": rule(data["abr"])}
        return data
