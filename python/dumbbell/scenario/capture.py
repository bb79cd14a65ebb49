"""Where packets are captured."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from dumbbell.scenario.base import Part, Text
from dumbbell.scenario.units import PacketSize

__all__ = ["ROLES", "Capture", "Points"]

ROLES = ("sender", "bottleneck", "receiver")
"""Points that every network has (a custom one has no bottleneck by name)."""


class Capture(Part):
    """Captures as pcapng files, kept in the results directory."""

    at: list[Text] = Field(default=[])
    """Where: ``sender``, ``bottleneck``, ``receiver``, the name of a node or of a link. At a node all packets that it
    sends or gets; at a link those that come to its queue, the ones it drops included."""
    snaplen: PacketSize = PacketSize("128 bytes")
    """Bytes kept of each packet: all headers have room in 128; payloads are zeros."""


def _short(value: Any) -> Any:  # noqa: ANN401
    """Take a list for the points alone."""
    return {"at": value} if isinstance(value, list) else value


Points = Annotated[Capture, BeforeValidator(_short)]
"""A table, or the list of its points."""
