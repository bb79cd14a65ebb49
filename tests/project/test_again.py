"""The whole check repeats failed tests once, alone: it names the unstable ones, and hides no failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import conftest
import pytest

pytestmark = pytest.mark.slow

AGAIN = Path(__file__).parents[1] / "support" / "again.py"
PYTEST = Path(sys.executable).parent / "pytest"
TESTS = """
from pathlib import Path

def test_passes():
    Path("passes").open("a").write("x")

def test_unstable():
    made = Path("made").exists()
    Path("made").touch()
    assert made
"""
FAILS = """
def test_fails():
    assert False
"""
CARGO = """#!/bin/sh
echo "$*" >> calls
case "$*" in *--exact*|*--doc*) exit 0;; esac
cat << 'EOF'
{output}
EOF
exit 101
"""
ALL = "-p crate --test all"
TARGET = """
---- a::fails stdout ----
failures:
    not a test

failures:
    a::fails
    b::fails

test result: FAILED. 3 passed; 2 failed

error: test failed, to rerun pass `-p crate --test all`
"""
DOC = """
failures:
    src/lib.rs - f (line 1)

test result: FAILED. 0 passed; 1 failed

error: doctest failed, to rerun pass `-p crate --doc`
"""
DIED = """
running 3 tests
error: test failed, to rerun pass `-p crate --lib`

Caused by:
  process didn't exit successfully (signal: 11, SIGSEGV: invalid memory reference)
"""


def again(folder: Path, *command: str | Path) -> tuple[int, list[str]]:
    """Return the exit code and the notes."""
    call = [sys.executable, AGAIN, "notes", *command]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    notes = folder / "notes"
    return done.returncode, notes.read_text().splitlines() if notes.exists() else []


@pytest.mark.parametrize(
    ("tests", "expected"),
    [(TESTS, (0, ["test_it.py::test_unstable"])), (TESTS + FAILS, (1, [])), (TESTS + "1 / 0\n", (2, []))],
    ids=["unstable", "fails", "not collected"],
)
def test_of_python(tmp_path: Path, tests: str, expected: tuple[int, list[str]]) -> None:
    (tmp_path / "test_it.py").write_text(tests)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert again(tmp_path, PYTEST) == expected
    assert "1 / 0" in tests or (tmp_path / "passes").read_text() == "x"


@pytest.mark.parametrize(
    ("output", "expected", "calls"),
    [
        (
            TARGET + DOC,
            (0, [f"{ALL}: a::fails", f"{ALL}: b::fails", "-p crate --doc: src/lib.rs - f (line 1)"]),
            [f"test {ALL} -- --exact --include-ignored --test-threads 1 a::fails b::fails", "test -p crate --doc"],
        ),
        (TARGET + DIED, (101, []), []),
        ("error: could not compile", (101, []), []),
    ],
    ids=["unstable", "died", "not built"],
)
def test_of_rust(tmp_path: Path, output: str, expected: tuple[int, list[str]], calls: list[str]) -> None:
    cargo = tmp_path / "cargo"
    cargo.write_text(CARGO.replace("{output}", output))
    cargo.chmod(0o755)
    assert again(tmp_path, cargo, "test", "--workspace") == expected
    assert (tmp_path / "calls").read_text().splitlines() == ["test --no-fail-fast --workspace", *calls]


def test_tests_that_pytest_repeats_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUMBBELL_UNSTABLE_TESTS", str(tmp_path / "notes"))
    for outcome in ("passed", "rerun", "failed"):
        report: Any = SimpleNamespace(outcome=outcome, nodeid=f"test_it.py::{outcome}")
        conftest.pytest_runtest_logreport(report)
    assert (tmp_path / "notes").read_text() == "test_it.py::rerun\n"
