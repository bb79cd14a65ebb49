"""`dumbbell variant check`: an own variant in random conditions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario

Cli = Callable[..., Any]

GOOD = '''
class Mine:
    """Reno without slow start"""

    def __init__(self, setup, decrease=0.5):
        self.mss, self.cwnd, self.decrease = setup.mss, setup.initial_window, decrease

    def on_ack(self, ack):
        if ack.cwnd_limited and not ack.in_recovery:
            self.cwnd += self.mss * ack.acked / self.cwnd

    def on_congestion(self, event):
        self.cwnd = max(self.decrease * event.window, 2 * self.mss)
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(GOOD)
    return tmp_path


@pytest.mark.usefixtures("place")
def test_a_variant_without_mistakes_passes(cli: Cli) -> None:
    done = cli("variant", "check", "mine.py:Mine", "decrease=0.8", "--cases", "40", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["findings"] == []
    # The cases have losses, timeouts and marks.
    assert min(found["retransmitted_packets"], found["timeouts"], found["marks"]) > 0
    again = cli("variant", "check", "mine.py:Mine", "decrease=0.8", "--cases", "40", "--json")
    other = cli("variant", "check", "mine.py:Mine", "decrease=0.8", "--cases", "40", "--seed", "2", "--json")
    assert again.stdout == done.stdout != other.stdout
    done = cli("variant", "check", "mine.py:Mine", "--cases", "10")
    assert done.stdout.startswith("no error in 10 cases: ")


@pytest.mark.parametrize(
    ("line", "mistake", "error"),
    [
        (
            "        self.cwnd = max(",
            '        self.cwnd = float("nan") if event.kind == "timeout" else max(',
            "mine.py: after Mine.on_congestion: cwnd is NaN",
        ),
        ("        if ack.cwnd", "        1 / (not ack.in_recovery)\n        if ack.cwnd", "line 9, in Mine.on_ack"),
        ("            self.cwnd += ", "            self.cwnd -= 2 * ", "mine.py: after Mine.on_ack: cwnd is -"),
        ("    def on_ack", "    pacing_rate = 1\n\n    def on_ack", "nothing was delivered in "),
        (
            "            self.cwnd += ",
            "            import random; self.cwnd += random.random() * ",
            "two runs with the same seed differ",
        ),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("allow_code")
def test_a_mistake_is_found_with_a_scenario_that_shows_it(
    place: Path, cli: Cli, line: str, mistake: str, error: str
) -> None:
    (place / "mine.py").write_text(GOOD.replace(line, mistake))
    done = cli("variant", "check", "mine.py:Mine")
    assert (done.returncode, done.stderr) == (2, "")
    first, *rest = done.stdout.splitlines()
    assert first.startswith("error: ") and error in first, first
    # What follows is a scenario file.
    (place / "shown.toml").write_text("\n".join(text.removeprefix("  ") for text in rest))
    shown = Scenario.load(place / "shown.toml")
    assert shown.flows[0].variant is not None and shown.flows[0].variant.name == "mine.py:Mine"


@pytest.mark.usefixtures("allow_code")
def test_conditions_that_a_mistake_does_not_need_are_left_out(place: Path, cli: Cli) -> None:
    (place / "mine.py").write_text(
        GOOD.replace("        self.cwnd = max(", '        1 / (event.kind != "ecn")\n        self.cwnd = max(')
    )
    found = json.loads(cli("variant", "check", "mine.py:Mine", "--json").stdout)
    (finding,) = found["findings"]
    assert finding["error"] is True
    shown = Scenario.from_toml(finding["scenario"])
    bottleneck = shown.to_dict()["network"]["bottleneck"]
    assert bottleneck["queue"]["discipline"] == "codel" and "loss" not in bottleneck
    assert len(shown.flows) == 1


def test_a_window_without_a_limit_is_a_note(place: Path, cli: Cli) -> None:
    (place / "mine.py").write_text(
        GOOD.replace("        if ack.cwnd_limited and not ack.in_recovery:\n", "        if True:\n")
        .replace("self.mss * ack.acked / self.cwnd", "20 * ack.acked")
        .replace("self.cwnd = max(", "self.ssthresh = max(")
    )
    done = cli("variant", "check", "mine.py:Mine", "--cases", "20")
    assert done.returncode == 0
    assert done.stdout.startswith("note: a window of ") and "is there a limit?" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine.py:Mien"], "unknown class 'Mien': did you mean 'Mine'?"),
        (["mine.py:Mine", "decraese=3"], "unknown parameter 'decraese': did you mean 'decrease'?"),
        (["mine.py:Mine", "decrease"], "NAME=VALUE is needed"),
        (["nowhere.so"], "'nowhere.so' can't be read: No such file"),
        (["mine.py"], "not a library"),
    ],
)
@pytest.mark.usefixtures("place")
def test_what_cannot_be_tried_is_refused(cli: Cli, arguments: list[str], message: str) -> None:
    done = cli("variant", "check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
