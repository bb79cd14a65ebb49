"""The progress bar: its numbers are readable in narrow terminals, whatever the name of the scenario."""

from __future__ import annotations

import io
import re
import sys

import pytest
from rich.console import Console

from dumbbell.cli import output

LONG = "A sweep of buffers and round-trip times [for three variants]"


def frames(monkeypatch: pytest.MonkeyPatch, width: int, name: str, done: int, of: int, **unit: str) -> list[str]:
    """Return the lines that a terminal of this width shows for a task."""
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, highlight=False, soft_wrap=True)
    monkeypatch.setattr(output, "stderr", lambda: console)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
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
