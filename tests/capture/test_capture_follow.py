"""Captures that are followed, connection logs, hosts and names, xplot, selections."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from captures import ACK, FIN, RST, SYN, A, B, Segment, connection, pcap
from dumbbell import CaptureError, capture
from dumbbell.capture import Selection
from dumbbell.capture.output import datagrams, summary
from dumbbell.capture.xplot import write_xplot
from required import require


def log_of(path: Path) -> list[dict[str, Any]]:
    lines: list[bytes] = []
    capture.analyze(path, log=lines.append)
    return [json.loads(line) for part in lines for line in part.splitlines()]


def test_a_record_for_each_connection_that_ends(tmp_path: Path) -> None:
    refused: list[Segment] = [(1.0, A, 3000, 80, 7, 0, SYN, 0), (1.001, B, 80, 3000, 0, 8, RST | ACK, 0)]
    unanswered: list[Segment] = [(1.5, A, 4000, 80, 7, 0, SYN, 0)]
    later: list[Segment] = [(20.0, A, 5000, 80, 100, 0, ACK, 10)]
    path = tmp_path / "log.pcap"
    path.write_bytes(pcap([*connection(), *refused, *unanswered, *later]))
    rows = log_of(path)
    # In the order of their ends: the first two have closed five seconds before the last frame.
    assert [(row["id.orig_p"], row["conn_state"]) for row in rows] == [
        (1000, "SF"), (3000, "REJ"), (4000, "S0"), (5000, "OTH")]  # fmt: skip
    first = rows[0]
    # Three segments of 100 bytes, one of them sent twice; 8 and 5 packets in 0.42 s.
    assert (first["orig_bytes"], first["resp_bytes"], first["orig_pkts"], first["resp_pkts"]) == (300, 0, 8, 5)
    assert (first["ts"], first["duration"]) == pytest.approx((0.0, 0.42))
    assert (first["orig_retransmitted"], first["proto"], first["flow"]) == (1, "tcp", 0)
    assert first["handshake_rtt_ms"] == pytest.approx(20.0)


def test_the_log_is_printed_line_by_line(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "log.pcap"
    path.write_bytes(pcap([*connection(), *connection(2000, 1.0)]))
    done = cli("analyze", "log", path)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["id.orig_p"] for line in done.stdout.splitlines()] == [1000, 2000]
    for option in ("--json", "--flow", "--classify"):
        refused = cli("analyze", "log", path, option)
        assert refused.returncode == 2
        assert f"unknown option '{option}'" in refused.stderr


def test_the_flows_of_each_second(tmp_path: Path) -> None:
    path = tmp_path / "live.pcap"
    path.write_bytes(pcap([*connection(), *connection(2000, 1.0), *connection(3000, 2.0)]))
    seconds: list[pl.DataFrame] = []
    capture.analyze(path, live=seconds.append)
    # The third second is not complete.
    assert [set(second["flow"]) for second in seconds] == [{0}, {1}]
    there = seconds[0].filter(pl.col("src_port") == 1000).row(0, named=True)
    # 8 packets: 54 bytes of headers each and 400 of payload.
    assert (there["packets"], there["throughput_bps"], there["retransmitted"]) == (8, 8 * (8 * 54 + 400), 1)


def interrupted(given: bytes, stream: str, *options: str) -> tuple[str, str, str]:
    """Return the first line of a stream, then the rest of stdout and stderr after Ctrl-C; stdin stays open."""
    command = [sys.executable, "-m", "dumbbell", "analyze", *options, "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=False) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(given)
        running.stdin.flush()
        first = (running.stderr if stream == "stderr" else running.stdout).readline().decode()
        running.send_signal(signal.SIGINT)
        out, err = running.stdout.read().decode(), running.stderr.read().decode()
        assert running.wait() == 0, err
    return first, out, err


def test_a_capture_that_is_being_written() -> None:
    """Frames come through a pipe that stays open; Ctrl-C ends the input inside a frame, and the report is printed."""
    whole = pcap([*connection(), *connection(2000, 1.5)])
    line, out, err = interrupted(whole + whole[24:60], "stderr")
    assert line.startswith("#0 10.0.0.1:1000 -> 10.0.0.2:80  "), line
    assert "26 packets" in out
    assert "2 TCP connections" in out
    assert "standard input (Wireshark/tcpdump/... - pcap)" in out  # without a size
    assert "damage" not in err


def test_the_log_of_a_pipe_ends_with_an_interrupt() -> None:
    line, out, err = interrupted(pcap([*connection(), *connection(2000, 9.0)]), "stdout", "log")
    assert [json.loads(text)["id.orig_p"] for text in (line, *out.splitlines())] == [1000, 2000]
    assert err == ""


def failing(given: bytes, *options: str) -> tuple[int, str, str]:
    """Return code, stdout and stderr of an analysis whose stdin fails after these bytes."""
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            theirs.sendall(b"never read")
            ours.sendall(given)
        # Closed with unread bytes: a read after the last byte fails [Linux af_unix.c unix_release_sock].
        command = [sys.executable, "-m", "dumbbell", "analyze", *options, "-"]
        done = subprocess.run(command, stdin=theirs.fileno(), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_an_error_of_stdin_is_no_end() -> None:
    """The report has what was read; one line has the error, and the exit code is not 0."""
    require("linux", None if sys.platform == "linux" else "sockets of other systems end without an error")
    whole = pcap(connection())
    for given in (whole, whole + whole[24:60]):
        code, out, err = failing(given)
        line = f"damage: standard input, byte {len(given)}, after 13 packets: reading stopped: Connection reset by peer"
        assert (code, [text for text in err.splitlines() if text.startswith("damage")]) == (1, [line])
        assert "1 TCP connection" in out
    code, out, err = failing(whole, "log")
    assert (code, json.loads(out)["id.orig_p"], len(err.splitlines())) == (1, 1000, 1)
    assert err.endswith("reading stopped: Connection reset by peer\n")
    assert failing(b"") == (2, "", "error: standard input: Connection reset by peer\n")


def udp(src: str, dst: str, sport: int, dport: int, payload: bytes) -> bytes:
    ends = [bytes(int(part) for part in end.split(".")) for end in (src, dst)]
    datagram = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload
    ip = struct.pack("!BBHHHBBH", 0x45, 46 << 2, 20 + len(datagram), 0, 0, 64, 17, 0) + ends[0] + ends[1]
    return bytes(12) + b"\x08\x00" + ip + datagram


def records(*frames: bytes) -> bytes:
    return b"".join(struct.pack("<IIII", n, 0, len(f), len(f)) + f for n, f in enumerate(frames))


ANSWER = (
    b"\x00\x01\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\x03www\x07example\x00\x00\x01\x00\x01"
    b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x02"
)
"""www.example is 10.0.0.2."""


def test_hosts_and_names(tmp_path: Path) -> None:
    path = tmp_path / "hosts.pcap"
    answer = udp("10.0.0.9", A, 53, 4000, ANSWER)
    path.write_bytes(pcap(connection()) + records(answer, answer))
    found = capture.analyze(path)
    assert found.host_names == {B: "www.example"}
    assert found.tables["names"]["source"].to_list() == ["dns"]
    pairs = found.tables["ip"].select("a", "b", "packets", "packets_a_b").rows()
    # 13 segments, 8 of them from A; two datagrams.
    assert pairs == [(A, B, 13, 8), ("10.0.0.9", A, 2, 2)]
    ends = {row["address"]: row for row in found.tables["endpoints"].iter_rows(named=True)}
    assert (ends[A]["packets"], ends[A]["sent_packets"], ends[B]["received_packets"]) == (15, 8, 8)
    assert ends["10.0.0.9"]["sent_bytes"] == 2 * len(answer)
    row = datagrams(found)[0]
    assert (row["conversation"], row["packets"]) == ("#0 10.0.0.9:53 -> 10.0.0.1:4000", 2)


def test_a_selection_changes_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "two.pcap"
    path.write_bytes(pcap([*connection(), *connection(2000, 1.0)[:6]]))
    both = list(summary(capture.analyze(path)))
    one = list(summary(capture.analyze(path, select=Selection(flow=[1]))))
    assert "2 TCP connections" in both[0]
    assert "1 TCP connection," in one[0]
    # Flow 1 has three data segments, none of them twice.
    assert any(text.startswith("1 of 7 TCP data packets was sent again") for text in both)
    assert any(text.startswith("0 of 3 TCP data packets were sent again") for text in one)


def test_an_unknown_column_has_a_near_name(tmp_path: Path) -> None:
    path = tmp_path / "one.pcap"
    path.write_bytes(pcap(connection()))
    with pytest.raises(CaptureError, match="unknown column 'godput_bps': did you mean 'goodput_bps'"):
        capture.analyze(path, select=Selection(where="godput_bps > 1"))


def test_xplot_graphs(tmp_path: Path) -> None:
    closed: list[Segment] = [(0.5, B, 80, 1000, 502, 402, FIN | ACK, 0)]
    path = tmp_path / "one.pcap"
    path.write_bytes(pcap([*connection(), *closed]))
    (place,) = write_xplot(capture.analyze(path, select=Selection(flow=[0])), tmp_path / "graphs")
    lines = place.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["timeval double", "title"]
    assert lines[-1] == "go"
    # The retransmission of 201..300 at 0.332 s; numbers are relative to the SYN's, 100.
    red = lines.index("red")
    assert lines[red + 3] == "line 0.332000 101 0.332000 201"


def test_integers_are_integers_in_csv(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "one.pcap"
    path.write_bytes(pcap(connection()))
    done = cli("analyze", path, "--csv", tmp_path / "csv")
    assert done.returncode == 0, done.stderr
    for name in ("flows", "series", "packets"):
        frame = pl.read_csv(tmp_path / "csv" / f"{name}.csv")
        floats = {c for c, t in frame.schema.items() if t == pl.Float64}
        assert not floats & {"window", "window_min", "flight_min", "flight_max", "flight_last", "tsval", "tsecr"}
