"""Programs of Rust are built with the features of the Python extension, so that Cargo compiles nothing twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def built(package: str) -> set[str]:
    """Return what Cargo compiles for a package, each crate with its version and features."""
    command = ["cargo", "tree", "--offline", "--package", package, "--edges", "normal,build"]
    command += ["--prefix", "none", "--format", "{p} {f}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.removesuffix(" (*)") for line in done.stdout.splitlines()}


@pytest.mark.parametrize("package", ["dumbbell-kernel", "dumbbell-sim"])
def test_programs_share_what_is_compiled_for_the_extension(package: str) -> None:
    found = built(package)
    assert any(line.startswith("serde_derive ") for line in found)
    assert found - built("dumbbell-py") == set()
