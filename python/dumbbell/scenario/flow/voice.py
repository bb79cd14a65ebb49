"""A voice call: G.711 over RTP, heard through a jitter buffer and rated by the E-model."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import field_validator

from dumbbell.scenario.base import Flag, Part, problem
from dumbbell.scenario.units import Duration, PositiveDuration

__all__ = ["Voice"]

SAMPLE_NS = 125_000
"""From one sample of G.711 to the next, ns [ITU-T G.711 §2]."""


class Packetization(PositiveDuration):
    """Speech in one packet."""

    __slots__ = ()
    example = '"20 ms"'


class Voice(Part):
    """A voice call to the receiver: G.711 at 64 kbit/s in RTP packets over UDP, without silence suppression.

    A call has two directions: two flows, one of them with direction = "reverse".
    """

    transports: ClassVar[tuple[str, ...]] = ("udp",)

    kind: Literal["voice"]
    packetization: Packetization = Packetization("20 ms")
    """Speech in one packet, at most 200 ms: "20 ms" gives 160 bytes, with headers of 40 bytes (IPv6: 60)."""
    concealment: Flag = True
    """True if the decoder conceals lost packets (G.711 Appendix I)."""
    jitter_buffer: Literal["adaptive"] | Duration = "adaptive"
    """"adaptive": the playout delay follows the delays of the packets, once per talkspurt. A time: the first packet
    that arrives waits for so long, and all others are played after the same delay."""

    @field_validator("packetization")
    @classmethod
    def _whole_samples(cls, value: Packetization) -> Packetization:
        if value.ns % SAMPLE_NS or value.ns > 200_000_000:
            raise problem(f"'{value}' given: a multiple of 125 us is needed, at most 200 ms (20 ms is usual)")
        return value

    @field_validator("jitter_buffer", mode="before")
    @classmethod
    def _buffer(cls, value: Any) -> Any:  # noqa: ANN401
        if value == "adaptive":
            return value
        try:
            return Duration(value)
        except ValueError as e:
            raise problem(f'{e}, or "adaptive"') from None

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {
            "kind": "voice",
            "packetization_ns": self.packetization.ns,
            "concealment": self.concealment,
            "jitter_buffer_ns": self.jitter_buffer.ns if isinstance(self.jitter_buffer, Duration) else None,
        }
