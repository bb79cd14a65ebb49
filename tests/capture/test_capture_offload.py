"""Captures of a download over HTTP/2 with and without offload: packet lengths, and the warning that explains them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from captures import ACK, SYN, A, B, Segment, pcap
from dumbbell import capture

MSS = 1460
BYTES = 40 * 44 * MSS
"""Payload of the download: 40 super-packets of 44 segments, 64,240 bytes each."""


def write(path: Path, burst: int) -> None:
    """Write a capture of the server: each data packet has `burst` segments, and each is acknowledged."""
    client, server = (A, 40_000, 443), (B, 443, 40_000)
    segments: list[Segment] = [
        (0.0, *client, 0, 0, SYN, 0), (0.001, *server, 0, 1, SYN | ACK, 0), (0.002, *client, 1, 1, ACK, 0),
    ]  # fmt: skip
    for n, start in enumerate(range(1, BYTES, burst * MSS), 3):
        segments.append((n / 1000, *server, start, 1, ACK, burst * MSS))
        segments.append((n / 1000, *client, 1, start + burst * MSS, ACK, 0))
    path.write_bytes(pcap(segments))


def longest(lengths: Sequence[dict[str, Any]]) -> int:
    """Return the greatest length of the packet-length table."""
    return int(max(row["max"] for row in lengths if row["max"] is not None))


def test_super_packets_are_explained_and_single_segments_need_no_explanation(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    found = {}
    for name, burst in (("on", 44), ("off", 1)):
        write(tmp_path / f"{name}.pcap", burst)
        found[name] = capture.analyze(tmp_path / f"{name}.pcap")
    texts = {name: [w["text"] for w in c.warnings if w["kind"] == "offload"] for name, c in found.items()}
    # 20 + 20 + 14 bytes of headers.
    assert longest(found["on"].lengths.to_dicts()) == 44 * MSS + 54
    assert longest(found["off"].lengths.to_dicts()) == 1514
    assert texts["off"] == []
    (text,) = texts["on"]
    for words in ("40 packets", "64240 bytes", "never on the wire", "TSO", "GRO"):
        assert words in text, words
    # The bytes are the same, the packets aren't.
    data = {name: c.flows.filter(c.flows["payload_bytes"] > 0).row(0, named=True) for name, c in found.items()}
    assert {row["new_bytes"] for row in data.values()} == {BYTES}
    assert (data["on"]["data_packets"], data["off"]["data_packets"]) == (40, 1760)
    done = cli("analyze", tmp_path / "on.pcap")
    assert done.returncode == 0, done.stderr
    assert "TSO" in done.stderr
    assert "TSO" not in cli("analyze", tmp_path / "off.pcap").stderr
