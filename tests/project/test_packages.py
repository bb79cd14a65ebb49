"""The map of the Python packages names every package; each satellite has a README of ten lines or so, and tests."""

from __future__ import annotations

import re
from pathlib import Path

from dumbbell.satellites import satellites

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "dumbbell"
UNLISTED = {"__init__", "__main__"}


def test_the_map_names_every_package() -> None:
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| \[?`(\w+)`", text, re.MULTILINE))
    modules = {path.stem for path in PACKAGE.glob("*.py")} - UNLISTED
    assert listed == modules | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_each_satellite_has_a_readme_and_tests() -> None:
    assert len(satellites()) >= 5
    for name in satellites():
        assert len((PACKAGE / name / "README.md").read_text(encoding="utf-8").splitlines()) <= 14
        assert list((ROOT / "tests" / name).glob("test_*.py"))


def test_the_tests_of_a_package_run_alone() -> None:
    """They import no test file of another folder; what they share is in ``tests/support``."""
    for file in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^from (test_\w+) import", file.read_text(encoding="utf-8"), re.MULTILINE):
            assert file.with_name(f"{name}.py").exists(), f"{file.relative_to(ROOT)} imports {name}"
