#!/usr/bin/env python3
"""Compare captures changed at random with tshark and capinfos 4.0: pieces in other formats, layers, clocks.

    sudo python3 validation/tshark/traffic.py FOLDER          # or any other little-endian pcap files of Ethernet
    python3 validation/tshark/mutants.py FOLDER/*.pcap --rounds 200

Each round takes a piece of a capture, makes a few changes to it (bits, snap lengths, order, copies, time, link layer,
fragments) and writes it as pcap or pcapng, with odd resolutions, several interfaces, compressed or cut. Files that
differ are kept in the folder `--keep`; exit code 1 if any exist.
"""

from __future__ import annotations

import argparse
import gzip
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from against import by_tools, differences
from rewritten import checksum, records

SNAP = b"\xaa\xaa\x03\0\0\0"
MACS = bytes.fromhex("020000000001020000000002")


@dataclass(frozen=True)
class Frame:
    """A frame: time in ns, length on the wire, captured bytes, link type."""

    time: int
    length: int
    data: bytes
    link: int = 1


def piece(path: Path, rng: random.Random) -> list[Frame]:
    """Take some frames of a pcap file."""
    data = path.read_bytes()
    if len(data) < 24 or data[:4] not in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"):
        return []
    unit = 1000 if data[:2] == b"\xd4\xc3" else 1
    link = struct.unpack_from("<I", data, 20)[0]
    frames = [Frame(s * 10**9 + f * unit, n, body, link) for s, f, _, n, body in records(data)]
    begin = rng.randrange(max(1, len(frames) - 300)) if rng.random() < 0.7 else 0
    return frames[begin : begin + rng.choice([50, 300, 1200])]


def headers(frame: Frame) -> tuple[bytes, bytes]:
    """Split an Ethernet frame into type and payload."""
    return frame.data[12:14], frame.data[14:]


# ------------------------------------------------------------------------------------------------------- changes
Change = Callable[[list[Frame], random.Random], list[Frame]]


def each(rng: random.Random, frames: list[Frame], share: float, change: Callable[[Frame], Frame]) -> list[Frame]:
    """Change some of the frames."""
    return [change(f) if rng.random() < share else f for f in frames]


def bits(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Flip single bits in the headers."""

    def flip(f: Frame) -> Frame:
        data = bytearray(f.data)
        for _ in range(rng.choice([1, 1, 3])):
            data[rng.randrange(min(len(data), 90))] ^= 1 << rng.randrange(8)
        return replace(f, data=bytes(data))

    return each(rng, frames, rng.choice([0.01, 0.1]), lambda f: flip(f) if f.data else f)


def snapped(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Cut the captured bytes, all at one length or each at a length of its own."""
    one = rng.choice([0, 34, 54, 60, 66, 68, 80, 96, 128])
    own = rng.random() < 0.3
    return [replace(f, data=f.data[: rng.randrange(14, 120) if own else one or len(f.data)]) for f in frames]


def disorder(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Remove, duplicate and swap frames."""
    out: list[Frame] = []
    for f in frames:
        chance = rng.random()
        if chance < 0.03:
            continue
        out += [f, f] if chance < 0.06 else [f]
        if chance > 0.95 and len(out) > 1:
            out[-1], out[-2] = out[-2], out[-1]
    return out


def clock(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Make the time stop, jump and go backwards."""
    shift = 0
    out: list[Frame] = []
    for f in frames:
        if rng.random() < 0.02:
            shift += rng.choice([-(10**9), -(10**6), 10**6, 3_000_000, 10**10, 3600 * 10**9, -3600 * 10**9])
        out.append(replace(f, time=max(0, f.time + shift) if rng.random() > 0.05 or not out else out[-1].time))
    return out


def trailer(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Append bytes after the datagram."""
    more = rng.choice([4, 4, 1, 18])
    return each(rng, frames, 0.5, lambda f: replace(f, data=f.data + bytes(more), length=f.length + more))


def tagged(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Add VLAN tags."""
    tags = rng.choice([b"\x81\0\0\5", b"\x88\xa8\0\7\x81\0\0\5", b"\x81\0\0\1\x81\0\0\2"])

    def tag(f: Frame) -> Frame:
        return replace(f, data=f.data[:12] + tags + f.data[12:], length=f.length + len(tags))

    return each(rng, frames, rng.choice([0.3, 1.0]), lambda f: tag(f) if f.link == 1 and len(f.data) >= 14 else f)


def relinked(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Move the payload of Ethernet to another link layer."""
    link = rng.choice([101, 113, 276, 0, 108, 9, 50, 104, 105, 127, 127, 12, 192])
    flags = rng.choice([None, 0, 0x10, 0x20])

    def carry(f: Frame) -> Frame:
        kind, body = headers(f)
        if f.link != 1 or kind not in (b"\x08\0", b"\x86\xdd"):
            return replace(f, link=link) if f.link == 1 else f
        six = kind == b"\x86\xdd"
        number = b"\0\x57" if six else b"\0\x21"
        family = struct.pack("<I", rng.choice([10, 24, 28, 30]) if six else 2)
        wireless = b"\x08\1\0\0" + bytes(6) + MACS + b"\0\0"
        pad, end = b"", b""
        if link in (127, 105) and flags is not None:
            wireless = b"\x88\1\0\0" + bytes(6) + MACS + b"\0\0" + b"\0\0"
            pad = bytes(2) if flags & 0x20 and link == 127 else b""
            end = b"fcs!" if flags & 0x10 and link == 127 else b""
        air = wireless + pad + SNAP + kind
        tap = b"" if flags is None else bytes([flags])
        head = {
            101: b"", 12: b"", 113: b"\0\0\0\1\0\6" + MACS[:6] + b"\0\0" + kind,
            276: kind + b"\0\0" + b"\0\0\0\3\0\1\0\6" + MACS[:6] + b"\0\0", 0: family, 108: family[::-1],
            9: b"\xff\3" + number, 50: number, 104: b"\x0f\0" + kind, 105: air,
            127: struct.pack("<BBHI", 0, 0, 8 + len(tap), 2 * len(tap)) + tap + air,
            192: struct.pack("<BBHI", 0, 0, 8, 1) + f.data[:14],
        }[link]  # fmt: skip
        whole = len(f.data) == f.length
        data = head + body + (end if whole else b"")
        return replace(f, data=data, length=f.length - 14 + len(head) + len(end), link=link)

    return [carry(f) for f in frames]


def fragmented(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Fragment IPv4 datagrams, some out of order or incomplete."""
    out: list[Frame] = []
    for n, f in enumerate(frames):
        kind, body = headers(f)
        total = struct.unpack_from("!H", body, 2)[0] if len(body) >= 20 else 0
        plain = kind == b"\x08\0" and body[0] == 0x45 and len(body) >= total > 60 and not body[6] & 0x3F
        if f.link != 1 or not plain or rng.random() < 0.6:
            out.append(f)
            continue
        payload, size = body[20:total], 8 * rng.randrange(1, 1 + len(body[20:total]) // 8)
        parts = []
        for at in range(0, len(payload), size):
            more = 0x2000 if at + size < len(payload) else 0
            chunk = payload[at : at + size]
            head = (
                body[:2]
                + struct.pack("!HHH", 20 + len(chunk), n + 1, more | at // 8)
                + body[8:10]
                + b"\0\0"
                + body[12:20]
            )
            head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
            data = f.data[:14] + head + chunk
            parts.append(replace(f, data=data, length=len(data)))
        if rng.random() < 0.3:
            rng.shuffle(parts)
        out += parts[: len(parts) - (rng.random() < 0.1)]
    return out


def zero_length(frames: list[Frame], rng: random.Random) -> list[Frame]:
    """Set the length in the IP header to 0, as in super-packets."""

    def clear(f: Frame) -> Frame:
        kind, _ = headers(f)
        at = {b"\x08\0": 16, b"\x86\xdd": 18}.get(kind)
        # Below 64 KiB an IPv6 length of 0 means an empty payload.
        return f if at is None or at == 18 else replace(f, data=f.data[:at] + b"\0\0" + f.data[at + 2 :])

    return each(rng, frames, 0.3, lambda f: clear(f) if f.link == 1 else f)


CHANGES: list[Change] = [bits, snapped, disorder, clock, trailer, tagged, relinked, fragmented, zero_length]


# --------------------------------------------------------------------------------------------------------- files
def pcap(frames: list[Frame], rng: random.Random) -> bytes:
    """Write a pcap file of the first frame's link type."""
    order = rng.choice("<>")
    unit, magic = rng.choice([(1000, 0xA1B2C3D4), (1, 0xA1B23C4D)])
    link = frames[0].link
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, rng.choice([0, 262_144, 65_535]), link)]
    for f in frames:
        if f.link == link:
            sizes = len(f.data), max(f.length, len(f.data))
            parts.append(struct.pack(order + "IIII", f.time // 10**9, f.time % 10**9 // unit, *sizes) + f.data)
    return b"".join(parts)


def pcapng(frames: list[Frame], rng: random.Random) -> bytes:
    """Write a pcapng file with an interface for each link type and further ones, in unusual resolutions."""
    order = rng.choice("<>")

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        size = len(body) + 12
        return struct.pack(order + "II", kind, size) + body + struct.pack(order + "I", size)

    def option(code: int, value: bytes) -> bytes:
        return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    end = option(0, b"")
    head = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    parts = [block(0x0A0D0D0A, head + rng.choice([b"", option(3, b"an OS") + option(4, b"a program") + end]))]
    places: dict[int, list[tuple[int, int, int]]] = {}
    for count, link in enumerate(sorted({f.link for f in frames}) * rng.choice([1, 1, 2, 3])):
        code = rng.choice([6, 6, 9, 9, 3, 7, 0x80 | 10, 0x80 | 20, 0x80 | 30])
        rate = 2 ** (code & 0x7F) if code & 0x80 else 10**code
        offset = rng.choice([0, 0, 0, 1000, -50])
        options = option(9, bytes([code])) if code != 6 or rng.random() < 0.5 else b""
        options += option(14, struct.pack(order + "q", offset)) if offset else b""
        options += option(2, b"if%d" % count) if rng.random() < 0.5 else b""
        body = (
            struct.pack(order + "HHI", link, 0, rng.choice([0, 65_535, 262_144])) + options + (end if options else b"")
        )
        parts.append(block(1, body))
        places.setdefault(link, []).append((count, rate, offset))
    for n, f in enumerate(frames):
        number, rate, offset = rng.choice(places[f.link])
        time = max(0, f.time - offset * 10**9) * rate // 10**9
        sizes = len(f.data), max(f.length, len(f.data))
        body = struct.pack(order + "IIIII", number, time >> 32, time & 0xFFFFFFFF, *sizes)
        comment = option(1, b"a comment") + end if n % 97 == 5 else b""
        parts.append(block(6, body + f.data + bytes(-len(f.data) % 4) + comment))
    if rng.random() < 0.5:
        counts = option(4, struct.pack(order + "Q", len(frames) + 3)) + option(5, struct.pack(order + "Q", 3)) + end
        parts.append(block(5, struct.pack(order + "III", 0, 0, 0) + counts))
    return b"".join(parts)


def compressed(data: bytes, path: Path, rng: random.Random) -> Path:
    """Write a file, sometimes compressed or cut."""
    chance = rng.random()
    if chance < 0.1:
        data = data[: rng.randrange(len(data) // 2, len(data))]
    if chance < 0.8:
        path.write_bytes(data)
        return path
    if chance < 0.87:
        path = path.with_name(path.name + ".gz")
        path.write_bytes(gzip.compress(data, mtime=0))
        return path
    tool = rng.choice(["zstd", "lz4"])
    path = path.with_name(f"{path.name}.{'zst' if tool == 'zstd' else 'lz4'}")
    path.write_bytes(subprocess.run([tool, "-q", "-c"], input=data, capture_output=True, check=True).stdout)
    return path


def mutant(sources: list[Path], place: Path, seed: int) -> tuple[Path, str] | None:
    """Make a file; return its path and a description."""
    rng = random.Random(seed)
    source = rng.choice(sources)
    frames = piece(source, rng)
    names = []
    for change in rng.sample(CHANGES, rng.choice([1, 2, 3])):
        if frames:
            frames = change(frames, rng)
            names.append(change.__name__)
    if not frames:
        return None
    ng = rng.random() < 0.5
    data = pcapng(frames, rng) if ng else pcap(frames, rng)
    path = compressed(data, place / f"mutant-{seed}.{'pcapng' if ng else 'pcap'}", rng)
    return path, f"{source.name}: {', '.join(names)}"


def main() -> int:
    """Make files, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("mutants"), help="folder for files that differ")
    options = parser.parse_args()
    sources = [f for f in options.files if f.suffix == ".pcap"]
    bad = frames = made = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.rounds):
            new = mutant(sources, Path(folder), seed)
            if new is None:
                continue
            path, how = new
            answer = by_tools(path)
            wrong, _ = differences(path, answer)
            made += 1
            frames += len(answer.frames)
            if wrong:
                bad += 1
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / path.name).write_bytes(path.read_bytes())
                print(f"{path.name} ({how}): {len(wrong)} differences", flush=True)
                for text in wrong[:4]:
                    print(f"    {text}", flush=True)
            path.unlink()
    print(f"{made} files, {frames} segments; {bad} files differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
