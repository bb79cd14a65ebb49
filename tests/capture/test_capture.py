"""Captures that are made by hand, byte by byte, and read by the public functions."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from captures import ACK, SYN, A, B, Segment, connection, packet, pcap
from dumbbell import CaptureError, capture
from dumbbell.capture import Selection
from dumbbell.capture.output import error_rates, summary


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "one.pcap"
    path.write_bytes(pcap(connection()))
    return path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.pcap"
    path.write_bytes(pcap([*connection(), *connection(2000, 1.0)]))
    return path


def test_a_connection_by_hand(one: Path) -> None:
    found = capture.analyze(one)
    there, back = found.flows.sort("direction").iter_rows(named=True)
    assert (there["src"], there["src_port"], there["dst_port"], there["packets"]) == (A, 1000, 80, 8)
    assert (there["payload_bytes"], there["new_bytes"]) == (400, 300)
    assert (there["retransmission"], there["retransmitted_packets"], there["retransmitted_bytes"]) == (1, 1, 100)
    assert there["initial_rtt_ms"] == pytest.approx(20.0)
    assert (there["syn_rtt_ms"], there["synack_rtt_ms"]) == pytest.approx((10.0, 10.0))
    assert back["duplicate_ack"] == 1
    assert there["ending"] == "fin"
    # 300 bytes in 0.42 s.
    assert there["goodput_bps"] == pytest.approx(300 * 8 / 0.42)
    # The SYN after 10 ms; ACKs that end at a segment: 101..200 after 20 ms, 301..400 after 320 ms.
    assert (there["rtt_min_ms"], there["rtt_max_ms"]) == pytest.approx((10.0, 320.0), rel=0.02)
    assert found.seconds == pytest.approx(0.42)
    assert found.damage == []


def test_packets_are_lazy_and_labeled(one: Path) -> None:
    rows = capture.analyze(one).packets
    assert isinstance(rows, pl.LazyFrame)
    again = rows.filter(pl.col("retransmission")).collect()
    assert again["frame"].to_list() == [9]
    assert again["t_ns"].to_list() == [332_000_000]
    assert rows.filter(pl.col("duplicate_ack")).collect()["frame"].to_list() == [8]


@pytest.mark.parametrize(
    ("select", "flows"),
    [
        (Selection(flow=[1]), [1]),
        (Selection(port=[1000]), [0]),
        (Selection(host=["10.0.0.0/8"]), [0, 1]),
        (Selection(host=["192.168.0.0/16"]), []),
        (Selection(where="src_port = 2000 AND retransmission > 0"), [1]),
        (Selection(port=[80], where="start_ns > 5e8"), [1]),
    ],
)
def test_selections(two: Path, select: Selection, flows: list[int]) -> None:
    found = capture.analyze(two, select=select)
    assert found.flows["flow"].unique().sort().to_list() == flows
    assert set(found.series["flow"].to_list()) == set(flows)
    assert set(found.packets.collect()["flow"].to_list()) == set(flows)


def test_time_may_be_cut(two: Path) -> None:
    assert capture.analyze(two, from_s=0.9).flows["flow"].n_unique() == 1
    assert capture.analyze(two, to_s=0.9).flows["flow"].n_unique() == 1


def test_bad_questions_are_refused(one: Path, tmp_path: Path) -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: capture.analyze(one, rules="wireshark-4.2"), "did you mean 'wireshark-4"),
        (lambda: capture.analyze(tmp_path / "nothing.pcap"), "nothing.pcap"),
        (lambda: capture.analyze(tmp_path / "*.cap"), "matches no file"),
        (lambda: capture.analyze(one, select=Selection(where="no_such = 1")), "--where"),
        (lambda: capture.analyze(one, select=Selection(host=["here"])), "--host"),
        (lambda: capture.analyze(one, from_s=2.0, to_s=1.0), "must be after"),
    ]
    for call, message in cases:
        with pytest.raises(CaptureError, match=message):
            call()


def test_gzip_and_several_files_are_one(one: Path, tmp_path: Path) -> None:
    packed = tmp_path / "one.pcap.gz"
    packed.write_bytes(gzip.compress(one.read_bytes()))
    assert capture.analyze(packed).flows.equals(capture.analyze(one).flows)
    later = tmp_path / "two.pcap"
    later.write_bytes(pcap(connection(3000, 5.0)))
    assert capture.analyze([one, later]).flows["flow"].n_unique() == 2


def test_spikes_are_counted_in_seconds(tmp_path: Path) -> None:
    # In second 0 nothing, in second 1 sixty duplicate ACKs, in second 3 seventy: two spikes above 50/s.
    burst = [(1.0 + n / 100, B, 80, 1000, 501, 201, ACK, 0) for n in range(61)]
    later = [(3.0 + n / 100, B, 80, 1000, 501, 301, ACK, 0) for n in range(71)]
    start: list[Segment] = [(0.0, A, 1000, 80, 101, 501, ACK, 200), (0.1, B, 80, 1000, 501, 101, ACK, 0)]
    path = tmp_path / "spikes.pcap"
    path.write_bytes(pcap([*start, *burst, *later]))
    found = capture.analyze(path)
    assert error_rates(found) == [0.0, 60.0, 0.0, 70.0]
    assert "2 spikes above 50 error packets/s, 70 at most (in windows of 1 s)." in list(summary(found))


# ------------------------------------------------------------ hostile files


def test_a_jump_of_a_century_is_bounded(tmp_path: Path) -> None:
    # Rows exist only for intervals with a segment in them, and their number is bounded by longer intervals.
    segments = connection()
    path = tmp_path / "jump.pcap"
    path.write_bytes(pcap([*segments, *connection(start=3e9)]))
    found = capture.analyze(path, interval_s=1e-3)
    assert found.seconds == pytest.approx(3e9 + 0.42)
    assert found.series.height < 60
    assert found.total.height < 40
    list(summary(found))


def test_every_connection_of_a_port_scan_is_counted(tmp_path: Path) -> None:
    # 150,000 connections of one SYN: each has a number, a row for each direction, and one row of the series.
    heads = []
    template = packet((0.0, A, 1, 1, 1, 0, SYN, 0))
    for n in range(150_000):
        data = template[:34] + struct.pack("!HH", n % 65_000 + 1, n // 65_000 + 1) + template[38:]
        heads.append(struct.pack("<IIII", n // 1000, n % 1000, len(data), len(data)) + data)
    path = tmp_path / "scan.pcap"
    path.write_bytes(pcap([]) + b"".join(heads))
    found = capture.analyze(path)
    assert (
        next(summary(found)) == f"150000 packets in {found.seconds:.4g} s: 150000 TCP connections, 0 UDP conversations."
    )
    assert found.tables.flows == list(range(150_000))
    pages = list(found.tables.pages("flows"))
    assert max(page.height for page in pages) < 20_000
    assert sum(page.height for page in pages) == 300_000
    assert sum(page["packets"].sum() for page in pages) == 150_000
    assert found.series.height == 150_000
    assert [w for w in found.warnings if w["kind"] == "limit"] == []
    # 2,000 intervals at most cover 150 s: 128 ms.
    assert found.interval_s == pytest.approx(0.128)


# ------------------------------------------------------------ command line


def test_terminal(cli: Callable[..., Any], two: Path) -> None:
    done = cli("analyze", two)
    assert done.returncode == 0, done.stderr
    for words in ("2 TCP connections", "Packet Lengths", "10.0.0.1:1000 -> 10.0.0.2:80", "Ethernet", "sent again"):
        assert words in done.stdout, words


def test_json_and_stdin(cli: Callable[..., Any], two: Path) -> None:
    document = json.loads(cli("analyze", two, "--json", "--flow", "1").stdout)
    assert document["format"] == 1
    assert {"files", "rules", "properties", "lengths", "flows", "series", "warnings", "damage"} <= set(document)
    assert {row["flow"] for row in document["flows"]} == {1}


def test_damage_is_reported_and_exit_code_is_one(cli: Callable[..., Any], one: Path) -> None:
    one.write_bytes(one.read_bytes()[:-30])
    done = cli("analyze", one)
    assert done.returncode == 1
    assert "damage: " in done.stderr
    assert "byte" in done.stderr
    assert "1 TCP connection, " in done.stdout


def test_tables_plots_report(cli: Callable[..., Any], two: Path, tmp_path: Path) -> None:
    done = cli("analyze", two, "--out", tmp_path / "out", "--csv", tmp_path / "csv")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    for name in ("io-graph", "lengths", "goodput", "rtt", "inflight-0-0", "sequence-0-0"):
        assert (tmp_path / "out" / "figures" / f"{name}.png").exists()
        assert f'id="{name}"' in page
    assert pl.read_csv(tmp_path / "csv" / "flows.csv").height == 4
    assert pl.read_csv(tmp_path / "csv" / "packets.csv").height == 26
    assert pl.read_parquet(tmp_path / "out" / "data" / "series.parquet").height > 0


def test_compare_gives_medians(cli: Callable[..., Any], one: Path, two: Path) -> None:
    done = cli("analyze", "compare", one, two)
    assert done.returncode == 0, done.stderr
    line = next(text for text in done.stdout.splitlines() if "retransmitted bytes" in text)
    assert [float(word) for word in line.split()[-3:]] == [100, 200, 150]


def test_files_side_by_side_are_equal_in_any_number_of_threads(
    cli: Callable[..., Any], one: Path, two: Path, tmp_path: Path
) -> None:
    third = tmp_path / "third.pcap"
    third.write_bytes(one.read_bytes()[:-30])
    done = [cli("analyze", "compare", one, two, third, "--json", "--jobs", n) for n in (1, 3)]
    assert [d.returncode for d in done] == [1, 1]
    assert done[0].stdout == done[1].stdout
    assert [d["files"] for d in json.loads(done[0].stdout)] == [[str(f)] for f in (one, two, third)]
    third.write_bytes(b"no capture")
    refused = cli("analyze", "compare", one, two, third)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "third.pcap" in refused.stderr


def test_captures_of_one_name_are_kept_apart(cli: Callable[..., Any], one: Path, two: Path, tmp_path: Path) -> None:
    places = []
    for folder, source in (("a", one), ("b", two)):
        (tmp_path / folder).mkdir()
        places.append(tmp_path / folder / "same.pcap")
        places[-1].write_bytes(source.read_bytes())
    done = cli("analyze", "compare", *places, "--csv", tmp_path / "csv")
    assert done.returncode == 0, done.stderr
    flows = [pl.read_csv(tmp_path / "csv" / f"{k}-same.pcap" / "flows.csv").height for k in (1, 2)]
    assert flows == [2, 4]
    both = pl.read_csv(tmp_path / "csv" / "comparison.csv").filter(pl.col("figure") == "retransmitted bytes")
    assert both.row(0)[1:] == (100, 200, 150)


def test_wrong_options_and_files_are_refused(cli: Callable[..., Any], one: Path, tmp_path: Path) -> None:
    (tmp_path / "no.pcap").write_text("not a capture at all, just some words")
    for arguments, words in (
        ((one, "--flow", "99"), "its connections are 0 to 0"),
        ((one, "--port", "99999"), "65535"),
        ((tmp_path / "no.pcap",), "no.pcap"),
    ):
        done = cli("analyze", *arguments)
        assert done.returncode == 2, done.stdout
        assert words in done.stderr
        assert "Traceback" not in done.stderr
