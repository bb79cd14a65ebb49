"""The points at which packets are captured, and the logs of QUIC flows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dumbbell.scenario.base import Part, Text
from dumbbell.scenario.units import PacketSize

__all__ = ["ROLES", "Capture", "Points"]

ROLES = ("sender", "bottleneck", "receiver")
"""Points that every network has (a custom one has no bottleneck by name)."""


class Capture(Part):
    """Captures as pcapng files, and qlog files of QUIC flows, kept in the results directory."""

    at: list[Text] = Field(default=[])
    """Points: ``sender``, ``bottleneck``, ``receiver``, the name of a node or of a link. At a node all packets that
    it sends or receives; at a link those that arrive at its queue, including those that it drops."""
    snaplen: PacketSize = PacketSize("128 bytes")
    """Bytes kept of each packet: 128 bytes hold all headers; payloads are zeros."""
    qlog: Literal["draft", "0.3"] | None = None
    """qlog files of both ends of each QUIC connection: by the IETF's current drafts, or 0.3, which today's viewers
    read."""

    @property
    def keeps(self) -> bool:
        """True if files are written."""
        return bool(self.at) or self.qlog is not None


def _short(value: Any) -> Any:  # noqa: ANN401
    """Accept a list of points alone."""
    return {"at": value} if isinstance(value, list) else value


Points = Annotated[Capture, BeforeValidator(_short)]
"""A table, or the list of its points."""
