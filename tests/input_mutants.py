"""Mutants of files and outputs that come from elsewhere, read by their readers.

    python tests/input_mutants.py KIND MINUTES

KIND is iperf3, ping, hosts, manifest or mahimahi. Each mutant is repeatable: an error names its number, and
``try_one(KIND, NUMBER)`` reads it again. `test_input_mutants.py` reads the first ones of each kind.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dumbbell import DumbbellError, mahimahi
from dumbbell.backends import program_outputs
from dumbbell.remote import hosts
from dumbbell.results import manifests
from scenario_mutants import mutant_document, mutant_text

__all__ = ["HOSTS", "IPERF3", "KINDS", "MAHIMAHI", "MANIFEST", "PING", "outcome_of", "try_one"]

SUM: dict[str, Any] = {"end": 1.0, "bytes": 125_000, "bits_per_second": 1e6, "retransmits": 0}
IPERF3: dict[str, Any] = {
    "start": {"version": "iperf 3.12"},
    "intervals": [{"streams": [{"snd_cwnd": 14_480, "rtt": 20_000}], "sum": {**SUM, "end": n}} for n in (1.0, 2.0)],
    "end": {"sum_sent": SUM, "sum_received": SUM, "sender_tcp_congestion": "cubic"},
}
PING = """PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=20.1 ms
64 bytes from 10.0.0.2: icmp_seq=3 ttl=64 time=20.4 ms

--- 10.0.0.2 ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 2003ms
rtt min/avg/max/mdev = 20.1/20.2/20.4/0.1 ms
"""
HOSTS = """[hosts.client]
address = "192.0.2.1"
user = "ann"
role = "client"
[hosts.server]
address = "192.0.2.2"
port = 2222
role = "server"
"""
MANIFEST = {
    "format": 3, "version": "0.1.0", "build": "0123456789abcdef", "backend": "sim", "name": "a", "seed": 1,
    "repetitions": 2, "cells": 4, "cells_per_part": 256, "files": {"a.trace": "0123.trace"}, "registered": {},
    "registered_disciplines": {}, "tables": {"runs": 8, "of": "01", "flows": "02"},
    "scenario": {"name": "a", "duration": "1 s"},
}  # fmt: skip
MAHIMAHI = "".join(f"{n}\n" for n in (0, 1, 1, 5, 12, 40))


def outcome_of(name: str, output: str) -> program_outputs.Readings:
    """Read the output of a program of one flow."""
    row = {"name": "f", "start_s": 0.5, "delivered_bytes": 125_000, "mean_inflight_packets": None}
    transport = {"kind": "tcp", "variant": {"name": "cubic"}}
    client = {"command": [name, "-i", "1"]}
    flow = {"name": "f", "application": {"name": name, "client": client}, "transport": transport}
    report = {"client": {**client, "stdout": output, "stderr": "", "exit": 0}}
    result: dict[str, Any] = {"facts": {"programs": {"f": report}}, "flows": [row], "transfers": []}
    return program_outputs.read({"flows": [flow], "measure_from_ns": 0}, result, {})


def _in_file(content: bytes, read: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "file")
        place.write_bytes(content)
        read(place)


KINDS = ("iperf3", "ping", "hosts", "manifest", "mahimahi")


def try_one(kind: str, number: int) -> None:
    """Read a mutant; only the errors that a reader promises are caught."""
    draw = random.Random(f"{kind} {number}")

    def mutant(document: dict[str, Any]) -> bytes:
        if number % 2 == 0:
            return mutant_text(json.dumps(document), draw)
        try:
            return json.dumps(mutant_document(document, [document], draw)).encode()
        except RecursionError:  # a deep value within a deep value can't be written
            return b"{}"

    if kind in ("iperf3", "ping"):
        content = mutant(IPERF3) if kind == "iperf3" else mutant_text(PING, draw)
        outcome_of(kind, content.decode(errors="replace"))  # a failure is a sentence of the run
        return
    try:
        if kind == "hosts":
            _in_file(mutant_text(HOSTS, draw), hosts.read)
        elif kind == "mahimahi":
            _in_file(mutant_text(MAHIMAHI, draw), mahimahi.read)
        else:
            _in_file(mutant(MANIFEST), lambda place: manifests.checked(manifests.read(place), 3))
    except DumbbellError as e:
        assert kind == "hosts", e
    except ValueError:
        assert kind != "hosts"


def main() -> None:
    """Read mutants of a kind for some minutes of CPU time."""
    kind, minutes = sys.argv[1], float(sys.argv[2])
    end, number = time.process_time() + 60 * minutes, 0
    while time.process_time() < end:
        try:
            try_one(kind, number)
        except BaseException:
            print(f"{kind}: mutant {number}", file=sys.stderr)
            raise
        number += 1
    print(f"{kind}: {number} mutants")


if __name__ == "__main__":
    main()
