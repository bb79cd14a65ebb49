"""Real captures compared with the output of tshark and capinfos 4.0 (validation/tshark), stored and made anew."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import against
from required import require, require_programs

DATA = Path(__file__).parents[1] / "data" / "tshark"
CAPTURES = sorted(p for p in DATA.iterdir() if p.name.endswith(".pcap.gz"))


def tshark_4_0() -> bool:
    if shutil.which("tshark") is None or shutil.which("capinfos") is None:
        return False
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=False).stdout
    return " 4.0." in version.partition("\n")[0]


def test_the_stored_captures_exist() -> None:
    assert len(CAPTURES) >= 15
    labels = {label for path in CAPTURES for row in answer(path).frames.values() for label in row[1]}
    # Linux probes a closed window with an empty segment, for Wireshark a keep-alive: these two are missing.
    assert labels == set(against.LABELS) - {"zero_window_probe", "zero_window_probe_ack"}


def answer(path: Path) -> against.Answer:
    return against.Answer.load(path.with_name(f"{path.name}.json.gz"))


@pytest.mark.parametrize("path", CAPTURES, ids=lambda p: p.name.removesuffix(".pcap.gz"))
def test_every_label_and_table_is_wiresharks(path: Path) -> None:
    wrong, connections = against.differences(path, answer(path))
    assert wrong == []
    assert connections > 0


@pytest.mark.parametrize("path", CAPTURES[:3], ids=lambda p: p.name.removesuffix(".pcap.gz"))
def test_the_stored_answers_are_tsharks(path: Path) -> None:
    require_programs("tshark")
    require("programs", None if tshark_4_0() else "needs tshark 4.0, whose answers are stored")
    assert against.by_tools(path) == answer(path)


def test_a_difference_is_found() -> None:
    path = CAPTURES[0]
    stored = answer(path)
    number, row = next((n, r) for n, r in stored.frames.items() if r[1])
    changed = against.Answer(
        {**stored.frames, number: (row[0], frozenset(), *row[2:])}, stored.lengths, stored.properties
    )
    wrong, _ = against.differences(path, changed)
    assert wrong[0].startswith(f"frame {number}: ")
