"""Settings of HTTP that videos and pages share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

from dumbbell.scenario.base import Part, problem
from dumbbell.scenario.units import ByteCount, Duration, Volume

__all__ = ["VERSIONS", "Web"]

VERSIONS = {"tcp": ("h2", "h1"), "quic": ("h3",)}
"""Versions of HTTP by transport; the first one is the default."""


class Web(Part):
    """An application of requests and responses: the flow's receiver is the client, its sender the server."""

    transports: ClassVar[tuple[str, ...]] = ("tcp", "quic")

    http: Literal["h1", "h2", "h3"] | None = None
    """Version of HTTP: h1 opens up to six connections with one request at a time each, h2 and h3 have one
    connection; h3 is that of QUIC. Default: h2 over TCP, h3 over QUIC."""
    request: Volume = Volume("300 bytes")
    """Bytes of a request."""
    header: ByteCount = ByteCount("300 bytes")
    """Bytes of a response before its content."""
    server_delay: Duration = Duration("0 s")
    """From the arrival of a request to the first byte of its response."""

    def check_transport(self, transport: str) -> None:
        """Refuse a version of HTTP that another transport has; `problem` at ``application.http``."""
        if self.http is not None and self.http not in VERSIONS[transport]:
            allowed = " or ".join(VERSIONS[transport])
            raise problem(f"'{self.http}' given: a {transport} flow has {allowed}", "application.http")

    def http_plan(self, transport: str) -> dict[str, Any]:
        """Return the part of the plan about requests, as plain values."""
        return {
            "version": self.http or VERSIONS[transport][0],
            "request_bytes": self.request.bytes,
            "header_bytes": self.header.bytes,
            "server_delay_ns": self.server_delay.ns,
        }

    @abstractmethod
    def plan(self, transport: str = "tcp") -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
