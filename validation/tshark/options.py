#!/usr/bin/env python3
"""Compare labels with tshark 4.0 for unusual TCP options: MPTCP, SACK without a block, false lengths, cut options.

    cargo build --release -p dumbbell-capture --example labels
    python3 validation/tshark/options.py [--store FOLDER]

Each connection repeats an ACK, so that the effect of an option in tshark is the presence or absence of a label. Exit
code 1 if anything differs. `--store` stores capture and answer for the tests.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
import tempfile
from pathlib import Path

import labels

SYN, ACK, PUSH_ACK = 2, 16, 24
MPTCP = {
    ".": b"",
    "J": bytes([30, 16, 0x10, 0]) + bytes(12),
    "D": bytes([30, 8, 0x20, 1, 0, 0, 0, 1]),
    "A": bytes([30, 16, 0x30, 1, 10, 0, 0, 9]) + bytes(8),
    "R": bytes([30, 4, 0x40, 1]),
    "P": bytes([30, 3, 0x50]),
    "F": bytes([30, 12, 0x60, 0]) + bytes(8),
    "C": bytes([30, 12, 0x70, 0]) + bytes(8),
    "X": bytes([30, 4, 0x80, 0]),
}
"""MP_JOIN, DSS, ADD_ADDR, REMOVE_ADDR, MP_PRIO, MP_FAIL, MP_FASTCLOSE, MP_TCPRST."""
ORDERS = (
    "....",
    ".D...",
    ".DDD.",
    ".DADAD",
    ".DAAA.",
    ".A.A.",
    ".R.R.",
    ".PP.",
    ".FF.",
    ".CC.",
    ".XX.",
    ".JJ.",
    ".DRPFC.",
)
SHORT = bytes([1, 1, 5, 5, 9, 9, 9])
"""A SACK option that is too short for a block."""
FALSE_LENGTHS = (
    bytes([1, 1, 37, 0]),
    bytes([1, 1, 8, 1]),
    bytes([253, 60]),
    bytes([1, 1, 8, 10]) + bytes(8) + bytes([5, 26]),
)
Packets = list[tuple[bytes, int]]


def packet(direction: int, port: int, seq: int, ack: int, flags: int, options: bytes = b"", length: int = 0) -> bytes:
    """Make an IPv4 packet; the options are padded to a multiple of four bytes."""
    ports = (port, 80) if direction == 0 else (80, port)
    ends = b"\x0a\0\0\1", b"\x0a\0\0\2"
    options += b"\1" * (-len(options) % 4)
    words = (20 + len(options)) // 4
    tcp = struct.pack("!HHIIBBHHH", *ports, seq & labels.MASK, ack & labels.MASK, words << 4, flags, 1000, 0, 0)
    body = tcp + options + b"x" * length
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, 6, 0)
    return head + ends[direction] + ends[1 - direction] + body


def mptcp() -> Packets:
    """Repeat ACKs with MPTCP options in all orders, with and without an earlier one from the other side."""
    out = []
    for n, order in enumerate(ORDERS * 2):
        port = 1000 + n
        out += [packet(0, port, 999, 0, SYN), packet(1, port, 4999, 1000, SYN | ACK), packet(0, port, 1000, 5000, ACK)]
        before = MPTCP["D"] if n >= len(ORDERS) else b""
        out.append(packet(0, port, 1000, 5000, PUSH_ACK, before, 100))
        out += [packet(1, port, 5000, 1100, ACK, MPTCP[what]) for what in order]
    return [(p, len(p)) for p in out]


def empty_sack() -> Packets:
    """Make ACKs of various numbers with a SACK option without a block."""
    out = []
    option = SHORT + b"\1" * 33
    for n, ack in enumerate((1100, 1099, 1050, 1001, 1000, 999, 998, 500, -49_000, 2**31, 5000, 100_000)):
        port = 2000 + n
        out += [packet(0, port, 1000, 5000, ACK, b"", 100), packet(1, port, 5000, 900, ACK)]
        out += [packet(1, port, 5000, ack, ACK, option)] * 3
        out += [packet(1, port + 500, 5000, ack, ACK, option)] * 2
    return [(p, len(p)) for p in out]


def false_lengths() -> Packets:
    """Make options with impossible lengths, and captures that end at each of their bytes."""
    out: Packets = []
    for n, option in enumerate(FALSE_LENGTHS):
        odd = packet(1, 1, 5000, 1100, ACK, option + b"\1" * (36 - len(option)))
        for cut in range(36, len(odd) + 1):
            port = 3000 + 100 * n + cut
            plain = packet(1, port, 5000, 1100, ACK)
            odd = odd[:22] + struct.pack("!H", port) + odd[24:]
            out += [(plain, len(plain)), (odd[:cut], len(odd)), (plain, len(plain))]
    return out


def write(path: Path, packets: Packets) -> None:
    """Write a capture with one packet per millisecond."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)]
    for n, (data, length) in enumerate(packets):
        parts.append(struct.pack("<IIII", 1_700_000_000 + n // 1000, n % 1000 * 1000, len(data), length) + data)
    path.write_bytes(b"".join(parts))


def main() -> int:
    """Make the capture, compare, store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--binary", default=f"{target}/release/examples/labels")
    parser.add_argument("--store", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (options.store or Path(folder)) / "options.pcap"
        write(path, mptcp() + empty_sack() + false_lengths())
        wrong = labels.compare(path, options.binary)
        if options.store:
            lines = [
                f"{n}\t{a[0]}\t{','.join(x for x in labels.LABELS if x in a[1])}\t" + "\t".join(map(str, a[2:]))
                for n, a in labels.tshark(path).items()
            ]
            path.with_suffix(".tshark").write_text("\n".join(lines) + "\n")
    print(f"{wrong} differences")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
