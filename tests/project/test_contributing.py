"""CONTRIBUTING and crates/README.md are maps: they name everything that exists, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CRATES = sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))


def rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table whose first title is the heading."""
    table = text.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table]


def dependencies(crate: str, section: str) -> set[str]:
    """Return the project's crates that a section of a Cargo.toml names."""
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    return {name.removeprefix("dumbbell-") for name in manifest.get(section, {}) if name.startswith("dumbbell-")}


def test_every_crate_is_on_the_map() -> None:
    assert sorted(row[0].strip("`") for row in rows(PAGE, "crate")) == [f"crates/{crate}" for crate in CRATES]


def test_every_path_exists() -> None:
    found = set(re.findall(r"(?<![\w/.])(?:crates|python|tests|docs|validation|benches|examples)/[\w./-]*", PAGE))
    assert len(found) > 40
    for path in found:
        place = ROOT / path.rstrip(".").replace("NAME/mod.rs", "mod.rs")
        assert (place.parent if "NAME" in path else place).exists(), path


def test_every_command_is_a_target_of_make() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {row[0].strip("`").removeprefix("make ") for row in rows(PAGE, "command")}
    assert named == targets - {"help", "clean"}


def test_the_readme_of_the_crates_names_each_with_its_dependencies() -> None:
    table = {
        name.strip("`"): set(re.findall(r"`(\w+)`", allowed))
        for name, _, allowed in rows((ROOT / "crates" / "README.md").read_text(encoding="utf-8"), "crate")
    }
    assert sorted(table) == CRATES
    for crate, allowed in table.items():
        assert dependencies(crate, "dependencies") <= allowed, crate


@pytest.mark.parametrize("crate", CRATES)
def test_crates_have_no_circles_and_testkit_is_for_tests(crate: str) -> None:
    assert "testkit" not in dependencies(crate, "dependencies")
    reached, todo = set[str](), [crate]
    while todo:
        for name in dependencies(todo.pop(), "dependencies") - reached:
            reached.add(name)
            todo.append(name)
    assert crate not in reached
