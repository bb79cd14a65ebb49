#!/usr/bin/env python3
# ruff: noqa: PLR0912, PLR0915 (a segment has many possible events)
"""Compare the labels of the rules `wireshark-4.0` with tshark 4.0, frame by frame, on random captures.

    cargo build --release -p dumbbell-capture --example labels
    python3 validation/tshark/labels.py --rounds 50

Each round writes one capture with some hundred short connections. They behave like TCP for most of the time and are
then damaged: segments dropped, doubled, swapped, cut, their numbers shifted, time turned back. The script prints the
first differences and keeps the capture; exit code 1 if anything differs. Files that are given are compared instead.
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

LABELS = [
    "retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order", "lost_segment",
    "ack_lost_segment", "duplicate_ack", "zero_window", "zero_window_probe", "zero_window_probe_ack", "window_full",
    "window_update", "keep_alive", "keep_alive_ack", "reused_ports",
]  # fmt: skip
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
Answer = tuple[int, frozenset[str], int, int, int, int]
MASK = 0xFFFFFFFF
QUOTED = -1


@dataclass
class Segment:
    """One segment of a connection; `direction` 0 is from the opener."""

    t: int
    direction: int
    seq: int
    ack: int
    flags: int
    window: int
    length: int
    options: bytes = b""
    mangle: dict[str, int] = field(default_factory=dict)


def wscale(n: int) -> bytes:
    """Write the window-scale option."""
    return bytes([3, 3, n, 1])


def sack(blocks: list[tuple[int, int]]) -> bytes:
    """Write the SACK option."""
    body = b"".join(struct.pack("!II", a & MASK, b & MASK) for a, b in blocks)
    return bytes([1, 1, 5, 2 + len(body)]) + body


def connection(rng: random.Random, t: int) -> list[Segment]:
    """A connection, from a rough model of two hosts with losses between them."""
    out: list[Segment] = []
    near_wrap = rng.random() < 0.15
    isn = [
        rng.choice([MASK - rng.randrange(6000), 0, 1, 0x7FFFFFF0]) if near_wrap else rng.getrandbits(32) for _ in (0, 1)
    ]
    rtt = rng.choice([100_000, 1_000_000, 4_000_000, 15_000_000, 19_990_000, 60_000_000, 300_000_000])
    mss = rng.choice([100, 536, 1448])
    scale = [rng.choice([None, 0, 2, 7, 14, 15]) for _ in (0, 1)]
    if rng.random() < 0.5:
        scale = [rng.choice([0, 2, 7])] * 2
    window = [rng.choice([0, 1, 200, 1000, 5000, 65535]) for _ in (0, 1)]
    nxt, una = list(isn), [0, 0]
    sent: list[list[tuple[int, int]]] = [[], []]
    holes: list[list[tuple[int, int]]] = [[], []]

    def put(
        direction: int,
        seq: int,
        flags: int,
        length: int = 0,
        options: bytes = b"",
        win: int | None = None,
        ack: int | None = None,
    ) -> None:
        acked = una[direction] if ack is None else ack
        out.append(
            Segment(
                t,
                direction,
                seq & MASK,
                acked & MASK if flags & ACK or rng.random() < 0.1 else 0,
                flags,
                window[direction] if win is None else win,
                length,
                options,
            )
        )

    if rng.random() < 0.8:
        for _ in range(rng.choice([1, 1, 1, 1, 2])):
            put(0, isn[0], SYN, options=b"" if scale[0] is None else wscale(scale[0]))
            t += rtt // 3
        nxt[0] = isn[0] + 1
        una[1] = nxt[0]
        if rng.random() < 0.9:
            put(1, isn[1], SYN | ACK, options=b"" if scale[1] is None else wscale(scale[1]))
            nxt[1] = isn[1] + 1
            una[0] = nxt[1]
            t += rtt // 2
            put(0, nxt[0], ACK)
    else:
        una = [nxt[1], nxt[0]]
    for _ in range(rng.randrange(5, 60)):
        direction = rng.choice([0, 0, 0, 1])
        other = 1 - direction
        what = rng.random()
        t += rng.choice(
            [0, 1000, 20_000, 300_000, 2_999_999, 3_000_000, rtt // 2, rtt, rtt - 1, 20_000_000, 19_999_999]
        )
        if what < 0.4:  # data
            length = rng.choice([1, 10, mss, mss, mss])
            put(direction, nxt[direction], ACK | rng.choice([0, PSH]), length)
            sent[direction].append((nxt[direction], nxt[direction] + length))
            nxt[direction] += length
            if rng.random() < 0.15:
                holes[direction].append(sent[direction][-1])
                out.pop()
        elif what < 0.6:  # an acknowledgment
            if sent[other]:
                una[direction] = rng.choice(
                    [sent[other][-1][1], rng.choice(sent[other])[1], nxt[other], una[direction]]
                )
                if rng.random() < 0.05:
                    una[direction] -= rng.randrange(50)
            put(direction, nxt[direction], ACK)
        elif what < 0.7:  # duplicates, with SACK blocks
            blocks = [rng.choice(sent[other]) for _ in range(rng.randrange(5))] if sent[other] else []
            for _ in range(rng.randrange(1, 4)):
                put(direction, nxt[direction], ACK, options=sack(blocks) if blocks else b"")
        elif what < 0.82:  # retransmission
            if sent[direction]:
                a, b = rng.choice((holes[direction] or sent[direction])[-3:])
                if rng.random() < 0.2:
                    b = max(a + 1, b + rng.randrange(-60, 60))
                put(direction, a, ACK, max(0, b - a))
        elif what < 0.85:  # keep-alive, sometimes with its answer
            put(direction, nxt[direction] - 1, ACK, rng.choice([0, 1]))
            if rng.random() < 0.7:
                put(other, nxt[other], ACK)
        elif what < 0.9:  # windows
            window[direction] = rng.choice([0, 0, 1, 100, 500, 1000, 65535, window[direction] + 1 & 0xFFFF])
            put(direction, nxt[direction], ACK)
            if window[direction] == 0:
                put(other, nxt[other], ACK, 1)
                if rng.random() < 0.8:
                    put(direction, nxt[direction], ACK, ack=una[direction] + rng.choice([0, 0, 1]))
        elif what < 0.92:  # fills the window
            room = window[other] << min(scale[other] or 0, 14) if rng.random() < 0.8 else window[other]
            room = una[other] + room - nxt[direction]
            if 0 < room < 40_000:
                put(direction, nxt[direction], ACK, room)
                sent[direction].append((nxt[direction], nxt[direction] + room))
                nxt[direction] += room
        elif what < 0.94:
            put(
                direction,
                nxt[direction] + rng.choice([0, 0, rng.randrange(-2000, 2000)]),
                rng.choice([RST, RST | ACK]),
                0,
            )
        elif what < 0.97:
            put(direction, nxt[direction], FIN | ACK, rng.choice([0, 0, 50]))
            sent[direction].append((nxt[direction], nxt[direction] + 1))
            nxt[direction] += 1
        elif what < 0.99:  # ports reused
            same = rng.random() < 0.4
            start = isn[0] if same else rng.getrandbits(32)
            put(0, start, SYN, options=rng.choice([b"", wscale(3)]))
            if not same:
                isn[0], nxt[0] = start, start + 1
                una[1] = nxt[0]
                sent, holes = [[], []], [[], []]
            if rng.random() < 0.7:
                put(1, isn[1] if rng.random() < 0.5 else rng.getrandbits(32), SYN | ACK)
        else:
            put(
                direction,
                rng.getrandbits(32),
                rng.choice([ACK, ACK | PSH, 0, ACK | SYN | FIN, RST | SYN]),
                rng.choice([0, 1, 100]),
                ack=rng.getrandbits(32),
            )
    return out


def damage(rng: random.Random, segments: list[Segment]) -> list[Segment]:
    """Drop, duplicate and swap segments; shift numbers; set time back."""
    out: list[Segment] = []
    drop = rng.choice([0, 0.02, 0.1, 0.3])
    double = rng.choice([0, 0.02, 0.1])
    swap = rng.choice([0, 0.05, 0.2])
    one_sided = rng.random() < 0.06
    late = rng.randrange(10) if rng.random() < 0.1 else 0
    for s in segments[late:]:
        if rng.random() < drop or (one_sided and s.direction == 1):
            continue
        out.append(s)
        if rng.random() < double:
            out.append(replace(s, t=s.t + rng.choice([0, 1000, 5_000_000])))
    for i in range(1, len(out)):
        if rng.random() < swap:
            a, b = out[i - 1], out[i]
            out[i - 1], out[i] = replace(b, t=a.t), replace(a, t=b.t)
    for s in out:
        x = rng.random()
        if x < 0.004:
            s.t -= 50_000_000
        elif x < 0.008:
            s.seq = s.seq + rng.choice([-1, 1, 1 << 30, 1 << 31]) & MASK
        elif x < 0.012:
            s.ack = s.ack + rng.choice([-1, 1, 1 << 30, 1 << 31]) & MASK
        elif x < 0.016:
            s.flags ^= 1 << rng.randrange(5)
        elif x < 0.02:
            s.mangle["snap"] = rng.choice([14 + 20 + 15, 14 + 20 + 16, 14 + 20 + 20, 54, 55, 57, 60, 62, 66, 68])
        elif x < 0.022:
            s.mangle["offset"] = rng.choice([0, 1, 4, 15])
        elif x < 0.024:
            s.mangle["fragment"] = rng.choice([0x2000, 0x0010])
        elif x < 0.027:
            s.mangle["icmp"] = 1
    return out


def frame(s: Segment, host: int, port: int, ident: int) -> tuple[bytes, int]:
    """Return the frame and its length on the wire."""
    options = s.options + b"\x01" * (-len(s.options) % 4)
    offset = 5 + len(options) // 4
    ports = (port, 40009) if s.direction == 0 else (40009, port)
    tcp = struct.pack("!HHIIHHHH", *ports, s.seq, s.ack, s.mangle.get("offset", offset) << 12 | s.flags, s.window, 0, 0)
    body = tcp + options + bytes(s.length)
    ends = [bytes([10, 0, host >> 8, host & 255]), bytes([10, 9, 9, 9])]
    if s.direction:
        ends.reverse()
    ip = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), ident & 0xFFFF, s.mangle.get("fragment", 0), 64, 6, 0, *ends
    )
    packet = ip + body
    if s.mangle.get("icmp"):
        quote = packet[:28] if s.seq & 1 else packet[:60]
        inner = struct.pack("!BBHI", 3, 3, 0, 0) + quote
        packet = (
            struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(inner), 1, 0, 64, 1, 0, bytes([9, 9, 9, 9]), ends[0]) + inner
        )
    data = b"\x02" * 6 + b"\x04" * 6 + b"\x08\x00" + packet
    wire = len(data)
    if wire < 60 and s.seq & 2:  # Ethernet padding
        data += bytes(60 - wire)
        wire = 60
    return data[: s.mangle.get("snap", 120)], wire


def write(path: Path, rng: random.Random, connections: int) -> None:
    """Write a capture of several connections, sequential or interleaved."""
    packets = []
    base = 1_700_000_000_000_000_000
    for n in range(connections):
        for k, s in enumerate(damage(rng, connection(rng, base + n * 1_000_000_000))):
            packets.append((n // 8, k, n, s))
    if rng.random() < 0.5:
        packets.sort(key=lambda p: (p[0], p[1]))
    with path.open("wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for i, (_, _, n, s) in enumerate(packets):
            data, wire = frame(s, n, 1025 + n, i)
            f.write(struct.pack("<IIII", s.t // 10**9, s.t % 10**9, len(data), wire) + data)


def ns(seconds: str) -> int:
    """Convert seconds to nanoseconds."""
    return round(float(seconds) * 1e9) if seconds else 0


def tshark(path: Path) -> dict[int, Answer]:
    """Map each frame number to (stream, labels, duplicate ACK number, ack_rtt, bytes_in_flight, initial_rtt)."""
    fields = [
        "frame.number",
        "tcp.stream",
        "tcp.analysis.duplicate_ack_num",
        "tcp.analysis.ack_rtt",
        "tcp.analysis.bytes_in_flight",
        "tcp.analysis.initial_rtt",
        "icmp.type",
        *(f"tcp.analysis.{n}" for n in LABELS),
    ]
    command = [
        "tshark",
        "-n",
        "-r",
        str(path),
        "-T",
        "fields",
        "-E",
        "occurrence=f",
        "-o",
        "tcp.relative_sequence_numbers:TRUE",
    ]
    for f in fields:
        command += ["-e", f]
    for p in ("thrift_tcp",):
        command += ["--disable-heuristic", p]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        number, stream, dup, ack_rtt, flight, irtt, icmp, *labels = line.split("\t")
        if not stream:
            continue
        names = {n for n, v in zip(LABELS, labels, strict=True) if v}
        found[int(number)] = (
            int(stream),
            frozenset(names),
            int(dup or 0),
            ns(ack_rtt),
            int(flight or 0),
            QUOTED if icmp else ns(irtt),
        )
    return found


def ours(path: Path, binary: str) -> dict[int, Answer]:
    """Return the same for our analysis."""
    out = subprocess.run([binary, "wireshark-4.0", str(path)], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        number, stream, labels, dup, ack_rtt, flight, irtt = line.split("\t")
        names = frozenset(filter(None, labels.split(",")))
        found[int(number)] = (int(stream), names, int(dup), int(ack_rtt), int(flight), int(irtt))
    return found


def compare(path: Path, binary: str, show: int = 10) -> int:
    """Print the first differences; return their number."""
    a, b = tshark(path), ours(path, binary)
    shown = differences = 0
    for n in sorted(a.keys() | b.keys()):
        x, y = a.get(n), b.get(n)
        # For a segment quoted by an ICMP error tshark shows the initial RTT only sometimes.
        if x and y and x[5] == QUOTED:
            y = (*y[:5], QUOTED)
        if x == y:
            continue
        differences += 1
        if shown < show:
            shown += 1
            print(f"{path.name} frame {n}:\n  tshark {pretty(x)}\n  ours   {pretty(y)}")
    return differences


def pretty(x: Answer | None) -> str:
    """Format an answer."""
    return "-" if x is None else f"stream {x[0]} {sorted(x[1])} dup {x[2]} rtt {x[3]} flight {x[4]} irtt {x[5]}"


def main() -> int:
    """Make captures, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--connections", type=int, default=400)
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--binary", default=f"{target}/release/examples/labels")
    options = parser.parse_args()
    bad = 0
    for path in options.files:
        n = compare(path, options.binary)
        print(f"{path}: {n} differences")
        bad += n
    if options.files:
        return int(bad > 0)
    frames = 0
    for r in range(options.rounds):
        seed = options.seed + r
        path = Path(tempfile.gettempdir()) / f"labels-{seed}.pcap"
        write(path, random.Random(seed), options.connections)
        n = compare(path, options.binary)
        bad += n
        frames += (path.stat().st_size - 24) // 100
        if n:
            print(f"seed {seed}: {n} differences, kept as {path}")
            break
        path.unlink()
    print(f"{options.connections * (r + 1)} connections, {bad} differences")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
