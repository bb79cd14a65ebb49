"""Classification of congestion control: simulated transfers, captured at both ends."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import capture
from dumbbell.report.tables import read_table
from kernels import one_flow

ROOT = Path(__file__).resolve().parents[2]


def captured(folder: Path, variant: str = "reno", **changes: Any) -> dict[str, Path]:
    """Return the captures of a flow of 40 s at both ends."""
    given = one_flow(
        "classify", "40 s", rate="20 Mbit/s", limit="0.6 bdp",
        capture={"at": ["sender", "receiver"], "snaplen": "96 bytes"},
        flows=[{"name": "f", "variant": variant, "stack": "linux"}],
        network__access={"rate": "1 Gbit/s", "delay": "1 ms"},
    )  # fmt: skip
    return dumbbell.run(given, changes=changes, out=folder).captures(0)


@pytest.mark.parametrize(
    ("variant", "family", "sure"),
    [
        ("reno", "reno-like", False),
        ("cubic", "cubic", True),
        ("bbr1", "bbr1", True),
        ("htcp", "htcp", False),
        ("westwood", "westwood", False),
        ("veno", "veno", False),
        ("scalable", "scalable", False),
        ("illinois", "illinois", False),
    ],
)
def test_congestion_control_is_recognized(variant: str, family: str, sure: bool, tmp_path: Path) -> None:
    """From both ends a name with a confidence above 0.5 is right; those far above their threshold have one."""
    files = captured(tmp_path, variant)
    for place in ("sender", "receiver"):
        guess = capture.analyze(files[place]).classify.row(0, named=True)
        assert guess["family"] in (family, "unknown") or guess["confidence"] <= 0.5, (place, guess)
        assert guess["confidence"] > 0.5 or not sure, (place, guess)
        assert (guess["confidence"] == 0.0) == (guess["family"] == "unknown")
        assert "% of the trees for" in guess["evidence"]


def test_terminal(cli: Callable[..., Any], tmp_path: Path) -> None:
    done = cli("analyze", captured(tmp_path)["sender"], "--classify")
    assert done.returncode == 0, done.stderr
    for words in ("reno-like", "segments a round", "would empty the queue"):
        assert words in done.stdout, words
    done = cli("analyze", captured(tmp_path / "short", duration="300 ms")["sender"], "--classify")
    assert "no transfer is long enough" in done.stdout


def test_the_rounds_behind_a_guess_are_a_table(tmp_path: Path) -> None:
    rounds = capture.analyze(captured(tmp_path)["sender"]).rounds
    assert rounds.height > 300
    # A round lasts a round trip: 42 ms without a queue, 0.6 of that more at most (and the time of a burst).
    lengths = (rounds["end_ns"] - rounds["start_ns"]) / 1e6
    assert 42.0 <= float(lengths.median()) <= 42.0 * 1.6 + 2.4  # type: ignore[arg-type]


def bundled_thresholds() -> dict[str, float]:
    """Return the threshold of each family in the bundled forest; above 1 for a family that is never sure."""
    data = (ROOT / "crates/capture/src/flow/classify/forest.bin").read_bytes()
    found, at = {}, 8
    for _ in range(data[4]):
        name = data[at + 1 : at + 1 + data[at]]
        at += 1 + len(name)
        (found[name.decode()],) = struct.unpack_from("<f", data, at)
        at += 4
    return found


def test_each_sure_family_is_right_on_held_out_paths() -> None:
    """The table on the page is that of the bundled forest, and 95 % of each sure family's names are right."""
    rows = read_table(ROOT / "docs/data/classify/held-out-families.csv").rows
    thresholds = bundled_thresholds()
    named: dict[str, list[tuple[int, int]]] = {}
    for _, family, _, above, right, _, threshold in rows:
        if not threshold:
            assert family not in named
            continue
        assert float(threshold) == round(thresholds[family], 2)
        named.setdefault(family, []).append((int(above), int(right)))
    assert {family for family, least in thresholds.items() if least <= 1} == set(named)
    for family, counts in named.items():
        assert sum(above for above, _ in counts) >= 20, family
        for names, good in [(sum(n for n, _ in counts), sum(n for _, n in counts)), *counts]:
            # One wrong name of a back end is no evidence.
            assert good >= 0.95 * names or names - good <= 1, family
