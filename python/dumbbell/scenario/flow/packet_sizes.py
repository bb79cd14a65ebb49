"""Sizes of a flow's packets, and round trips before its first data, by its stack's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from dumbbell import _core, registry

__all__ = [
    "QUIC_HEADERS",
    "TCP_IP",
    "TIMESTAMPS",
    "UDP_IP",
    "datagram_bytes",
    "segment_bytes",
    "segment_headers",
    "stack_values",
]

UDP_IP = 28
"""IP and UDP headers, bytes."""
QUIC_HEADERS = 1 + 8 + 2 + 16 + 8
"""In a 1-RTT packet: first byte, connection ID, packet number, tag, and the header of its STREAM frame, bytes."""
TCP_IP = 40
"""Headers of a segment without options, bytes."""
TIMESTAMPS = 12
"""The timestamps option of a segment, bytes."""


def stack_values(name: str, params: Mapping[str, Any]) -> Mapping[str, str]:
    """Return all parameters of a stack, as texts."""
    if not params:
        return _defaults(name)
    given = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in params.items()}
    return {**_defaults(name), **given}


@cache
def _defaults(stack: str) -> Mapping[str, str]:
    return MappingProxyType({p.name: p.default for p in registry.stack(stack).params})


def segment_bytes(values: Mapping[str, str]) -> int:
    """Return the IP packet of a full TCP segment, bytes."""
    return int(_core.parse("bytes", values["mss"])) + TCP_IP


def segment_headers(values: Mapping[str, str]) -> int:
    """Return the headers of a TCP segment with data, bytes."""
    return TCP_IP + (TIMESTAMPS if values["timestamps"] == "true" else 0)


def datagram_bytes(values: Mapping[str, str], *, discovered: bool = True) -> int:
    """Return the UDP payload of a full QUIC datagram: after the discovery of its size, or at the start, bytes."""
    largest = discovered and values["mtu_discovery"] == "true"
    return int(_core.parse("bytes", values["max_datagram" if largest else "initial_datagram"]))
