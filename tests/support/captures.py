"""Captures that are made by hand, byte by byte, and blocks of captures that were written."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

__all__ = ["ACK", "FIN", "RST", "SYN", "A", "B", "Segment", "blocks", "connection", "packet", "pcap"]

A, B = "10.0.0.1", "10.0.0.2"
SYN, ACK, FIN, RST = 2, 16, 1, 4
Segment = tuple[float, str, int, int, int, int, int, int]
"""Time (s), source, source port, destination port, seq, ack, flags, payload bytes."""


def packet(segment: Segment) -> bytes:
    _, source, sport, dport, seq, ack, flags, payload = segment
    target = B if source == A else A
    address = [bytes(int(part) for part in end.split(".")) for end in (source, target)]
    tcp = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 5 << 4, flags, 1000, 0, 0) + bytes(payload)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + address[0] + address[1]
    return bytes(12) + b"\x08\x00" + ip + tcp


def pcap(segments: Iterable[Segment]) -> bytes:
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for segment in segments:
        data = packet(segment)
        whole = round(segment[0] * 1e6)
        parts.append(struct.pack("<IIII", whole // 1_000_000, whole % 1_000_000, len(data), len(data)) + data)
    return b"".join(parts)


def connection(port: int = 1000, start: float = 0.0) -> list[Segment]:
    """Three data segments, the second one retransmitted 300 ms later; 20 ms from the SYN to the third packet."""
    a, b = (A, port, 80), (B, 80, port)
    times = [(0.0, a, 100, 0, SYN, 0), (0.01, b, 500, 101, SYN | ACK, 0), (0.02, a, 101, 501, ACK, 0),
             (0.03, a, 101, 501, ACK, 100), (0.031, a, 201, 501, ACK, 100), (0.032, a, 301, 501, ACK, 100),
             (0.05, b, 501, 201, ACK, 0), (0.052, b, 501, 201, ACK, 0),
             (0.332, a, 201, 501, ACK, 100), (0.352, b, 501, 401, ACK, 0),
             (0.4, a, 401, 501, FIN | ACK, 0), (0.41, b, 501, 402, FIN | ACK, 0),
             (0.42, a, 402, 502, ACK, 0)]  # fmt: skip
    return [(start + t, *end, seq, ack, flags, size) for t, end, seq, ack, flags, size in times]


def blocks(path: Path) -> list[tuple[int, bytes]]:
    """Split a little-endian pcapng file into blocks: kind and body."""
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        found.append((kind, data[at + 8 : at + length - 4]))
        at += length
    return found
