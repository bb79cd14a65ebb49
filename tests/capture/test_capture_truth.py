"""The labels of the rules `dumbbell`, compared with the simulator's own facts in packet comments."""

from __future__ import annotations

import struct
from pathlib import Path

import polars as pl
import pytest

import dumbbell
from captures import blocks
from dumbbell import capture
from dumbbell.scenario import Scenario
from kernels import one_flow


def scenario(seed: int, stack: str, loss: float, share: int, delay: int) -> Scenario:
    return one_flow(
        "truth", "20 s", rate="20 Mbit/s", limit="60 packets",
        seed=seed, capture={"at": ["sender", "receiver"], "snaplen": "100 bytes"},
        flows=[{"name": "f", "variant": "cubic", "stack": stack}],
        network__access={"rate": "1 Gbit/s", "delay": "1 ms"}, network__bottleneck__loss=f"{loss} %",
        network__bottleneck__reordering={"share": f"{share} %", "delay": f"{delay} ms"},
    )  # fmt: skip


PATHS = [(1, 0, 1), (0.5, 10, 5), (0.5, 10, 15), (0, 10, 8)]
"""Losses, share of reordered packets, %; their delay, ms: on a round trip of 42 ms and a queue of up to 36 ms."""


def retransmissions(path: Path) -> set[int]:
    """Return the frames that are marked as retransmissions in their comments."""
    number, found = 0, set()
    for kind, body in blocks(path):
        if kind != 6:
            continue
        number += 1
        captured = struct.unpack_from("<I", body, 12)[0]
        at = 20 + (captured + 3) // 4 * 4
        while at + 4 <= len(body):
            code, length = struct.unpack_from("<HH", body, at)
            if code == 1 and body[at + 4 :].startswith(b"retransmission"):
                found.add(number)
            at += 4 + (length + 3) // 4 * 4
    return found


@pytest.mark.parametrize("stack", ["linux", "rfc"])
def test_true_retransmissions_are_found(stack: str, tmp_path: Path) -> None:
    counts = {"sender": [0, 0, 0], "receiver": [0, 0, 0]}
    for n, (loss, share, delay) in enumerate(PATHS):
        files = dumbbell.run(scenario(n + 1, stack, loss, share, delay), out=tmp_path / str(n)).captures(0)
        for place, path in files.items():
            rows = capture.analyze(path, rules="dumbbell").packets
            found = set(rows.filter(pl.col("retransmission")).select("frame").collect()["frame"].to_list())
            true = retransmissions(path)
            for i, count in enumerate((len(found & true), len(found), len(true))):
                counts[place][i] += count
    for place, least in (("sender", 0.999), ("receiver", 0.99)):
        both, found_all, true_all = counts[place]
        assert true_all > 150
        assert both / found_all > least, (place, counts)
        assert both / true_all > least, (place, counts)
