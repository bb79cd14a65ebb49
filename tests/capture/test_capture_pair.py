"""Two captures of one path: made by hand, and compared with the simulator's own results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from captures import ACK, A, B, Segment, blocks, pcap
from dumbbell import CaptureError, capture
from kernels import one_flow

AHEAD = 5.0
"""B's clock is so far ahead of A's, s."""


@pytest.fixture
def two_sides(tmp_path: Path) -> tuple[Path, Path]:
    """Ten segments from A to B, 20 ms each, the fourth one 26 ms, the sixth one lost; ten ACKs back, 30 ms each."""
    at_a: list[Segment] = []
    at_b: list[Segment] = []
    for n in range(10):
        sent = 0.1 * n
        there: tuple[Any, ...] = (A, 1000, 80, 1 + 100 * n, 1, ACK, 100)
        back: tuple[Any, ...] = (B, 80, 1000, 1, 101 + 100 * n, ACK, 0)
        at_a.append((sent, *there))
        if n != 5:
            at_b.append((sent + (0.026 if n == 3 else 0.020) + AHEAD, *there))
        at_b.append((sent + 0.05 + AHEAD, *back))
        at_a.append((sent + 0.08, *back))
    files = tmp_path / "a.pcap", tmp_path / "b.pcap"
    for path, segments in zip(files, (at_a, at_b), strict=True):
        path.write_bytes(pcap(sorted(segments)))
    return files


def test_delays_by_hand(two_sides: tuple[Path, Path]) -> None:
    found = capture.pair(*two_sides, matches=True)
    # Delays of 20 and 30 ms can't be distinguished from 25 ms in both directions and a clock 5 ms less ahead.
    assert found.round_trip_ms == pytest.approx(50.0)
    assert found.offset_ns == pytest.approx((AHEAD - 0.005) * 1e9, abs=2e3)
    assert found.both_ways
    assert found.packets == (20, 19, 19)
    there, back = found.flows.sort("direction").iter_rows(named=True)
    assert (there["src"], there["packets_first"], there["packets_second"], there["lost"]) == (A, 10, 9, 1)
    assert (there["delay_min_ms"], there["delay_max_ms"]) == pytest.approx((25.0, 31.0), abs=0.01)
    # 8 of 25 ms and one of 31: 6 / 9 ms of queueing on average.
    assert there["queueing_mean_ms"] == pytest.approx(6 / 9, abs=0.01)
    assert there["queueing_max_ms"] == pytest.approx(6.0, abs=0.01)
    assert (back["lost"], back["packets_first"]) == (0, 10)
    assert back["delay_min_ms"] == pytest.approx(25.0, abs=0.01)
    assert found.matches is not None
    assert sorted(found.matches.filter(found.matches["direction"] == 0)["frame_a"].to_list())[:3] == [1, 3, 5]


def test_losses_and_delays_are_the_simulators(tmp_path: Path) -> None:
    given = one_flow(
        "pair", "5 s", rate="5 Mbit/s", limit="20 packets",
        capture=["sender", "receiver"],
        flows=[{"name": "f", "variant": "cubic", "stack": "rfc"}],
        network__access__delay="1 ms", network__bottleneck__delay="10 ms", network__bottleneck__loss="1 %",
        network__bottleneck__reordering={"share": "2 %", "delay": "4 ms"},
    )  # fmt: skip
    files = dumbbell.run(given, out=tmp_path).captures(0)
    found = capture.pair(files["sender"], files["receiver"], same_clock=True)
    there = found.flows.filter(found.flows["direction"] == 0).row(0, named=True)
    dropped = sum(b"dropped at" in body for kind, body in blocks(files["sender"]) if kind == 6)
    assert there["lost"] == dropped > 5
    # In transit at the end: a queue and 12 ms of 1500-byte packets (2.4 ms each) at most.
    assert there["under_way"] <= 20 + 5 + 1
    assert there["extra"] == 0
    assert there["reordered"] > 5
    # The shortest packet is the SYN, 60 bytes: 1 + 10 + 1 ms, 0.096 ms at 5 Mbit/s and twice 0.0048 at 100.
    assert there["delay_min_ms"] == pytest.approx(12 + 0.096 + 2 * 0.0048, abs=0.001)
    # At most 20 packets of 1500 bytes before it (2.4 ms each), its own time on the links, the delay of reordering.
    assert there["delay_max_ms"] <= 12 + 21 * 2.4 + 2 * 0.12 + 4.0
    blind = capture.pair(files["sender"], files["receiver"])
    assert blind.packets == found.packets
    # Symmetric but for the length of the packets: the estimate is off by less than a data packet's time.
    assert abs(blind.offset_ns) < 2.4e6


def test_captures_of_other_traffic_match_nothing(two_sides: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.pcap"
    other.write_bytes(pcap([(0.0, A, 7, 9, 1, 1, ACK, 10)]))
    found = capture.pair(two_sides[0], other)
    assert found.flows.height == 0
    assert any("Nothing was matched" in text for text in found.summary())


# ------------------------------------------------------------ command line


def test_terminal_json_report(cli: Callable[..., Any], two_sides: tuple[Path, Path], tmp_path: Path) -> None:
    done = cli("analyze", "pair", *two_sides, "--out", tmp_path / "out", "--csv", tmp_path / "csv")
    assert done.returncode == 0, done.stderr
    for words in ("19 are in both", "A to B", "10.0.0.1:1000", "1 of 20 packets were lost"):
        assert words in done.stdout, words
    page = (tmp_path / "out" / "report.html").read_text()
    for name in ("delay", "lost", "delay-spread"):
        assert (tmp_path / "out" / "figures" / f"{name}.png").exists()
        assert f'id="{name}"' in page
    assert (tmp_path / "csv" / "matches.csv").read_text().count("\n") == 20
    document = json.loads(cli("analyze", "pair", *two_sides, "--json").stdout)
    assert document["packets"] == {"a": 20, "b": 19, "both": 19}
    assert {"offset_ns", "drift", "round_trip_ms", "flows", "series", "damage"} <= set(document)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--flow", "1"], "unknown option '--flow'"),
        (["third.pcap"], "unexpected extra argument"),
        (["--interval", "0 s"], "must be above zero"),
    ],
)
def test_refused(cli: Callable[..., Any], two_sides: tuple[Path, Path], more: list[str], message: str) -> None:
    done = cli("analyze", "pair", *two_sides, *more)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_missing_file_is_refused(cli: Callable[..., Any], two_sides: tuple[Path, Path]) -> None:
    with pytest.raises(CaptureError, match="read more than once"):
        capture.pair(two_sides[0], "-")
    done = cli("analyze", two_sides[0], "--same-clock")
    assert done.returncode == 2
    assert "use `dumbbell analyze pair A B --same-clock`" in done.stderr
