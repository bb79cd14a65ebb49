# ruff: noqa: ARG005 (each encapsulation uses some of its arguments)
"""One TCP connection in each encapsulation that the analysis reads, as frames of one pcapng file."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

__all__ = ["CASES", "Case", "write"]

ACK, SYN, FIN, PSH = 16, 2, 1, 8
MAC = bytes.fromhex("00000c00000200000c000001")
SNAP = b"\xaa\xaa\x03\x00\x00\x00"
Frame = Callable[[bytes, int], bytes]
"""Makes a frame of an IP datagram; the number of the case tells its addresses from those of the others."""

ETHERNET, TOKEN_RING, PPP, FDDI, RAW, ATM, CHDLC, WLAN, FRELAY, LOOP, ENC, SLL, PFLOG, PRISM, RADIOTAP, AVS = (
    1, 6, 9, 10, 101, 100, 104, 105, 107, 108, 109, 113, 117, 119, 127, 163)  # fmt: skip
JUNIPER_ETHER, JUNIPER_PPP, JUNIPER_FRELAY, JUNIPER_CHDLC, PPI, IPNET, NFLOG, IPOIB, UPPER_PDU, PKTAP, SLL2 = (
    178, 179, 180, 181, 192, 226, 239, 242, 252, 258, 276)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """An encapsulation: its link type, how a frame is made, and the version of the inner IP."""

    link: int
    frame: Frame
    version: int = 4


def segments() -> Iterator[tuple[float, bool, int, int, int, int, int]]:
    """Yield time, true if from the client, seq, ack, flags, window, payload: every label's cause but reused ports."""
    yield 0.0, True, 1000, 0, SYN, 1000, 0
    yield 0.020, False, 5000, 1001, SYN | ACK, 1000, 0
    yield 0.021, True, 1001, 5001, ACK, 1000, 0
    for n in range(6):
        yield 0.03 + n / 1e4, True, 1001 + 100 * n, 5001, ACK | PSH, 1000, 100
    # 1101 is repeated after duplicate ACKs, soon enough for a fast retransmission.
    yield 0.05, False, 5001, 1101, ACK, 1000, 0
    for n in range(3):
        yield 0.0501 + n / 1e4, False, 5001, 1101, ACK, 1000, 0
    yield 0.051, True, 1101, 5001, ACK, 1000, 100
    yield 0.071, False, 5001, 1601, ACK, 1000, 0
    yield 0.3, True, 1501, 5001, ACK, 1000, 100
    # A segment that was not captured, and an ACK of another one.
    yield 0.31, True, 1801, 5001, ACK, 1000, 100
    yield 0.312, True, 1701, 5001, ACK, 1000, 100
    yield 0.33, False, 5001, 2901, ACK, 0, 0
    yield 0.6, True, 2900, 5001, ACK, 1000, 0
    yield 0.62, False, 5001, 2901, ACK, 0, 0
    yield 0.7, False, 5001, 2901, ACK, 900, 0
    yield 0.8, True, 2901, 5001, FIN | ACK, 1000, 0
    yield 0.82, False, 5001, 2902, FIN | ACK, 900, 0
    yield 0.821, True, 2902, 5002, ACK, 1000, 0


def ipv4(source: int, target: int, protocol: int, payload: bytes) -> bytes:
    head = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0, source, target)
    return head + payload


def ipv6(source: int, target: int, protocol: int, payload: bytes) -> bytes:
    head = struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64)
    return head + IPv6Address(source).packed + IPv6Address(target).packed + payload


def inner(n: int, version: int, segment: tuple[float, bool, int, int, int, int, int]) -> bytes:
    """Make the datagram of a segment of case ``n``."""
    _, client, seq, ack, flags, window, payload = segment
    ports = (40_000 + n, 5201) if client else (5201, 40_000 + n)
    tcp = struct.pack("!HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, window, 0, 0) + bytes(payload)
    low = int(IPv4Address("10.1.0.0")) + n if version == 4 else (0x20010DB8 << 96) + n
    ends = (low, low + (1 << 16))
    made = ipv4 if version == 4 else ipv6
    return made(*(ends if client else ends[::-1]), 6, tcp)


def kind(datagram: bytes) -> bytes:
    """Return the EtherType of a datagram."""
    return b"\x08\x00" if datagram[0] >> 4 == 4 else b"\x86\xdd"


def eth(datagram: bytes, tag: bytes = b"") -> bytes:
    return MAC + tag + kind(datagram) + datagram


def over_ip(protocol: int, header: bytes = b"", frame: Callable[[bytes], bytes] = lambda d: d) -> Frame:
    """Put a header of IP protocol ``protocol`` before the inner frame, in IPv4 over Ethernet."""

    def made(datagram: bytes, n: int) -> bytes:
        return eth(ipv4(0xC0A80000 + n, 0xC0A90000 + n, protocol, header + frame(datagram)))

    return made


def over_udp(port: int, header: Callable[[bytes], bytes], frame: Callable[[bytes], bytes] = eth) -> Frame:
    """Put a header of UDP port ``port`` before the inner frame, in IPv4 over Ethernet."""

    def made(datagram: bytes, n: int) -> bytes:
        payload = header(datagram) + frame(datagram)
        udp = struct.pack("!HHHH", 50_000 + n, port, 8 + len(payload), 0) + payload
        return eth(ipv4(0xC0A80000 + n, 0xC0A90000 + n, 17, udp))

    return made


def gre(flags: int, protocol: int | None, options: bytes = b"", frame: Callable[[bytes], bytes] = lambda d: d) -> Frame:
    def made(datagram: bytes, n: int) -> bytes:
        inside = int.from_bytes(kind(datagram), "big") if protocol is None else protocol
        return over_ip(47, struct.pack("!HH", flags, inside) + options, frame)(datagram, n)

    return made


def tagged(ethertype: int, header: bytes, frame: Callable[[bytes], bytes] = lambda d: kind(d) + d) -> Frame:
    """Put a tag between the addresses and the inner frame."""
    return lambda datagram, n: MAC + struct.pack("!H", ethertype) + header + frame(datagram)


def linked(header: bytes | Callable[[bytes], bytes], frame: Callable[[bytes], bytes] = lambda d: d) -> Frame:
    """Put the header of a link type before the inner frame."""
    return lambda datagram, n: (header(datagram) if callable(header) else header) + frame(datagram)


def plain(datagram: bytes) -> bytes:
    return datagram


def llc(datagram: bytes) -> bytes:
    return SNAP + kind(datagram) + datagram


def wlan(datagram: bytes) -> bytes:
    return bytes([0x08, 0x01, 0, 0]) + MAC[:6] + MAC[6:] + MAC[:6] + bytes(2) + llc(datagram)


def ppp(datagram: bytes) -> bytes:
    return (b"\x00\x21" if datagram[0] >> 4 == 4 else b"\x00\x57") + datagram


def mpls(datagram: bytes) -> bytes:
    return b"\x00\x01\x11\x40" + datagram


def nsh(datagram: bytes) -> bytes:
    return struct.pack("!HBBI", 0x0FC6, 1, 1, 7 << 8) + bytes(16) + datagram


def nflog(datagram: bytes) -> bytes:
    prefix = struct.pack("<HH", 5, 10) + b"\x00" + bytes(3)
    return b"\x02\x00\x00\x00" + prefix + struct.pack("<HH", 4 + len(datagram), 9) + datagram


def exported(name: bytes) -> bytes:
    name += bytes(-len(name) % 4)
    return struct.pack("!HH", 12, len(name)) + name + bytes(4)


def juniper(flags: int) -> bytes:
    return b"MGC" + bytes([flags])


def routing(header: bytes) -> Frame:
    """Put a routing header with one segment left into the inner datagram; the next address is another one."""

    def made(datagram: bytes, n: int) -> bytes:
        final = datagram[24:40]
        nexthop = IPv6Address((0x20010DB8FFFF << 80) + n).packed
        whole = header.replace(b"FINAL", final).replace(b"NEXT", nexthop)
        head = datagram[:4] + struct.pack("!HB", len(datagram) - 40 + len(whole), 43) + datagram[7:24] + nexthop
        return eth(head + whole + datagram[40:])

    return made


VXLAN = bytes([8, 0, 0, 0, 0, 0, 7, 0])
ERSPAN2 = bytes.fromhex("00000001") + bytes.fromhex("1001000100000000")
ERSPAN3 = bytes.fromhex("00000001") + bytes.fromhex("200100010000000000000000")

CASES: dict[str, Case] = {
    "vxlan": Case(ETHERNET, over_udp(4789, lambda d: VXLAN)),
    "vxlan-vlan": Case(ETHERNET, over_udp(4789, lambda d: VXLAN, lambda d: eth(d, b"\x81\x00\x00\x05"))),
    "vxlan-ipv6": Case(ETHERNET, over_udp(4789, lambda d: VXLAN), 6),
    "vxlan-gpe-ip": Case(ETHERNET, over_udp(4790, lambda d: b"\x0c\x00\x00\x01\x00\x00\x07\x00", plain)),
    "vxlan-gpe-ipv6": Case(ETHERNET, over_udp(4790, lambda d: b"\x0c\x00\x00\x02\x00\x00\x07\x00", plain), 6),
    "vxlan-gpe-ethernet": Case(ETHERNET, over_udp(4790, lambda d: b"\x0c\x00\x00\x03\x00\x00\x07\x00")),
    "vxlan-gpe-nsh": Case(ETHERNET, over_udp(4790, lambda d: b"\x0c\x00\x00\x04\x00\x00\x07\x00", nsh)),
    "vxlan-gpe-mpls": Case(ETHERNET, over_udp(4790, lambda d: b"\x0c\x00\x00\x05\x00\x00\x07\x00", mpls)),
    "geneve": Case(ETHERNET, over_udp(6081, lambda d: b"\x00\x00\x65\x58\x00\x00\x07\x00")),
    "geneve-options": Case(
        ETHERNET, over_udp(6081, lambda d: b"\x02\x00\x65\x58\x00\x00\x07\x00" + b"\x01\x02\x03\x01abcd")
    ),
    "geneve-ip": Case(ETHERNET, over_udp(6081, lambda d: b"\x00\x00" + kind(d) + b"\x00\x00\x07\x00", plain)),
    "gtp-u": Case(ETHERNET, over_udp(2152, lambda d: struct.pack("!BBHI", 0x30, 255, len(d), 9), plain)),
    "gtp-u-sequence": Case(
        ETHERNET, over_udp(2152, lambda d: struct.pack("!BBHIHBB", 0x32, 255, len(d) + 4, 9, 1, 0, 0), plain)
    ),
    "gtp-u-extension": Case(
        ETHERNET,
        over_udp(
            2152, lambda d: struct.pack("!BBHIHBB", 0x34, 255, len(d) + 8, 9, 0, 0, 0x85) + b"\x01\x10\x09\x00", plain
        ),
    ),
    "gtp-u-ipv6": Case(ETHERNET, over_udp(2152, lambda d: struct.pack("!BBHI", 0x30, 255, len(d), 9), plain), 6),
    "l2tp": Case(ETHERNET, over_udp(1701, lambda d: struct.pack("!HHH", 2, 7, 8) + b"\xff\x03", ppp)),
    "l2tp-length": Case(
        ETHERNET, over_udp(1701, lambda d: struct.pack("!HHHH", 0x4002, 12 + len(d), 7, 8) + b"\xff\x03", ppp)
    ),
    "lisp": Case(ETHERNET, over_udp(4341, lambda d: bytes(8), plain)),
    "lisp-ipv6": Case(ETHERNET, over_udp(4341, lambda d: bytes(8), plain), 6),
    "mpls-in-udp": Case(ETHERNET, over_udp(6635, lambda d: b"", mpls)),
    "gre-in-udp": Case(ETHERNET, over_udp(4754, lambda d: b"\x00\x00" + kind(d), plain)),
    "teredo": Case(ETHERNET, over_udp(3544, lambda d: b"", plain), 6),
    "teredo-origin": Case(ETHERNET, over_udp(3544, lambda d: bytes(2) + b"\xfe\xfe\x01\x02\x03\x04", plain), 6),
    "tzsp-ethernet": Case(ETHERNET, over_udp(37008, lambda d: b"\x01\x00\x00\x01\x0a\x01\x05\x01")),
    "tzsp-wlan": Case(ETHERNET, over_udp(37008, lambda d: b"\x01\x00\x00\x12\x01", wlan)),
    "gre": Case(ETHERNET, gre(0, None)),
    "gre-ipv6": Case(ETHERNET, gre(0, None), 6),
    "gre-key-sequence": Case(ETHERNET, gre(0x3000, None, bytes(8))),
    "gre-checksum": Case(ETHERNET, gre(0x8000, None, bytes(4))),
    "gre-ethernet": Case(ETHERNET, gre(0, 0x6558, b"", eth)),
    "gre-mpls": Case(ETHERNET, gre(0, 0x8847, b"", mpls)),
    "gre-pptp": Case(ETHERNET, gre(0x3001, 0x880B, bytes(8), lambda d: b"\xff\x03" + ppp(d))),
    "gre-wlan-8200": Case(ETHERNET, gre(0, 0x8200, b"", wlan)),
    "gre-wlan-8370": Case(ETHERNET, gre(0, 0x8370, b"", wlan)),
    "gre-frame-relay": Case(ETHERNET, gre(0, 0x6559, b"\x18\x41\x03\xcc")),
    "gre-wccp": Case(ETHERNET, gre(0, 0x883E, bytes(4))),
    "gre-nsh": Case(ETHERNET, gre(0, 0x894F, b"", nsh)),
    "erspan-1": Case(ETHERNET, gre(0, 0x88BE, b"", eth)),
    "erspan-2": Case(ETHERNET, gre(0x1000, 0x88BE, ERSPAN2, eth)),
    "erspan-3": Case(ETHERNET, gre(0x1000, 0x22EB, ERSPAN3, eth)),
    "ip-in-ip": Case(ETHERNET, over_ip(4)),
    "6in4": Case(ETHERNET, over_ip(41), 6),
    "etherip": Case(ETHERNET, over_ip(97, b"\x30\x00", eth)),
    "ethernet-in-ip": Case(ETHERNET, over_ip(143, b"", eth)),
    "mpls-in-ip": Case(ETHERNET, over_ip(137, b"", mpls)),
    "ipv6-in-ipv6": Case(ETHERNET, lambda d, n: eth(ipv6(77 + n, 99 + n, 41, d)), 6),
    "segment-routing": Case(ETHERNET, routing(b"\x06\x04\x04\x01\x01\x00\x00\x00FINALNEXT"), 6),
    "source-route": Case(ETHERNET, routing(b"\x06\x02\x00\x01" + bytes(4) + b"FINAL"), 6),
    "nsh": Case(ETHERNET, tagged(0x894F, b"", nsh)),
    "pbb": Case(ETHERNET, tagged(0x88E7, b"\x00\x00\x00\x07", eth)),
    "vn-tag": Case(ETHERNET, tagged(0x8926, b"\x00\x01\x00\x02")),
    "e-tag": Case(ETHERNET, tagged(0x893F, bytes(6))),
    "trill": Case(ETHERNET, tagged(0x22F3, b"\x00\x05\x00\x01\x00\x02", eth)),
    "hsr": Case(ETHERNET, lambda d, n: MAC + b"\x89\x2f" + struct.pack("!HH", len(d) + 6, n) + kind(d) + d),
    "prp": Case(ETHERNET, lambda d, n: eth(d) + struct.pack("!HHH", n, 0xA000 | (len(d) + 6), 0x88FB)),
    "batman": Case(ETHERNET, tagged(0x4305, b"\x40\x0f\x32\x01" + MAC[:6], eth)),
    "batman-broadcast": Case(ETHERNET, tagged(0x4305, b"\x01\x0f\x32\x00\x00\x00\x00\x01" + MAC[:6], eth)),
    "cisco-metadata": Case(ETHERNET, tagged(0x8909, b"\x01\x01\x00\x01\x00\x07")),
    "macsec-integrity": Case(
        ETHERNET, lambda d, n: MAC + b"\x88\xe5\x00\x00\x00\x00\x00\x01" + kind(d) + d + bytes(16)
    ),
    "mpls-pseudowire": Case(ETHERNET, tagged(0x8847, b"\x00\x01\x11\x40\x00\x00\x00\x00", eth)),
    "qinq": Case(ETHERNET, tagged(0x88A8, b"\x00\x05\x81\x00\x00\x06")),
    "pppoe": Case(ETHERNET, lambda d, n: MAC + b"\x88\x64\x11\x00\x00\x01" + struct.pack("!H", len(d) + 2) + ppp(d)),
    "ieee-802.3": Case(ETHERNET, lambda d, n: MAC + struct.pack("!H", len(d) + 8) + llc(d)),
    "nflog": Case(NFLOG, linked(b"", nflog)),
    "pktap": Case(PKTAP, linked(struct.pack("<III", 108, 1, 1) + bytes(96), eth)),
    "ppi": Case(PPI, linked(struct.pack("<BBHI", 0, 0, 8, 1), eth)),
    "ipoib": Case(IPOIB, linked(lambda d: bytes(40) + kind(d) + bytes(2))),
    "enc": Case(ENC, linked(struct.pack("<III", 2, 1, 0))),
    "frame-relay": Case(FRELAY, linked(b"\x18\x41\x03\xcc")),
    "frame-relay-cisco": Case(FRELAY, linked(lambda d: b"\x18\x41" + kind(d))),
    "frame-relay-snap": Case(FRELAY, linked(lambda d: b"\x18\x41\x03\x00\x80\x00\x00\x00" + kind(d))),
    "fddi": Case(FDDI, linked(b"\x50" + MAC, llc)),
    "token-ring": Case(TOKEN_RING, linked(b"\x10\x40" + MAC, llc)),
    "atm-rfc1483": Case(ATM, linked(b"", llc)),
    "atm-bridged": Case(ATM, linked(b"\xaa\xaa\x03\x00\x80\xc2\x00\x07\x00\x00", eth)),
    "prism": Case(PRISM, linked(struct.pack("<II", 0x44, 144) + bytes(136), wlan)),
    "avs": Case(AVS, linked(struct.pack("!II", 0x80211001, 64) + bytes(56), wlan)),
    "ipnet": Case(IPNET, linked(lambda d: b"\x01\x02\x00\x00" + struct.pack("!I", len(d)) + bytes(16))),
    "juniper-ethernet": Case(JUNIPER_ETHER, linked(juniper(1), eth)),
    "juniper-ppp": Case(JUNIPER_PPP, linked(juniper(1) + b"\xff\x03", ppp)),
    "exported-ip": Case(UPPER_PDU, linked(exported(b"ip"))),
    "exported-ethernet": Case(UPPER_PDU, linked(exported(b"eth_withoutfcs"), eth)),
    "pflog": Case(PFLOG, linked(bytes([61, 2]) + bytes(62))),
}
"""Every encapsulation."""


def block(kind_: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    whole = 12 + len(body)
    return struct.pack("<II", kind_, whole) + body + struct.pack("<I", whole)


def write(path: Path, cases: dict[str, Case]) -> dict[str, range]:
    """Write a pcapng file with an interface for each case; return the numbers of each case's frames."""
    parts = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    parts += [block(1, struct.pack("<HHI", case.link, 0, 0)) for case in cases.values()]
    frames: dict[str, range] = {}
    number = 1
    for n, (name, case) in enumerate(cases.items()):
        first = number
        for segment in segments():
            data = case.frame(inner(n, case.version, segment), n)
            when = 1_700_000_000_000_000 + n * 10_000_000 + round(segment[0] * 1e6)
            head = struct.pack("<IIIII", n, when >> 32, when & 0xFFFFFFFF, len(data), len(data))
            parts.append(block(6, head + data))
            number += 1
        frames[name] = range(first, number)
    path.write_bytes(b"".join(parts))
    return frames
