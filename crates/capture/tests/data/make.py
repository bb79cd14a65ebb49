"""Makes the captures of this folder: one frame for each case of a format, link layer or header.

    python make.py      writes them beside this file

The cases are those in which readers of captures differ. `tests/captures/stored.rs` compares the results with the files in
`expected` and, where Wireshark is installed, with its tools.
"""

import gzip
import random
import struct
from pathlib import Path

HERE = Path(__file__).parent
SECOND = 1_700_000_000
NOW = SECOND * 10**6


# ---------------------------------------------------------------------------------------------------------- packets
def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip4(body, protocol=6, total=None, ident=1, frag=0, options=b"", bad=False, src=1):
    head = 20 + len(options)
    total = head + len(body) if total is None else total
    fields = (0x40 | head // 4, 0, total, ident, frag, 64, protocol, 0, bytes([10, 0, 0, src]), bytes([10, 0, 0, 2]))
    header = struct.pack(">BBHHHBBH4s4s", *fields) + options
    return header[:10] + struct.pack(">H", checksum(header) ^ bad) + header[12:] + body


def ip6(body, following=6, length=None):
    length = len(body) if length is None else length
    return struct.pack(">IHBB", 0x60000000, length, following, 64) + bytes(15) + b"\1" + bytes(15) + b"\2" + body


def tcp(sport=1000, dport=2000, flags=0x18, options=b"", payload=b"hello", words=None):
    options += b"\1" * (-len(options) % 4)
    words = (20 + len(options)) // 4 if words is None else words
    return struct.pack(">HHIIBBHHH", sport, dport, 100, 200, words << 4, flags, 500, 0, 0) + options + payload


def udp(payload, sport=1000, dport=2000):
    return struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload


def ethernet(kind, body):
    return MACS + struct.pack(">H", kind) + body


def sack(count):
    return b"\1\1\5" + bytes([2 + 8 * count]) + struct.pack(f">{2 * count}I", *range(2 * count))


MACS = bytes.fromhex("020000000001020000000002")
TIMES = b"\1\1\x08\x0a" + struct.pack(">II", 7, 9)
SNAP = b"\xaa\xaa\x03\0\0\0"
V4, V6 = ip4(tcp(options=TIMES)), ip6(tcp(options=TIMES))
SYN = ethernet(0x800, ip4(tcp(flags=2, payload=b"")))


# ------------------------------------------------------------------------------------------------------------- pcap
def header(link=1, magic=0xA1B2C3D4, version=(2, 4), snaplen=65535, order="<"):
    return struct.pack(order + "IHHiIII", magic, *version, 0, 0, snaplen, link)


def record(fraction, data, captured=None, length=None, order="<"):
    captured = len(data) if captured is None else captured
    length = len(data) if length is None else length
    return struct.pack(order + "IIII", SECOND, fraction, captured, length) + data


def save(name, data):
    (HERE / name).write_bytes(data)


def pcap(name, link, frames):
    """Frames a millisecond apart; a pair is a frame and its length on the wire."""
    data = header(link)
    for i, frame in enumerate(frames):
        frame, length = frame if isinstance(frame, tuple) else (frame, None)
        data += record(1000 * i, frame, length=length)
    save(f"{name}.pcap", data)


# ----------------------------------------------------------------------------------------------------------- pcapng
def block(kind, body, order="<", total=None, tail=None):
    body += b"\0" * (-len(body) % 4)
    size = len(body) + 12
    total, tail = size if total is None else total, size if tail is None else tail
    return struct.pack(order + "II", kind, total) + body + struct.pack(order + "I", tail)


def option(code, value, order="<"):
    return struct.pack(order + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def section(options=b"", order="<"):
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1) + options, order)


def interface(link=1, snaplen=0, options=b"", order="<"):
    return block(1, struct.pack(order + "HHI", link, 0, snaplen) + options, order)


def frame(number, time, data, length=None, options=b"", order="<", captured=None, **how):
    sizes = len(data) if captured is None else captured, len(data) if length is None else length
    body = struct.pack(order + "IIIII", number, time >> 32, time & 0xFFFFFFFF, *sizes)
    return block(6, body + data + b"\0" * (-len(data) % 4) + options, order, **how)


def statistics(number, options=b""):
    return block(5, struct.pack("<III", number, NOW >> 32, NOW & 0xFFFFFFFF) + options)


def resolution(value):
    return interface(options=option(9, bytes([value])))


# ------------------------------------------------------------------------------------------------------ link layers
def labels(*numbers):
    return b"".join(
        struct.pack(">I", n << 12 | (0x100 if i == len(numbers) - 1 else 0) | 64) for i, n in enumerate(numbers)
    )


def pppoe(body, code=0):
    return struct.pack(">BBHH", 0x11, code, 1, len(body)) + body


def links():
    llc = SNAP + b"\x08\0" + V4
    pcap(
        "link-ethernet",
        1,
        [
            ethernet(0x800, V4),
            ethernet(0x86DD, V6),
            MACS + b"\x81\0\0\5\x08\0" + V4,
            MACS + b"\x88\xa8\0\5\x81\0\0\7\x08\0" + V4,
            MACS + b"\x91\0\0\5\x81\0\0\7\x86\xdd" + V6,
            MACS + b"\x92\0\0\5\x81\0\0\7\x86\xdd" + V6,
            ethernet(0x806, bytes(28)),
            ethernet(len(llc), llc),
            ethernet(3 + len(V4), b"\x06\x06\x03" + V4),
            ethernet(len(llc), SNAP[:5] + b"\xf8\x08\0" + V4),
            ethernet(len(llc) - 10, llc),
            ethernet(0x8847, labels(100) + V4),
            ethernet(0x8847, labels(100, 5) + V6),
            ethernet(0x8848, labels(100) + V4),
            ethernet(0x8864, pppoe(b"\0\x21" + V4)),
            ethernet(0x8864, pppoe(b"\x57" + V6)),
            ethernet(0x8863, pppoe(b"", 9)),
            ethernet(0x8864, pppoe(b"\0\x21" + V4, 0x40)),
            ethernet(0x800, V4 + bytes(6)),
            ethernet(0x800, V6),
            ethernet(0x86DD, V4),
            ethernet(0x6558, ethernet(0x800, V4)),
            ethernet(0x8100, b"\0\5" + struct.pack(">H", len(llc)) + llc),
        ],
    )
    families = (10, 23, 24, 28, 30)
    odd = [b"\0\0\x08\0" + V4, b"\0\x08\0\0" + V4, b"\x86\xdd\0\0" + V6, b"\0\0\x86\xdd" + V6, b"\7\0\0\0" + V4]
    odd += [b"\0\2\0\0" + V4, b"\0\0\2\0" + V4, b"\xdd\x86\0\0" + V6, b"\xff\3\0\x21" + V4]
    both = [b"\2\0\0\0" + V4, b"\0\0\0\2" + V4] + [bytes([0, 0, 0, k]) + V6 for k in families]
    pcap("link-null", 0, both + [bytes([k, 0, 0, 0]) + V6 for k in families] + odd)
    pcap("link-loop", 108, both + odd[:1])
    for link in (12, 14, 101):
        pcap(f"link-raw-{link}", link, [V4, V6, b"\x50" + V4[1:], V4[:20]])
    pcap("link-ipv4", 228, [V4, V6])
    pcap("link-ipv6", 229, [V6, V4])
    cooked = lambda kind, body, hardware=1: struct.pack(">HHH8sH", 0, hardware, 6, bytes(8), kind) + body  # noqa: E731
    kinds = [(0x800, V4), (0x86DD, V6), (4, llc), (1, V4), (0x8100, b"\0\5\x08\0" + V4), (0x800, V4, 772)]
    kinds += [(0x800, V4, 65534), (0x800, V4, 824), (0x8847, labels(100) + V4), (0x806, bytes(28)), (0x800, V4, 512)]
    pcap("link-sll", 113, [cooked(*kind) for kind in kinds])
    cooked2 = lambda kind, body, hardware=1: struct.pack(">HHIHBB8s", kind, 0, 3, hardware, 0, 6, bytes(8)) + body  # noqa: E731
    pcap("link-sll2", 276, [cooked2(*kind) for kind in kinds if kind[0] != 1])
    ppp = [b"\xff\3\0\x21" + V4, b"\0\x21" + V4, b"\x21" + V4, b"\xff\3\0\x57" + V6, b"\xff\3\x57" + V6]
    ppp += [b"\xff\x43\0\x21" + V4, b"\xff\3\xc0\x21" + bytes(8), b"\0\x2d" + V4, b"\xff\3\2\x81" + labels(100) + V4]
    pcap("link-ppp", 9, ppp)
    pcap("link-ppp-hdlc", 50, ppp)
    pcap("link-ppp-with-direction", 204, [b"\1" + each for each in ppp])
    pcap("link-pppoe", 51, [pppoe(b"\0\x21" + V4)])
    hdlc = [b"\x0f\0\x08\0" + V4, b"\x8f\0\x86\xdd" + V6, b"\x0f\0\x80\x35" + bytes(14)]
    pcap("link-cisco-hdlc", 104, hdlc)


def wireless():
    def data(first, second, body, extra=b""):
        return bytes([first, second, 0, 0]) + bytes(6) + MACS + bytes(2) + extra + body

    def radiotap(body, flags=None, clock=False):
        fields = (bytes(8) if clock else b"") + (bytes([flags]) if flags is not None else b"")
        present = clock | (2 if flags is not None else 0)
        return struct.pack("<BBHI", 0, 0, 8 + len(fields), present) + fields + body

    four, six = SNAP + b"\x08\0" + V4, SNAP + b"\x86\xdd" + V6
    one = MACS + struct.pack(">H", len(four)) + four
    frames = [
        data(8, 1, four),
        data(8, 2, six),
        data(8, 3, four, bytes(6)),
        data(0x88, 1, four, bytes(2)),
        data(0x88, 3, four, bytes(8)),
        data(0x88, 0x81, four, bytes(6)),
        data(8, 0x41, four),
        data(0x48, 1, b""),
        data(0x80, 0, bytes(20)),
        data(0xC8, 1, b"", bytes(2)),
        data(8, 0, four),
        data(8, 9, four),
        data(10, 1, four),
        data(0xD4, 0, b"")[:10],
        data(0x88, 1, one, b"\x80\0"),
    ]
    pcap("link-wlan", 105, frames)
    two_words = struct.pack("<BBHII", 0, 0, 25, 0x80000003, 0) + bytes(12) + b"\x10"
    tapped = [radiotap(f) for f in frames] + [radiotap(f + b"fcs!", 0x10, True) for f in frames]
    tapped += [radiotap(data(0x88, 1, bytes(2) + four, bytes(2)), 0x20), two_words + frames[0] + b"fcs!"]
    pcap("link-radiotap", 127, [*tapped, radiotap(frames[0], 0x40)])
    ppi = [(105, frames[0]), (1, ethernet(0x800, V4)), (101, V4)]
    pcap("link-ppi", 192, [struct.pack("<BBHI", 0, 0, 8, link) + body for link, body in ppi])


# --------------------------------------------------------------------------------------------------- network layers
def fragment_header(following, offset, more, ident):
    return struct.pack(">BBHI", following, 0, offset | more, ident)


def headers():
    body = tcp(options=TIMES, payload=b"x" * 100)

    def hop(following, units=0):
        return bytes([following, units]) + b"\1\4\0\0\0\0" + bytes(8 * units)

    authentication = struct.pack(">BBHI", 6, 4, 0, 1) + bytes(16)
    plain8 = bytes([6, 0]) + bytes(6)
    big = tcp(options=TIMES, payload=b"x" * 70_000)
    jumbo = b"\6\0\xc2\4" + struct.pack(">I", 8 + len(big))
    pcap(
        "ipv6",
        101,
        [
            ip6(hop(6) + body, 0),
            ip6(hop(60) + hop(6, 1) + body, 0),
            ip6(bytes([6, 2, 0, 1]) + bytes(20) + body, 43),
            ip6(authentication + body, 51),
            ip6(fragment_header(6, 0, 0, 77) + body, 44),
            ip6(hop(59), 0),
            ip6(hop(135) + plain8 + body, 0),
            ip6(plain8 + body, 139),
            ip6(plain8 + body, 140),
            ip6(body, length=0),
            ip6(body, length=len(body) + 50),
            ip6(body, length=len(body) - 50),
            (ip6(jumbo + big, 0, 0)[:200], 48 + len(big)),
            (ip6(jumbo + big, 0, 0)[:200], 48 + len(big) - 1000),
        ],
    )
    pcap(
        "ipv4",
        101,
        [
            ip4(authentication + body, 51),
            ip4(body, options=b"\x94\4\0\0"),
            ip4(body, total=0),
            ip4(body, total=10),
            ip4(body, total=2000),
            ip4(body, bad=True),
            ip4(body, frag=0x4000),
            ip4(body, frag=0x8000),
        ],
    )
    options = [b"", b"\2\4\5\xb4", b"\2\4\5\xb4\4\2\x08\x0a" + bytes(8) + b"\1\3\3\7", b"\3\3\x0f\0", b"\2\3\5"]
    options += [sack(n) for n in (1, 2, 3, 4)] + [TIMES + sack(3), b"\5\x0b" + bytes(8) + b"\1"]
    options += [
        b"\x1e\x0c\0\x81" + bytes(8),
        b"\x08\x0b" + bytes(10),
        b"\0\2\4\5\xb4",
        b"\x45\0\2\4",
        b"\x08\x0a" + bytes(4),
    ]
    pcap("tcp-options", 101, [ip4(tcp(options=o)) for o in options] + [ip4(tcp(words=15))])
    pcap("tcp-header-length", 101, [ip4(tcp(words=n)) for n in (0, 4)])
    whole = ip4(tcp(options=TIMES, payload=b"x" * 100))
    super_packet = ip4(tcp(options=TIMES, payload=b"x" * 3000), total=0)
    cuts = [(whole[:n], len(whole)) for n in (16, 20, 36, 37, 38, 39, 40, 41, 43, 44, 52, 53, 100)]
    pcap("cut", 101, [*cuts, (super_packet[:60], len(super_packet)), (ip6(body)[:50], 40 + len(body))])


def fragments():
    body = tcp(options=TIMES, payload=b"y" * 100)
    thirds = [(0, 48), (48, 48), (96, len(body) - 96)]

    def four(parts, ident, **how):
        return [
            ip4(body[o : o + n], ident=ident, frag=o // 8 | 0x2000 * (o + n < len(body)), **how) for o, n in parts
        ]

    def six(parts, ident):
        return [ip6(fragment_header(6, o, o + n < len(body), ident) + body[o : o + n], 44) for o, n in parts]

    datagram = udp(b"z" * 2000)
    halves = [
        ip4(datagram[o : o + 1000], 17, ident=900, frag=o // 8 | 0x2000 * (o + 1000 < len(datagram)))
        for o in range(0, len(datagram), 1000)
    ]
    frames = four(thirds, 1) + four(thirds, 2)[::-1] + four([(0, 48), (40, 56), thirds[2]], 3)
    frames += [f for f in four(thirds, 4) for _ in range(2)] + four(thirds, 5)[:2] + four(thirds, 6, bad=True)
    frames += four([(0, 8), (8, len(body) - 8)], 7) + six(thirds, 10) + six(thirds, 11)[::-1] + six(thirds, 12)[:1]
    frames += six(thirds, 13)[1:] + halves + [(f[:60], len(f)) for f in four(thirds, 14)] + four(thirds, 15)[1:]
    frames += four(thirds, 16) + [ip4(b"", ident=19, frag=0x2000)] + four([(0, 120), (48, len(body) - 48)], 20)
    frames += [ip4(body[:48], ident=21, frag=0x2000, total=0), ip4(body[48:], ident=21, frag=6, total=0)]
    frames += [(ip4(body[:48], ident=22, frag=0x2000, total=0)[:60], 500)]
    pcap("fragments", 101, frames)


def quotes():
    def message4(kind, inside):
        return ip4(struct.pack(">BBHI", kind, 1, 0, 0) + inside, 1, src=9)

    def message6(kind, inside):
        return ip6(struct.pack(">BBHI", kind, 1, 0, 0) + inside, 58)

    segment = tcp(7777, 80, options=TIMES, payload=b"quoted")
    four, six = ip4(segment), ip6(segment)
    frames = [message4(kind, four) for kind in (3, 4, 5, 8, 11, 12)] + [
        message6(kind, six) for kind in (1, 2, 3, 4, 128)
    ]
    frames += [message4(3, four[:n]) for n in (28, 34, 36, 39)]
    frames += [
        message4(3, ip4(udp(b"u"), 17)),
        message4(3, ip4(segment, frag=5)),
        message4(3, ip4(segment, frag=0x2000)),
    ]
    pcap("icmp", 101, [*frames, message4(3, ip4(segment, frag=0x2000)[:48])])


def tunnels():
    def gre(kind, body, flags=0, extra=b""):
        return ip4(struct.pack(">HH", flags, kind) + extra + body, 47)

    def vxlan(body):
        return udp(struct.pack(">II", 0x08000000, 5 << 8) + body, 50_000, 4789)

    four = ethernet(0x800, V4)
    mirrored = [(0x88BE, b"\x10" + bytes(7) + four, 0x1000, bytes(4)), (0x88BE, four)]
    mirrored += [(0x22EB, b"\x20" + bytes(11) + four, 0x1000, bytes(4))]
    calls = [(0x880B, b"\xff\3\0\x21" + V4, 0x3001, struct.pack(">HHI", len(V4) + 4, 5, 1))]
    calls += [(0x880B, b"\0\x21" + V4, 0x3081, struct.pack(">HHII", len(V4) + 2, 5, 1, 2))]
    kinds = [(0x800, V4), (0x86DD, V6), (0x6558, four), (0x800, V4, 0x2000, bytes(4)), (0x800, V4, 0xB000, bytes(12))]
    frames = [gre(*kind) for kind in [*kinds, *mirrored, *calls, (0x8847, labels(100) + V4)]]
    frames += [ip4(V4, 4), ip4(V6, 41), ip6(V4, 4), ip6(V6, 41), ip4(ip4(ip4(V4, 4), 4), 4)]
    frames += [ip4(vxlan(four), 17), ip4(vxlan(ethernet(0x86DD, V6)), 17), ip6(vxlan(four), 17)]
    frames += [ip4(vxlan(ethernet(0x800, gre(0x800, V4))), 17)]
    frames += [ip4(vxlan(four), 17, total=0) + bytes(30), ip4(vxlan(four + b"more"), 17, total=0)]
    big = struct.pack(">HH", 0, 0x800) + ip4(tcp(payload=b"g" * 200))
    parts = range(0, len(big), 96)
    frames += [ip4(big[o : o + 96], 47, ident=55, frag=o // 8 | 0x2000 * (o + 96 < len(big))) for o in parts]
    pcap("tunnels", 101, frames)


# ---------------------------------------------------------------------------------------------------------- formats
def formats():
    one, three = record(2, SYN), record(3, SYN, captured=60, length=54)
    save("pcap-big-endian.pcap", header(order=">") + record(5, SYN, order=">"))
    save("pcap-nanoseconds.pcap", header(magic=0xA1B23C4D) + record(2, SYN) + record(3_000_000, SYN) + record(4, SYN))
    save("pcap-big-endian-nanoseconds.pcap", header(magic=0xA1B23C4D, order=">") + record(7, SYN, order=">"))
    save("pcap-version-2.3.pcap", header(version=(2, 3)) + three[:16] + SYN + one)
    save("pcap-version-2.2.pcap", header(version=(2, 2)) + three[:16] + SYN + one)
    save("pcap-frame-check.pcap", header(link=2 << 28 | 0x04000000 | 1) + record(4, SYN + b"abcd"))
    save("pcap-no-snaplen.pcap", header(snaplen=0) + record(4, SYN[:30], length=54) + record(4, SYN[:33], length=54))
    save("pcap-empty.pcap", header())
    save("pcap-captured-more.pcap", header() + record(4, SYN, length=40))
    save("damaged-record-cut.pcap", header() + one + record(3, SYN)[:10])
    save("damaged-frame-cut.pcap", header() + one + record(3, SYN)[:40])
    save("damaged-length.pcap", header() + one * 5 + record(3, SYN, captured=2**31) + one)
    about = section(option(2, b"HW") + option(3, b"OS") + option(4, b"app") + option(1, b"a\nb") + option(1, b"c"))
    full = option(2, b"eth0") + option(3, b"desc") + option(12, b"Linux") + option(11, b"\0tcp port 80")
    full += option(1, b"comment") + option(1, b"another") + option(8, struct.pack("<Q", 10**9)) + option(15, b"card")
    counted = option(4, struct.pack("<Q", 100)) + option(5, struct.pack("<Q", 3))
    plain = section() + interface()
    later = frame(0, NOW + 5, SYN)
    save(
        "ng-described.pcapng",
        about + interface(options=full) + frame(0, NOW, SYN, options=option(1, b"hi")) + statistics(0, counted),
    )
    save(
        "ng-big-endian.pcapng",
        section(order=">") + interface(101, 96, order=">") + frame(0, NOW, SYN[14:], order=">"),
    )
    times = (
        section()
        + b"".join(map(resolution, (9, 0x8A, 12, 0, 0x80, 0x94, 3, 4, 0x83)))
        + interface(options=option(9, b"\x09") + option(14, struct.pack("<q", 10)))
    )
    units = [10**9, 1024, 10**12, 1, 1, 2**20, 1000, 10_000, 8, 10**9]
    save(
        "ng-resolutions.pcapng",
        times + b"".join(frame(i, 10**6 * u + min(u - 1, 7), SYN) for i, u in enumerate(units)),
    )
    offset = interface(options=option(14, struct.pack("<q", -100)))
    save("ng-before-1970.pcapng", section() + offset + frame(0, 1_500_000, SYN) + frame(0, 120_000_000, SYN))
    save("ng-simple.pcapng", section() + interface(snaplen=40) + block(3, struct.pack("<I", 54) + SYN[:40]) + later)
    old = struct.pack("<HHIIII", 0, 7, NOW >> 32, NOW & 0xFFFFFFFF, 54, 54) + SYN
    save("ng-obsolete.pcapng", plain + block(2, old) + later)
    others = block(0x80000001, b"abcd") + block(0x7777, b"abcd") + block(4, bytes(4)) + block(10, b"LSST" + bytes(4))
    save("ng-other-blocks.pcapng", plain + frame(0, NOW, SYN) + others + later)
    save("ng-custom-block.pcapng", plain + frame(0, NOW, SYN) + block(0x40000BAD, b"abcd") + later)
    save(
        "ng-two-links.pcapng",
        section() + interface(1) + interface(101) + frame(0, NOW, SYN) + frame(1, NOW, SYN[14:]),
    )
    save("ng-two-resolutions.pcapng", plain + frame(0, NOW, SYN) + resolution(9) + frame(0, NOW, SYN))
    save("ng-two-sections.pcapng", about + interface(options=full) + frame(0, NOW, SYN) + plain + later)
    save("ng-unknown-statistics.pcapng", plain + frame(0, NOW, SYN) + statistics(3) + later)
    program = option(11, b"\1" + struct.pack("<HBBI", 0x28, 0, 0, 12)) + option(13, b"\4")
    save("ng-filter-program.pcapng", section() + interface(options=program) + frame(0, NOW, SYN + bytes(4)))
    save("ng-empty.pcapng", section())
    save("ng-no-frames.pcapng", plain)
    save("ng-unpadded-length.pcapng", plain + frame(0, NOW, SYN) + block(0x7777, b"abc", total=15, tail=15) + later)
    save("damaged-block-lengths.pcapng", plain + frame(0, NOW, SYN) + frame(0, NOW, SYN, tail=104) + later)
    save("damaged-interface.pcapng", plain + frame(0, NOW, SYN) + frame(3, NOW, SYN) + later)
    save("damaged-captured-length.pcapng", plain + frame(0, NOW, SYN) + frame(0, NOW, SYN, captured=1000) + later)
    save("damaged-no-interface.pcapng", section() + frame(0, NOW, SYN))
    save("damaged-block-cut.pcapng", plain + frame(0, NOW, SYN) + later[:50])
    save("damaged-block-short.pcapng", plain + frame(0, NOW, SYN) + struct.pack("<II", 6, 8) + later)
    many = header() + b"".join(record(1000 * i, SYN) for i in range(200))
    packed = gzip.compress(many, mtime=0)
    save("compressed.pcap.gz", packed)
    save("compressed-twice.pcap.gz", gzip.compress(many[:3000], mtime=0) + gzip.compress(many[3000:], mtime=0))
    save("damaged-compressed.pcap.gz", packed[:-100])


def times():
    """Bursts, gaps, lengths of every range, time stamps that decrease: for the packet-length table."""
    chance = random.Random(1)
    data, clock = header(snaplen=64), 0
    for i in range(1500):
        clock += chance.choice([0, 1, 50, 400, 1500, 6000, 40_000, 150_000])
        back = chance.choice([0] * 20 + [2500, 30_000, 130_000])
        at, size = max(0, clock - back), chance.choice([10, 19, 20, 39, 40, 79, 80, 200, 400, 1000, 1514, 3000, 9000])
        data += struct.pack("<IIII", SECOND + at // 10**6, at % 10**6, min(size, 14), size) + bytes(min(size, 14))
    save("times.pcap", data)


if __name__ == "__main__":
    for make in (links, wireless, headers, fragments, quotes, tunnels, formats, times):
        make()
