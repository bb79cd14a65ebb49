"""Mutants of files and outputs that come from elsewhere, read by their readers.

    python tests/support/input_mutants.py KIND MINUTES

KIND is scenario, iperf3, ping, hosts, manifest or mahimahi. A mutant that reaches lines of the package which none
before has reached is mutated further, and kept in ``data/mutants/KIND.json``; one that fails is written to a file,
which the error names. `test_input_mutants.py` reads the kept ones, and some new ones of each kind, always the same.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import dumbbell
from dumbbell import DumbbellError, Scenario, mahimahi
from dumbbell.common.documents import read_json
from dumbbell.kernel.programs import program_outputs
from dumbbell.kernel.ssh import hosts
from dumbbell.plan.text import plan_text
from dumbbell.results.store import manifests
from scenario_mutants import mutant_document, mutant_text
from scenario_texts import BASE, FULL

__all__ = [
    "EXAMPLES",
    "HOSTS",
    "IPERF3",
    "KINDS",
    "MAHIMAHI",
    "MANIFEST",
    "PING",
    "kept",
    "outcome_of",
    "read",
    "try_one",
]

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


EXAMPLES = Path(__file__).parents[2] / "examples"
KEPT = Path(__file__).parents[1] / "data" / "mutants"
LONGEST = 20_000
"""Bytes of a mutant that is mutated further."""


def _scenarios() -> list[bytes]:
    texts = [BASE, FULL, *(file.read_text() for file in sorted(EXAMPLES.glob("*.toml")))]
    return [text.encode() for text in texts] + [json.dumps(tomllib.loads(text)).encode() for text in texts]


ORIGINS: dict[str, list[bytes]] = {
    "scenario": _scenarios(),
    "iperf3": [json.dumps(IPERF3).encode()],
    "ping": [PING.encode()],
    "hosts": [HOSTS.encode()],
    "manifest": [json.dumps(MANIFEST).encode()],
    "mahimahi": [MAHIMAHI.encode()],
}
KINDS = tuple(ORIGINS)


def kept(kind: str) -> list[bytes]:
    """Return the mutants of a kind that are kept."""
    place = KEPT / f"{kind}.json"
    return [text.encode("latin-1") for text in json.loads(place.read_text())] if place.exists() else []


def _document(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def mutant(origins: list[bytes], draw: random.Random) -> bytes:
    """Return a mutant of one of the origins, which are texts or JSON documents."""
    origin = draw.choice(origins)
    if draw.randrange(2) and isinstance(document := _document(origin), dict) and document:
        others = [other for other in map(_document, draw.sample(origins, min(3, len(origins)))) if other]
        try:
            return json.dumps(mutant_document(document, others or [document], draw)).encode()
        except RecursionError:  # a deep value within a deep value can't be written
            return b"{}"
    return mutant_text(origin, draw)


def _read_scenario(place: Path) -> None:
    document = _document(place.read_bytes())
    scenario = Scenario.from_dict(document) if isinstance(document, dict) else Scenario.load(place)
    plan_text(scenario.cells[0])
    assert Scenario.from_toml(scenario.to_toml()) == scenario


def read(kind: str, content: bytes) -> bool:
    """Read a mutant; only the errors that a reader promises are caught. Return True if it was not refused."""
    if kind in ("iperf3", "ping"):
        outcome_of(kind, content.decode(errors="replace"))  # a failure is a sentence of the run
        return True
    readers: dict[str, Callable[[Path], object]] = {
        "scenario": _read_scenario,
        "hosts": hosts.read,
        "mahimahi": mahimahi.read,
        "manifest": lambda place: manifests.checked(read_json(place.read_bytes()), 3),
    }
    try:
        _in_file(content, readers[kind])
        return True
    except DumbbellError as e:
        assert kind in ("hosts", "scenario"), e
        str(e).encode()  # it can be printed
    except ValueError:
        assert kind not in ("hosts", "scenario")
    return False


def try_one(kind: str, number: int) -> bool:
    """Read a mutant of the origins; the same for the same number. Return True if it was not refused."""
    return read(kind, mutant(ORIGINS[kind], random.Random(f"{kind} {number}")))


def _lines(kind: str, content: bytes) -> set[tuple[str, int]]:
    """Read a mutant; return the lines of the package that were executed."""
    package, found = str(Path(dumbbell.__file__).parent), set()

    def within(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            found.add((frame.f_code.co_filename, frame.f_lineno))
        return within

    def entered(frame: FrameType, _event: str, _: object) -> Any:
        return within if frame.f_code.co_filename.startswith(package) else None

    sys.settrace(entered)
    try:
        read(kind, content)
    finally:
        sys.settrace(None)
    return found


def _few(kind: str, contents: Iterable[bytes]) -> list[bytes]:
    """Return those contents, short ones first, that reach lines which the ones before have not reached."""
    reached = set().union(*(_lines(kind, origin) for origin in ORIGINS[kind]))
    chosen = []
    for content in sorted(set(contents), key=lambda content: (len(content), content)):
        lines = _lines(kind, content)
        if not lines <= reached:
            reached |= lines
            chosen.append(content)
    return chosen


def main() -> None:
    """Read mutants of a kind for some minutes of CPU time."""
    kind, minutes = sys.argv[1], float(sys.argv[2])
    KEPT.mkdir(exist_ok=True)
    os.chdir(EXAMPLES)
    draw, found = random.Random(), kept(kind)
    origins = [*ORIGINS[kind], *found]
    reached = set().union(*(_lines(kind, content) for content in origins))
    end, number = time.process_time() + 60 * minutes, 0
    try:
        while time.process_time() < end:
            content = mutant(origins, draw)
            try:
                lines = _lines(kind, content)
            except BaseException:
                place = Path(tempfile.gettempdir(), f"mutant-{kind}")
                place.write_bytes(content)
                print(f"{kind}: mutant {number}: {place}", file=sys.stderr)
                raise
            if not lines <= reached:
                reached |= lines
                found.append(content)
                if len(content) <= LONGEST:
                    origins.append(content)
            number += 1
    finally:
        few = _few(kind, found)
        texts = [content.decode("latin-1") for content in few]
        (KEPT / f"{kind}.json").write_text(json.dumps(texts, indent=0) + "\n")
        print(f"{kind}: {number} mutants, {len(few)} kept")


if __name__ == "__main__":
    main()
