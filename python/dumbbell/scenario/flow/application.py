"""Applications: the traffic of a flow. Sizes are payload bytes over TCP and QUIC and IP packet bytes over UDP."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, field_validator

from dumbbell.scenario.base import Flag, Fraction, Part, Whole, problem
from dumbbell.scenario.flow.page import Page
from dumbbell.scenario.flow.programs import Commands, Http, Iperf3, program
from dumbbell.scenario.flow.video import Video
from dumbbell.scenario.flow.voice import Voice
from dumbbell.scenario.flow.workload import Workload
from dumbbell.scenario.units import Duration, PacketSize, PositiveDuration, Rate, Volume

__all__ = [
    "Application",
    "Bulk",
    "Cbr",
    "Commands",
    "Http",
    "Iperf3",
    "OnOff",
    "Page",
    "Ping",
    "Transfer",
    "Video",
    "Voice",
    "Workload",
]

UDP_HEADERS = {4: 28, 6: 48}
"""IP and UDP headers, bytes, by the version of IP: the smallest datagram [RFC 791 §3.1, RFC 8200 §3, RFC 768]."""


class _Application(Part):
    transports: ClassVar[tuple[str, ...]] = ("tcp", "quic")

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""


class Bulk(_Application):
    """As much as the transport takes, until the flow stops."""

    kind: Literal["bulk"] = "bulk"

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"kind": "bulk"}


class Transfer(_Application):
    """A number of bytes over a fresh connection, once or repeatedly."""

    kind: Literal["transfer"]
    size: Volume
    """Payload bytes, such as "1 MB"."""
    repeat: Annotated[Whole, Field(ge=0)] = 1
    """Number of times; 0: until the flow stops."""
    every: Duration = Duration("0 s")
    """From one start to the next; a transfer still running delays the next."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"kind": "transfer", "bytes": self.size.bytes, "repeat": self.repeat, "every_ns": self.every.ns}


class Cbr(_Application):
    """Packets of one size at a constant rate; over TCP with TCP_NODELAY, unless the stack sets `nagle`."""

    transports = ("udp", "tcp", "quic")

    kind: Literal["cbr"]
    rate: Rate
    """Rate of the packets, headers included over UDP."""
    packet: PacketSize = PacketSize("1000 bytes")
    """Size of each."""
    jitter: Annotated[Fraction, Field(ge=0, le=1)] = 0.0
    """Each interval is multiplied by a uniform number from 1 - jitter to 1 + jitter; 0: constant intervals."""
    phase: Literal["random"] | Duration = "random"
    """Time of the first packet after the flow's start: "random" (uniform within one interval) or a time."""

    @field_validator("phase", mode="before")
    @classmethod
    def _phase(cls, value: Any) -> Any:  # noqa: ANN401
        if value == "random":
            return value
        try:
            return Duration(value)
        except ValueError as e:
            raise problem(f'{e}, or "random"') from None

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        phase = self.phase.ns if isinstance(self.phase, Duration) else None
        return {
            "kind": "cbr",
            "rate_bps": self.rate.bps,
            "packet_bytes": self.packet.bytes,
            "jitter": self.jitter,
            "phase_ns": phase,
        }


class OnOff(_Application):
    """Constant rate that pauses; over TCP with TCP_NODELAY, unless the stack sets `nagle`."""

    transports = ("udp", "tcp", "quic")

    kind: Literal["onoff"]
    rate: Rate
    """Rate while on."""
    packet: PacketSize = PacketSize("1000 bytes")
    """Size of each packet."""
    on: PositiveDuration
    """Length of an on period (its mean, where exponential)."""
    off: Duration
    """Length of an off period (its mean, where exponential)."""
    exponential: Flag = True
    """True: the periods are exponentially distributed. False: they are constant."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {
            "kind": "onoff",
            "rate_bps": self.rate.bps,
            "packet_bytes": self.packet.bytes,
            "on_ns": self.on.ns,
            "off_ns": self.off.ns,
            "exponential": self.exponential,
        }


class PingInterval(PositiveDuration):
    """Time from one echo request to the next."""

    __slots__ = ()
    example = '"100 ms"'
    minimum = (1_000, "at least 1 us")


class Ping(_Application):
    """Echo request and reply: a series of round-trip times and losses."""

    transports = ("udp",)

    kind: Literal["ping"]
    interval: PingInterval = PingInterval("1 s")
    """From one request to the next."""
    packet: PacketSize = PacketSize("64 bytes")
    """Size of request and reply, IP packet bytes."""
    count: Annotated[Whole, Field(ge=0)] = 0
    """Number of requests; 0: until the flow stops."""
    timeout: PositiveDuration = PositiveDuration("10 s")
    """A request without a reply after this time counts as lost."""
    tool: Literal["own", "ping"] = "own"
    """"ping": the host's program of that name; on a real kernel only."""

    def plan(self, ip: Literal[4, 6] = 4) -> dict[str, Any]:
        """Return its part of the plan over a version of IP, as plain values."""
        if self.tool == "ping":
            seconds = [f"{t.ns * 1e-9:g}" for t in (self.interval, self.timeout)]
            count = ["-c", str(self.count)] if self.count else ["-w", "{seconds}"]
            size = str(self.packet.bytes - UDP_HEADERS[ip])  # ICMP's header is as long as UDP's
            return program("ping", ["ping", "-n", "-i", seconds[0], "-W", seconds[1], "-s", size, *count, "{to}"])
        return {
            "kind": "ping",
            "interval_ns": self.interval.ns,
            "packet_bytes": self.packet.bytes,
            "count": self.count,
            "timeout_ns": self.timeout.ns,
        }


Application = Annotated[
    Bulk | Transfer | Cbr | OnOff | Voice | Ping | Workload | Page | Video | Iperf3 | Http | Commands,
    Discriminator("kind"),
]
