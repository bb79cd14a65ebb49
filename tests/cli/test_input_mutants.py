"""Outputs of programs and files from elsewhere, changed at random: their readers read or refuse them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from dumbbell import mahimahi
from dumbbell.common.documents import read_json
from dumbbell.kernel.programs import program_outputs
from dumbbell.kernel.ssh import hosts
from dumbbell.results.store import manifests
from input_mutants import EXAMPLES, HOSTS, IPERF3, KINDS, MAHIMAHI, MANIFEST, PING, kept, outcome_of, read, try_one


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_are_read_or_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    found = [try_one(kind, number) for number in range(1000 if kind == "scenario" else 300)]
    assert found.count(True) > 0.04 * len(found), "mutants that are all refused try little"


@pytest.mark.parametrize("kind", KINDS)
def test_kept_mutants_are_read_or_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They reach lines that the files themselves don't reach."""
    monkeypatch.chdir(EXAMPLES)
    contents = kept(kind)
    assert contents
    for content in contents:
        read(kind, content)


def changed(*path: Any, value: object) -> str:
    document: Any = copy.deepcopy(IPERF3)
    node = document
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("ping", PING.replace("3 packets", "999999999999 packets")),  # took all memory
        ("ping", PING.replace("3 packets", "1 packets")),
        ("iperf3", changed("intervals", 0, "sum", "end", value=float("inf"))),
        ("iperf3", changed("intervals", 0, "sum", value=[])),
        ("iperf3", changed("intervals", 0, "streams", value=[])),
        ("iperf3", changed("end", "sum_received", "bytes", value="many")),
        ("iperf3", "[" * 100_000),
    ],
)
def test_an_output_that_cannot_be_read_is_a_failure_of_the_run(name: str, output: str) -> None:
    found = outcome_of(name, output)
    assert [failure.partition(" (")[0] for failure in found.failures] == [
        f"flow 'f': the output of {name} can't be read"
    ]


def test_the_files_themselves_are_read(tmp_path: Path) -> None:
    """Mutants of a file that is refused would try little."""
    place = tmp_path / "file"
    place.write_text(HOSTS)
    assert [machine.role for machine in hosts.read(place).machines] == ["client", "server"]
    place.write_text(json.dumps(MANIFEST))
    assert manifests.checked(read_json(place.read_bytes()), 3) == MANIFEST
    place.write_text(MAHIMAHI)
    assert mahimahi.read(place)


def test_the_outputs_themselves_are_read() -> None:
    for name, output in (("ping", PING), ("iperf3", json.dumps(IPERF3))):
        found = outcome_of(name, output)
        assert (found.failures, found.contradictions) == ([], [])
    assert program_outputs.MOST_PINGS > 24 * 3600 * 100  # a day, a hundred per second
