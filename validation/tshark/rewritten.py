# ruff: noqa: ARG005 (each encapsulation uses some of its arguments)
"""Derive files from captures: other byte orders, formats and link layers, cut, merged, damaged."""

from __future__ import annotations

import gzip
import random
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from shell import run


def records(data: bytes) -> Iterator[tuple[int, int, int, int, bytes]]:
    """Split a little-endian pcap: seconds, fraction, captured and wire length, bytes."""
    at = 24
    while at + 16 <= len(data):
        head = struct.unpack_from("<IIII", data, at)
        yield (*head, data[at + 16 : at + 16 + head[2]])
        at += 16 + head[2]


def swapped(data: bytes) -> bytes:
    """Write a pcap in the other byte order."""
    parts = [struct.pack(">IHHiIII", *struct.unpack_from("<IHHiIII", data))]
    parts += [struct.pack(">IIII", *head) + body for *head, body in records(data)]
    return b"".join(parts)


def back_in_time(data: bytes, rng: random.Random) -> bytes:
    """Set the time of some records back, and swap some records."""
    parts = list(records(data))
    for i in range(1, len(parts)):
        if rng.random() < 0.02:
            parts[i - 1], parts[i] = parts[i], parts[i - 1]
        if rng.random() < 0.005:
            s, f, *rest = parts[i]
            parts[i] = (s - 1, f, *rest)  # type: ignore[assignment]
    return data[:24] + b"".join(struct.pack("<IIII", *head) + body for *head, body in parts)


def rewritten(folder: Path) -> None:
    """Rewrite, cut, merge and damage captures."""
    rng = random.Random(5)
    sources = [
        folder / f"{n}.pcap" for n in ("shaped-plain-sender", "shaped-offload-receiver", "loopback", "tagged-vlan")
    ]
    sources = [s for s in sources if s.exists()]
    first = sources[0]

    def edit(name: str, options: str, source: Path) -> None:
        run(f"editcap {options} {source} {folder / name}", check=False)

    for source in sources:
        stem = source.stem
        edit(f"edit-{stem}-snap60.pcap", "-F pcap -s 60", source)
        edit(f"edit-{stem}-snap70.pcapng", "-s 70", source)
        edit(f"edit-{stem}-shift.pcapng", "-t -3600.5", source)
        edit(f"edit-{stem}-ns.pcap", "-F nsecpcap -t 0.000000123", source)
        edit(f"edit-{stem}-chop.pcap", "-F pcap -C 4 -L", source)
        edit(f"edit-{stem}-chop-len.pcap", "-F pcap -C 5", source)
        run(f"editcap -F pcap -r {source} {folder / f'edit-{stem}-middle.pcap'} 100-1500", check=False)
        run(f"editcap -F pcap {source} {folder / f'edit-{stem}-holes.pcap'} "
            + " ".join(str(n) for n in sorted(rng.sample(range(1, 2000), 120))), check=False)  # fmt: skip
        for share in ("0.001", "0.02"):
            edit(f"edit-{stem}-errors{share}.pcap", f"-F pcap -E {share} --seed 3 -o 14", source)
        edit(f"edit-{stem}-strict.pcap", "-F pcap -S 0.0001", source)
        data = source.read_bytes()
        (folder / f"own-{stem}-big.pcap").write_bytes(swapped(data))
        (folder / f"own-{stem}-back.pcap").write_bytes(back_in_time(data, rng))
        cut = rng.randrange(len(data) // 2, len(data))
        (folder / f"own-{stem}-cut.pcap").write_bytes(data[:cut])
        (folder / f"own-{stem}.pcap.gz").write_bytes(gzip.compress(data))
        for way, keep in (("there", 0), ("back", 1)):
            one = one_way(data, keep)
            (folder / f"own-{stem}-{way}.pcap").write_bytes(one)
        again = (r for r in records(data) for _ in range(1 + (rng.random() < 0.1)))
        (folder / f"own-{stem}-doubled.pcap").write_bytes(
            data[:24] + b"".join(struct.pack("<IIII", *head) + body for *head, body in again)
        )
    many = " ".join(str(s) for s in sources)
    run(f"mergecap -w {folder / 'merge-time.pcapng'} {many}")
    run(f"mergecap -a -w {folder / 'merge-append.pcapng'} {many}")
    run(f"mergecap -w {folder / 'merge-sides.pcapng'} {folder / 'shaped-plain-sender.pcap'} "
        f"{folder / 'shaped-plain-receiver.pcap'}")  # fmt: skip
    links = ("loopback", "shaped-plain-router-sll", "loopback-ns", "shaped-plain-router-any")
    run(f"mergecap -w {folder / 'merge-links.pcapng'} " + " ".join(str(folder / f"{n}.pcap") for n in links))
    run(f"mergecap -F pcap -w {folder / 'merge-twice.pcap'} {first} {first}", check=False)
    edit("merge-first.pcapng", "-F pcapng", first)
    both = (folder / "merge-first.pcapng").read_bytes()
    other = folder / "merge-second.pcapng"
    run(f"editcap -F pcapng {sources[-1]} {other}")
    (folder / "own-two-sections.pcapng").write_bytes(both + other.read_bytes())
    (folder / "own-cut.pcapng").write_bytes(both[: len(both) * 2 // 3 + 1])
    hexdumps(folder, first)
    wrapped(folder, first)


def one_way(data: bytes, keep: int) -> bytes:
    """Keep one direction, by the lower of the two ports."""
    parts = [data[:24]]
    for *head, body in records(data):
        at = 14 if body[12:14] == b"\x08\x00" else 54 - 40 + 20 if body[12:14] == b"\x86\xdd" else 0
        ports = struct.unpack_from("!HH", body, at + 20) if at and len(body) >= at + 24 else (0, 0)
        if (ports[0] > ports[1]) == bool(keep):
            parts.append(struct.pack("<IIII", *head) + body)
    return b"".join(parts)


def hexdumps(folder: Path, source: Path) -> None:
    """Write the packets with other link layers, by text2pcap."""
    layers = {101: b"", 228: b"", 0: b"\x02\0\0\0", 108: b"\0\0\0\x02", 9: b"\xff\x03\0\x21", 50: b"\xff\x03\0\x21",
              105: bytes.fromhex("080000000200000000010200000000020200000000030000aaaa030000000800"),
              127: bytes.fromhex("0000080000000000080000000200000000010200000000020200000000030000aaaa030000000800"),
              113: bytes.fromhex("00000001000602000000000100000800"),
              276: bytes.fromhex("0800000000000001000100060200000000010000"), 104: b"\x0f\0\x08\0"}  # fmt: skip
    lines: dict[int, list[str]] = {link: [] for link in layers}
    for n, (seconds, fraction, _, _, body) in enumerate(records(source.read_bytes())):
        if n >= 1500:
            break
        if body[12:14] != b"\x08\x00":
            continue
        length = struct.unpack_from("!H", body, 16)[0]
        packet = body[14 : 14 + length]
        for link, layer in layers.items():
            hexes = " ".join(f"{b:02x}" for b in layer + packet)
            lines[link].append(f"{time.strftime('%H:%M:%S', time.gmtime(seconds))}.{fraction:06} 000000 {hexes}")
    for link, text in lines.items():
        dump = folder / f"text-{link}.txt"
        dump.write_text("\n".join(text) + "\n")
        run(f"text2pcap -q -F pcap -t %H:%M:%S.%f -l {link} {dump} {folder / f'text-{link}.pcap'}", check=False)
        dump.unlink()


def checksum(header: bytes) -> int:
    """Return the checksum of an IPv4 header."""
    total: int = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def carried(protocol: int, payload: bytes, ident: int) -> bytes:
    """Encapsulate a payload in IPv4."""
    ends = bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), ident & 0xFFFF, 0, 64, protocol, 0, *ends)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def wrapped(folder: Path, source: Path) -> None:
    """Encapsulate the frames in VLANs and tunnels that the kernel may not support."""
    macs = bytes(range(12))

    def udp(port: int, body: bytes) -> bytes:
        """Make a UDP datagram."""
        return struct.pack("!HHHH", 40_000, port, 8 + len(body), 0) + body

    def options(packet: bytes) -> bytes:
        """Add IPv4 options: a timestamp and padding."""
        head = (
            bytes([0x48]) + packet[1:2] + struct.pack("!H", len(packet) + 12) + packet[4:10] + b"\0\0" + packet[12:20]
        )
        head += bytes([68, 8, 5, 0, 0, 0, 0, 0, 1, 1, 1, 0])
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + packet[20:]

    def six(packet: bytes, extensions: bytes) -> bytes:
        """Convert to IPv6 with extension headers (the first is hop-by-hop, if present)."""
        ends = bytes.fromhex("20010db8") + bytes(8), bytes.fromhex("20010db8") + bytes(8)
        body = extensions + packet[20:]
        return (
            struct.pack("!IHBB", 6 << 28, len(body), 0 if extensions else 6, 64)
            + ends[0]
            + packet[12:16]
            + ends[1]
            + packet[16:20]
            + body
        )

    extensions = bytes([60, 0, 1, 4, 0, 0, 0, 0]) + bytes([43, 0, 1, 4, 0, 0, 0, 0]) + bytes([6, 0, 253, 0, 0, 0, 0, 0])
    kinds: dict[str, Callable[[bytes, bytes, int], bytes]] = {
        "vlan": lambda f, p, n: f[:12] + b"\x81\0\0\x05" + f[12:],
        "vlan-mixed": lambda f, p, n: f[:12] + b"\x81\0\0" + bytes([n & 3]) + f[12:] if n & 1 else f,
        "qinq": lambda f, p, n: f[:12] + b"\x88\xa8\0\x07\x81\0\0\x05" + f[12:],
        "mpls": lambda f, p, n: f[:12] + b"\x88\x47" + b"\0\x01\x00\x40\0\x01\x01\x40" + p,
        "pppoe": lambda f, p, n: f[:12] + b"\x88\x64\x11\0\0\x05" + struct.pack("!H", len(p) + 2) + b"\0\x21" + p,
        "gre": lambda f, p, n: macs + b"\x08\0" + carried(47, b"\0\0\x08\0" + p, n),
        "gre-key": lambda f, p, n: macs + b"\x08\0" + carried(47, b"\x30\0\x08\0" + struct.pack("!II", 7, n) + p, n),
        "gretap": lambda f, p, n: macs + b"\x08\0" + carried(47, b"\0\0\x65\x58" + f, n),
        "ipip": lambda f, p, n: macs + b"\x08\0" + carried(4, p, n),
        "vxlan": lambda f, p, n: macs + b"\x08\0" + carried(17, udp(4789, b"\x08\0\0\0\0\0\x05\0" + f), n),
        "six": lambda f, p, n: macs + b"\x86\xdd" + six(p, b""),
        "six-extended": lambda f, p, n: macs + b"\x86\xdd" + six(p, extensions),
        "options": lambda f, p, n: f[:14] + options(p),
        "padded": lambda f, p, n: f + bytes(max(0, 60 - len(f)) + n % 5),
        "no-length": lambda f, p, n: f[:16] + b"\0\0" + f[18:],
        "snap": lambda f, p, n: f[:12] + struct.pack("!H", len(p) + 8) + b"\xaa\xaa\x03\0\0\0\x08\0" + p,
    }
    for name, wrap in kinds.items():
        parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
        for n, (seconds, fraction, captured, length, frame) in enumerate(records(source.read_bytes())):
            if n >= 4000 or frame[12:14] != b"\x08\0":
                continue
            packet = frame[14 : 14 + struct.unpack_from("!H", frame, 16)[0]]
            new = wrap(frame, packet, n)
            more = len(new) - captured
            parts.append(struct.pack("<IIII", seconds, fraction, len(new), length + more) + new)
        (folder / f"wrapped-{name}.pcap").write_bytes(b"".join(parts))
