"""The progress bar: its numbers are readable in narrow terminals, whatever the name of the scenario."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from dumbbell.cli import output
from dumbbell.common import activity
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host import host_kernel

LONG = "A sweep of buffers and round-trip times [for three variants]"


def terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> io.StringIO:
    """Give the command line a terminal of this width; return what it shows."""
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, highlight=False, soft_wrap=True)
    monkeypatch.setattr(output, "stderr", lambda: console)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    return screen


def frames(monkeypatch: pytest.MonkeyPatch, width: int, name: str, done: int, of: int, **unit: str) -> list[str]:
    """Return the lines that a terminal of this width shows for a task."""
    screen = terminal(monkeypatch, width)
    with output.progress(name, **unit) as moved:  # type: ignore[arg-type]
        moved(0, of)
        moved(done, of)
    plain = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", screen.getvalue())
    return [line.rstrip() for line in re.split(r"[\r\n]", plain) if line.strip()]


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", ["first", LONG])
def test_the_count_and_the_time_are_whole(monkeypatch: pytest.MonkeyPatch, width: int, name: str) -> None:
    last = frames(monkeypatch, width, name, 1200, 1440)[-1]
    assert len(last) <= width
    assert re.search(r"━+\S* +1200/1440 [-\d]:[-\d]{2}:[-\d]{2} left$", last)
    begin = last.split("━")[0].strip().removesuffix("…")
    assert name.startswith(begin)
    assert len(begin) >= min(len(name), width // 10)


def test_a_download_shows_its_size_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    last = frames(monkeypatch, 40, "linux-6.12.63.tar.xz", 100_200_000, 148_800_000, unit="bytes")[-1]
    assert len(last) <= 40
    assert re.search(r"100\.2/148\.8 MB [-\d]:[-\d]{2}:[-\d]{2} left$", last)


def test_the_activity_before_a_run_is_beside_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch, 100)
    with output.progress("first") as moved:
        moved(0, 2)
        activity.report("calibrating, 3 of 200 paths")
        moved(0, 2)
        activity.report("")
        moved(1, 2)
    shown = screen.getvalue()
    assert "first: calibrating, 3 of 200 paths" in shown
    assert "calibrating" not in shown[shown.rindex("first") :]
    activity.report("nobody listens")  # outside of a bar


class _Process:
    """A process that ends after some looks at it."""

    def __init__(self, looks: list[str], file: Path) -> None:
        self.looks, self.file = looks, file

    def wait(self, timeout: float) -> int:
        if not self.looks:
            return 0
        self.file.write_text(self.looks.pop(0))
        raise subprocess.TimeoutExpired("run", timeout)


@pytest.mark.parametrize(
    ("looks", "reported"),
    [
        (
            ["0 200", "0 200", "120 200", "200 200"],
            ["calibrating, 0 of 200 paths", "calibrating, 120 of 200 paths", ""],
        ),
        ([""], []),
    ],
)
def test_the_paths_that_are_measured_are_reported(looks: list[str], reported: list[str], tmp_path: Path) -> None:
    heard: list[str] = []
    with activity.heard(heard.append):
        host_kernel._wait(_Process(looks, tmp_path / "progress"), tmp_path / "progress", 1.0)  # type: ignore[arg-type]
    assert heard == reported


def test_a_run_is_given_up_only_without_progress(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With many paths the calibration alone may take longer than a minute."""
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    moving = [f"{n} 20" for n in range(21)]
    host_kernel._wait(_Process(moving, tmp_path / "progress"), tmp_path / "progress", 1.0)  # type: ignore[arg-type]
    stuck = ["1 20"] * 10
    with pytest.raises(BackendError, match=r"the run of 1 s wasn't done after 61 s"):
        host_kernel._wait(_Process(stuck, tmp_path / "progress"), tmp_path / "progress", 1.0)  # type: ignore[arg-type]
