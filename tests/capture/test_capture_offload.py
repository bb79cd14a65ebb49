"""Captures of a download over HTTP/2 with and without offload: packet lengths, and the warning that explains them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dumbbell import capture

MSS = 1448
SYN, ACK = 0x02, 0x10
TIMESTAMPS = 12
BYTES = 40 * 45 * MSS
"""Payload of the download: 40 super-packets of 45 segments, 65,160 bytes each."""


def segment(down: bool, flags: int, seq: int, ack: int, payload: int, clock: int) -> tuple[bytes, int]:
    """Return the headers of a segment of a server (port 443) or a client, and the frame's length on the wire."""
    options = struct.pack("!BBBBII", 1, 1, 8, 10, clock, clock)
    if flags & SYN:
        options = struct.pack("!BBHBBBB", 2, 4, 1460, 1, 3, 3, 7) + options
    ends = (443, 40_000) if down else (40_000, 443)
    offset = (20 + len(options)) // 4 << 4
    tcp = struct.pack("!HHIIBBHHH", *ends, seq, ack, offset, flags, 65_535, 0, 0) + options
    addresses = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
    source, target = addresses if down else addresses[::-1]
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp) + payload, clock, 0, 64, 6, 0, source, target)
    headers = bytes(12) + b"\x08\x00" + ip + tcp
    return headers, len(headers) + payload


def write(path: Path, burst: int) -> None:
    """Write a capture of the server: each data packet has `burst` segments, and each is acknowledged."""
    packets = [segment(False, SYN, 0, 0, 0, 1), segment(True, SYN | ACK, 0, 1, 0, 1), segment(False, ACK, 1, 1, 0, 1)]
    for n, start in enumerate(range(0, BYTES, burst * MSS)):
        packets.append(segment(True, ACK, 1 + start, 1, burst * MSS, 2 + n))
        packets.append(segment(False, ACK, 1, 1 + start + burst * MSS, 0, 2 + n))
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1))
        for n, (headers, length) in enumerate(packets):
            file.write(struct.pack("<IIII", 1_700_000_000 + n // 1000, n % 1000 * 1000, len(headers), length))
            file.write(headers)


def longest(lengths: Sequence[dict[str, Any]]) -> int:
    """Return the greatest length of the packet-length table."""
    return int(max(row["max"] for row in lengths if row["max"] is not None))


def test_super_packets_are_explained_and_single_segments_need_no_explanation(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    found = {}
    for name, burst in (("on", 45), ("off", 1)):
        write(tmp_path / f"{name}.pcap", burst)
        found[name] = capture.analyze(tmp_path / f"{name}.pcap")
    texts = {name: [w["text"] for w in c.warnings if w["kind"] == "offload"] for name, c in found.items()}
    # 20 + 20 + 12 + 14 bytes of headers.
    assert longest(found["on"].lengths.to_dicts()) == 45 * MSS + 66
    assert longest(found["off"].lengths.to_dicts()) == 1514
    assert texts["off"] == []
    (text,) = texts["on"]
    for words in ("40 packets", "65160 bytes", "never on the wire", "TSO", "GRO"):
        assert words in text, words
    # The bytes are the same, the packets aren't.
    data = {name: c.flows.filter(c.flows["payload_bytes"] > 0).row(0, named=True) for name, c in found.items()}
    assert {row["new_bytes"] for row in data.values()} == {BYTES}
    assert (data["on"]["data_packets"], data["off"]["data_packets"]) == (40, 1800)
    done = cli("analyze", tmp_path / "on.pcap")
    assert done.returncode == 0, done.stderr
    assert "TSO" in done.stderr
    assert "TSO" not in cli("analyze", tmp_path / "off.pcap").stderr
