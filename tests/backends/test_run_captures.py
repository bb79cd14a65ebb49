"""Capture files of runs."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import dumbbell
from captures import blocks
from dumbbell.exceptions import DumbbellError, ScenarioError
from dumbbell.scenario import Scenario
from kernels import one_flow

SEEN = one_flow(
    "seen", "1 s", rate="5 Mbit/s", limit="10 packets",
    capture=["sender", "bottleneck", "receiver", "r1", "r2->r1"],
    flows=[{"name": "a", "variant": "reno"}, {"name": "b", "variant": "cubic"}],
    network__access__delay="1 ms", network__bottleneck__delay="10 ms",
)  # fmt: skip


def interfaces(path: Path) -> list[str]:
    """Name the interfaces of a file: the first option of each description is the name."""
    names = []
    for kind, body in blocks(path):
        if kind == 1:
            code, length = struct.unpack_from("<HH", body, 8)
            assert code == 2
            names.append(body[12 : 12 + length].decode())
    return names


def test_files_land_in_the_results_directory(tmp_path: Path) -> None:
    results = dumbbell.run(SEEN, out=tmp_path)
    files = results.captures(0)
    assert set(files) == {"sender", "bottleneck", "receiver", "r1", "r2->r1"}
    assert all(path.parent.parent == tmp_path / "captures" for path in files.values())
    assert interfaces(files["sender"]) == ["s1", "s2"]
    assert interfaces(files["receiver"]) == ["d1", "d2"]
    assert interfaces(files["bottleneck"]) == ["r1->r2", "r2->r1"]
    assert interfaces(files["r1"]) == ["r1"]
    assert interfaces(files["r2->r1"]) == ["r2->r1"]
    packets = {name: sum(kind == 6 for kind, _ in blocks(path)) for name, path in files.items()}
    queues = {row["name"]: row for row in results.queues.to_dicts()}
    both = queues["r1->r2"]["arrivals"] + queues["r2->r1"]["arrivals"]
    assert packets["bottleneck"] == both
    assert packets["r2->r1"] == queues["r2->r1"]["arrivals"]
    # A second call takes the run over with its files, and a reader finds them too.
    again = dumbbell.run(SEEN, out=tmp_path)
    assert again.captures(0) == files
    assert dumbbell.Results.load(tmp_path).captures(0) == files


def test_snaplen(tmp_path: Path) -> None:
    scenario = SEEN.with_changes({"capture": {"at": ["sender"], "snaplen": "60 bytes"}})
    path = dumbbell.run(scenario, out=tmp_path).captures(0)["sender"]
    frames = [struct.unpack_from("<II", body, 12) for kind, body in blocks(path) if kind == 6]
    assert max(captured for captured, _ in frames) == 60
    assert max(length for _, length in frames) == 1500


def test_captures_need_a_place() -> None:
    with pytest.raises(DumbbellError, match="capture: captures need a directory"):
        dumbbell.run(SEEN)


@pytest.mark.parametrize(
    ("capture", "message"),
    [
        (["sendr"], "capture.at.0: unknown point 'sendr': did you mean 'sender'"),
        (["sender", "sender"], "capture.at.1: 'sender' is given twice"),
        ("sender", "capture"),
        ({"at": ["sender"], "snaplen": "0 bytes"}, "capture.snaplen"),
        ({"at": ["sender"], "snaplen": 100}, "capture.snaplen"),
    ],
)
def test_errors_name_the_place(capture: object, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        SEEN.with_changes({"capture": capture})
    assert message in str(caught.value)


def test_a_custom_network_has_no_bottleneck_by_name() -> None:
    text = """
    name = "custom"
    duration = "1 s"
    capture = ["bottleneck"]
    flows = [{name = "f", variant = "reno", from = "a", to = "b"}]
    [network]
    topology = "custom"
    nodes = ["a", "b"]
    links = [{from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms"}]
    """
    with pytest.raises(ScenarioError, match="no bottleneck by name: name one of its links: a->b, b->a"):
        Scenario.from_toml(text)
