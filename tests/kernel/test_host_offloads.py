"""Link emulation with offloads: hosts have super-packets, the links between have packets of the MTU."""

from __future__ import annotations

import json
import struct
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captures import blocks
from dumbbell import _core, run
from dumbbell.backends.base import Job
from dumbbell.backends.options import Automatic
from dumbbell.kernel.host.link_emulation import LinkEmulation
from hosts import once, scenario
from kernels import bottleneck, flow

pytestmark = pytest.mark.usefixtures("require_link_emulation")

FAST: dict[str, Any] = {"network__access": {"rate": "1 Gbit/s", "delay": "0 ms"}}


def packets(path: Path) -> list[tuple[int, bytes]]:
    """Return time and content of each packet of a capture: blocks of kind 6 [pcapng §4.3]."""
    found = []
    for body in (body for kind, body in blocks(path) if kind == 6):
        _, high, low, captured, original = struct.unpack_from("<5I", body)
        assert captured == original
        found.append(((high << 32) + low, body[20 : 20 + captured]))
    return found


def total(words: bytes) -> int:
    """Return the one's complement sum of 16-bit words [RFC 1071]."""
    padded = words + b"\0" * (len(words) % 2)
    whole: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while whole > 0xFFFF:
        whole = (whole >> 16) + (whole & 0xFFFF)
    return whole


@pytest.mark.parametrize("offloads", ["on", "off"])
def test_super_packets_cross_the_links_as_packets_of_the_mtu(offloads: Automatic, tmp_path: Path) -> None:
    points = {"at": ["sender", "bottleneck", "receiver"], "snaplen": "2000 bytes"}
    given = scenario(rate="20 Mbit/s", duration="1 s", capture=points)
    results = run(given, out=tmp_path, backend=LinkEmulation(offloads=offloads, calibration="off"))
    f, q = flow(results), bottleneck(results)
    on = offloads == "on"
    assert results.runs[0].facts["host"]["offloads"] == {"tso": on, "gso": on, "gro": on}
    assert f["sent_bytes"] <= 1448 * f["sent_packets"]
    assert q["max_sojourn_ms"] <= 33 * 0.6 + 0.01
    assert q["waiting_at_start"] + q["arrivals"] == q["departures"] + q["drops"] + q["waiting_at_end"]
    assert f["dropped_packets"] == q["drops"]
    (sender, queue, receiver) = (packets(results.captures(0)[name]) for name in ("sender", "bottleneck", "receiver"))
    for _, packet in sender + queue + receiver:
        assert len(packet) == struct.unpack_from(">H", packet, 2)[0] <= 1500
        assert total(packet[:20]) == 0xFFFF
        pseudo = packet[12:20] + struct.pack(">HH", 6, len(packet) - 20)
        assert total(pseudo + packet[20:]) == 0xFFFF
    data = [at for at, packet in sender if len(packet) == 1500]
    assert len(data) > 20
    # A super-packet leaves its host at one instant, single packets don't.
    assert any(a == b for a, b in pairwise(data)) == on
    ids = Counter(packet[4:6] + packet[24:28] for _, packet in sender if len(packet) == 1500)
    assert ids.most_common(1)[0][1] <= 2, "at its host's interface, and none is there twice"


def test_ipv6_has_offloads_too() -> None:
    given = scenario(rate="20 Mbit/s", duration="1 s", flows=[{"name": "f", "variant": "cubic", "ip": 6}])
    results = once(given, offloads="on", calibration="off")
    f, q = flow(results), bottleneck(results)
    assert f["sent_bytes"] <= 1428 * f["sent_packets"]
    assert f["delivered_bytes"] > 50 * 1428
    assert f["dropped_packets"] == q["drops"]


def test_fast_links_have_offloads_by_default() -> None:
    def switch(rate: str, offloads: bool | None = None, **changes: Any) -> set[str]:
        plan = Job(scenario(rate=rate, **changes).cells[0], 0, 1).plan()
        steps, *_ = _core.plan_link(json.dumps(plan), offloads)
        return {step.rpartition(" ")[2] for step in steps if "ethtool" in step}

    assert switch("300 Mbit/s", **FAST) == {"on"}
    assert switch("200 Mbit/s", **FAST) == switch("300 Mbit/s") == {"off"}
    assert switch("300 Mbit/s", False, **FAST) == {"off"}
    assert switch("10 Mbit/s", True) == {"on"}


def test_a_receiver_that_is_rarely_woken_has_its_whole_window() -> None:
    """It was woken once per 128 kB from the start, which kept its window at 128 kB: 44 of 200 Mbit/s."""
    flows = [{"name": "f", "variant": "cubic"}]
    given = scenario(
        rate="200 Mbit/s", limit="600 packets", duration="2 s", flows=flows, trace={"series": ["flows"]}, **FAST
    )
    results = once(given, calibration="off")
    assert np.max(results.series(0, "inflight", flow="f")["inflight"].to_numpy()) > 2 * (1 << 17)
