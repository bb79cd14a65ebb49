"""Counted things have the singular for one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import dumbbell
from dumbbell.cli import app
from dumbbell.common.words import counted
from kernels import one_flow
from required import require_packages


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), ("1", "1 run"), ("5 to 10", "5 to 10 runs")]
)
def test_only_one_is_singular(number: int | str, text: str) -> None:
    assert counted(number, "run") == text


@pytest.mark.slow
def test_one_run_is_singular_everywhere(tmp_path: Path) -> None:
    require_packages("matplotlib", "jinja2")
    one = one_flow("one", "1 s", rate="10 Mbit/s", limit="100 packets", capture=["sender"])
    results = dumbbell.run(one, out=tmp_path / "out", jobs=1)
    assert "1 run, 1 cell, 1 warning" in repr(results)
    texts = []
    for form in ("html", "md"):
        written = tmp_path / f"report.{form}"
        done = CliRunner().invoke(app, ["report", str(tmp_path / "out"), "--out", str(written)])
        assert done.exit_code == 0, done.output
        texts.append(written.read_text(encoding="utf-8"))
    assert "1 cell \N{MULTIPLICATION SIGN} 1 repetition of 1 s" in texts[0]
    assert "1 cell x 1 repetition of 1 s" in texts[1]
    (capture,) = (tmp_path / "out").rglob("*.pcap*")
    texts.append(CliRunner().invoke(app, ["analyze", str(capture)]).stdout)
    assert "1 TCP connection, 0 UDP conversations." in texts[2]
    for text in texts:
        for wrong in ("1 runs", "1 cells", "1 repetitions", "1 TCP connections"):
            assert f" {wrong}" not in text


def test_a_percentage_has_a_space_everywhere() -> None:
    package = Path(dumbbell.__file__).parent
    for path in package.rglob("*.py"):
        assert not re.search(r":\.\d%\}", path.read_text(encoding="utf-8")), f"{path.name}: write {{100 * x:.0f}} %"
