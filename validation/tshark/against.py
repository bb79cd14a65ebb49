#!/usr/bin/env python3
"""Compare the analysis of captures with tshark and capinfos 4.0: every label, connection and table.

    python3 validation/tshark/traffic.py FOLDER        # real traffic, as root
    python3 validation/tshark/against.py FOLDER/*      # one line for each file, then the differences

The comparison covers, for each frame of a TCP connection, stream, labels, number of the duplicate ACK, ACK RTT,
bytes in flight and initial RTT; for each connection its packets, bytes, and the number of each label; the
packet-length table and the capture properties, digit for digit. Exit code 1 if anything differs.
`--store FOLDER` stores the output of the tools for the tests.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dumbbell import capture
from dumbbell.capture import Capture

LABELS = [
    "retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order", "lost_segment",
    "ack_lost_segment", "duplicate_ack", "zero_window", "zero_window_probe", "zero_window_probe_ack", "window_full",
    "window_update", "keep_alive", "keep_alive_ack", "reused_ports",
]  # fmt: skip
QUIET = ["-n", "--disable-heuristic", "thrift_tcp"]
"""No name resolution; without a dissector that takes quadratic time on generated traffic."""
Row = tuple[int, frozenset[str], int, int, int, int, int]


def output(command: list[str]) -> str:
    """Run a tool in English and UTC. For a damaged file it ends with an error after the readable part."""
    environment = {"PATH": "/usr/bin:/usr/sbin:/bin", "TZ": "UTC", "LC_ALL": "C", "HOME": "/nonexistent"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout


def ns(seconds: str) -> int:
    """Convert seconds to nanoseconds."""
    return round(float(seconds) * 1e9) if seconds else 0


@dataclass(frozen=True)
class Answer:
    """Results of the tools: TCP frames by number (with an initial RTT of -1 if quoted by ICMP), and two texts."""

    frames: dict[int, Row]
    lengths: str
    properties: str

    def store(self, place: Path) -> None:
        """Write it to a file."""
        rows = [[n, r[0], sorted(r[1]), *r[2:]] for n, r in self.frames.items()]
        text = json.dumps({"frames": rows, "lengths": self.lengths, "properties": self.properties})
        # Without name and time in the header, equal answers are equal files.
        place.write_bytes(gzip.compress(text.encode(), mtime=0))

    @classmethod
    def load(cls, place: Path) -> Answer:
        """Read it from a file."""
        kept = json.loads(gzip.decompress(place.read_bytes()))
        frames = {n: (stream, frozenset(labels), *rest) for n, stream, labels, *rest in kept["frames"]}
        return cls(frames, kept["lengths"], kept["properties"])


def by_tools(path: Path) -> Answer:
    """Run tshark and capinfos."""
    names = ["frame.number", "tcp.stream", "tcp.analysis.duplicate_ack_num", "tcp.analysis.ack_rtt",
             "tcp.analysis.bytes_in_flight", "tcp.analysis.initial_rtt", "frame.len", "icmp.type", "icmpv6.type",
             *(f"tcp.analysis.{n}" for n in LABELS)]  # fmt: skip
    command = ["tshark", *QUIET, "-r", str(path), "-T", "fields", "-E", "occurrence=f", "-z", "plen,tree"]
    for name in names:
        command += ["-e", name]
    text = output(command)
    end = text.find("\n==")
    rows, table = (text[:end], text[end:]) if end >= 0 else (text, "")
    found: dict[int, Row] = {}
    for line in rows.splitlines():
        cells = line.split("\t")
        if len(cells) != len(names) or not cells[1]:
            continue
        number, stream, again, rtt, flight, initial, size, icmp, icmp6, *labels = cells
        names_here = frozenset(n for n, v in zip(LABELS, labels, strict=True) if v)
        irtt = -1 if icmp or icmp6 else ns(initial)
        found[int(number)] = (int(stream), names_here, int(again or 0), ns(rtt), int(flight or 0), irtt, int(size))
    short = ["-t", "-E", "-I", "-F", "-k", "-c", "-s", "-d", "-l", "-u", "-a", "-e", "-o", "-y", "-i", "-z", "-x"]
    # The first line has the name of the file.
    return Answer(found, table, output(["capinfos", *short, str(path)]).partition("\n")[2])


def frames_of_ours(found: Capture) -> dict[int, Row]:
    """Return the same values of our analysis."""
    rows = found.packets.select(
        "frame",
        "flow",
        "duplicate_ack_num",
        "ack_rtt_ns",
        "bytes_in_flight",
        "initial_rtt_ns",
        "frame_len",
        "quoted",
        *LABELS,
    ).collect()
    answer: dict[int, Row] = {}
    for number, flow, again, rtt, flight, irtt, size, quoted, *labels in rows.iter_rows():
        names = frozenset(n for n, v in zip(LABELS, labels, strict=True) if v)
        answer[number] = (flow, names, again, rtt, flight, -1 if quoted else irtt, size)
    return answer


def sizes(found: Capture, theirs: dict[int, Row], streams: dict[int, int]) -> Iterator[str]:
    """Yield the connections whose packets or bytes differ; segments quoted by ICMP do not count."""
    packets, size = Counter[int](), Counter[int]()
    for row in theirs.values():
        if row[5] != -1:
            packets[row[0]] += 1
            size[row[0]] += row[6]
    both = found.flows.group_by("flow").agg(pl.col("packets", "bytes").sum())
    for flow, *ours in both.iter_rows():
        there = [packets[streams[flow]], size[streams[flow]]] if flow in streams else [0, 0]
        if ours != there:
            yield f"connection {flow}: packets, bytes: here {ours}, there {there}"


def lines(what: str, ours: str, theirs: str) -> Iterator[str]:
    """Yield the lines in which two texts differ."""
    a, b = ([line.rstrip() for line in text.strip().splitlines()] for text in (ours, theirs))
    for n in range(max(len(a), len(b))):
        x, y = (t[n] if n < len(t) else "" for t in (a, b))
        if x != y:
            yield f"{what}: here {x!r}, there {y!r}"


def differences(path: Path, answer: Answer) -> tuple[list[str], int]:
    """Return the differences and the number of compared connections."""
    found = capture.analyze(path, rules="wireshark-4.0")
    theirs, ours = answer.frames, frames_of_ours(found)
    wrong: list[str] = []
    streams: dict[int, int] = {}
    for n in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(n), theirs.get(n)
        if a and b:
            # In Wireshark upper layers create further streams, so its numbers may have gaps.
            same = streams.setdefault(a[0], b[0]) == b[0]
            if same and a[1:] == b[1:]:
                continue
        wrong.append(f"frame {n}: here {show(a)}, there {show(b)}")
    counts = Counter((r[0], label) for r in theirs.values() for label in r[1])
    sums = {row["flow"]: row for row in found.flows.group_by("flow").agg(pl.col(LABELS).sum()).iter_rows(named=True)}
    for mine, stream in streams.items():
        for label in LABELS:
            if sums[mine][label] != counts[stream, label]:
                wrong.append(f"stream {stream}: {label}: here {sums[mine][label]}, there {counts[stream, label]}")
    wrong += sizes(found, theirs, streams)
    wrong += lines("lengths", found.lengths_text, answer.lengths)
    # capinfos prints nothing for a damaged file, unless it is only cut.
    if answer.properties:
        wrong += lines("properties", found.properties_text[0].partition("\n")[2], answer.properties)
    return wrong, len(streams)


def show(row: Row | None) -> str:
    """Format an answer."""
    if row is None:
        return "nothing"
    return f"stream {row[0]} {','.join(sorted(row[1])) or '-'} dup {row[2]} rtt {row[3]} flight {row[4]} irtt {row[5]}"


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=8, help="differences printed of each file")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="copy the files and store the output of the tools")
    options = parser.parse_args()
    bad, frames, streams = 0, 0, 0
    for path in options.files:
        answer = by_tools(path)
        if options.store:
            options.store.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, options.store)
            answer.store(options.store / f"{path.name}.json.gz")
        wrong, more = differences(path, answer)
        some = len(answer.frames)
        frames += some
        streams += more
        bad += bool(wrong)
        print(f"{path.name:44} {some:7} segments {more:5} connections  {len(wrong) or 'no'} differences", flush=True)
        for text in wrong[: options.show]:
            print(f"    {text}")
    print(f"{len(options.files)} files, {frames} segments, {streams} connections; {bad} files differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
