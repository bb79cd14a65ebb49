# ruff: noqa: ARG005 (each encapsulation uses some of its arguments)
"""TCP in each encapsulation: connections and labels are tshark's, without options; nothing is left unnamed."""

from __future__ import annotations

import struct
from itertools import cycle
from pathlib import Path

import pytest
from test_tshark import tshark_4_0

import against
from dumbbell import capture
from encapsulations import CASES, Case, gre, ipv4, wlan, write
from required import require_programs

Rows = dict[int, against.Row]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, range], Rows, Rows]:
    require_programs("tshark")
    assert tshark_4_0(), "needs tshark 4.0"
    path = tmp_path_factory.mktemp("encapsulations") / "all.pcapng"
    frames = write(path, CASES)
    ours = against.frames_of_ours(capture.analyze(path, rules="wireshark-4.0"))
    return frames, ours, against.by_tools(path).frames


@pytest.mark.parametrize("name", CASES)
def test_labels_are_tsharks(name: str, compared: tuple[dict[str, range], Rows, Rows]) -> None:
    frames, ours, theirs = compared
    mine, wanted = ({n: rows[n][1:] for n in frames[name] if n in rows} for rows in (ours, theirs))
    # Every frame has a segment, and all are of one connection.
    assert len(wanted) == len(frames[name])
    assert mine == wanted
    assert len({ours[n][0] for n in frames[name]}) == 1
    assert len({label for row in wanted.values() for label in row[0]}) >= 8


def test_every_frame_has_a_name(tmp_path: Path) -> None:
    unread = {
        "esp": Case(1, lambda d, n: CASES["ip-in-ip"].frame(d, n)[:23] + b"\x32" + CASES["ip-in-ip"].frame(d, n)[24:]),
        "macsec": Case(1, lambda d, n: d[:12] + b"\x88\xe5\x0c\x00\x00\x00\x00\x01" + d),
        "udp-in-gre": Case(1, lambda d, n: CASES["gre"].frame(d[:9] + b"\x11" + d[10:24] + b"\x00\x14" + d[26:], n)),
        "aruba": Case(1, gre(0, 0x8201, b"", wlan)),  # Wireshark enters 0x8200 and 0x8210
        "unknown": Case(147, lambda d, n: d),
        "arp": Case(1, lambda d, n: d[:12] + b"\x08\x06" + bytes(28)),
    }
    path = tmp_path / "mixed.pcapng"
    frames = write(path, CASES | unread)
    each = len(frames["esp"])
    for enter in (True, False):
        found = capture.analyze(path, enter_tunnels=enter)
        assert sum(found.contents.values()) == each * (len(CASES) + 6)
        assert found.contents["in ESP not entered"] == each
        assert found.contents["in MACsec not entered"] == each
        assert found.contents["ARP"] == each
        assert not enter or found.contents["in GRE not entered"] == each
        assert not enter or found.contents["UDP"] == each
        assert found.contents["of link type 147 (USER 0)"] == each
        assert (found.contents["TCP"] == each * len(CASES)) is enter
    # The conversations that carry tunnels are listed.
    assert {4789, 6081, 2152} <= set(found.udp["dst_port"].to_list())


def test_code_points_of_datagrams_are_counted(tmp_path: Path) -> None:
    classes = cycle([46 << 2, 0, 10 << 2 | 1, 46 << 2 | 3])

    def datagram(_d: bytes, _n: int) -> bytes:
        plain = ipv4(7, 1, 17, struct.pack("!HHHH", 5000, 6000, 12, 0) + b"data")
        return plain[:1] + bytes([next(classes)]) + plain[2:]

    path = tmp_path / "udp.pcapng"
    frames = write(path, {"udp": Case(101, datagram)})
    number = len(frames["udp"])
    table = capture.analyze(path).udp.filter(direction=0)
    some, rest = divmod(number, 4)
    each = [some + (n < rest) for n in range(4)]
    assert table["packets"].to_list() == [number]
    assert table["dscp"].to_list() == [f"46:{each[0] + each[3]} 10:{each[2]}"]
    assert table.select("ect1", "ect0", "ce").row(0) == (each[2], 0, each[3])
