"""The README's claim: one scenario, one table, from the simulator and from Linux in virtual time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@cache
def printed(*options: str) -> list[str]:
    """Run the command and return the lines that it prints, without white space at their ends."""
    command = [sys.executable, "-m", "dumbbell", "run", "examples/linux.toml", *options]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_the_readme_shows_the_table_of_the_simulator() -> None:
    (block,) = re.findall(r"^```text\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    table = block.rstrip("\n").splitlines()
    assert len(table) == 7
    start = printed().index(table[0])
    assert printed()[start : start + len(table)] == table


@pytest.mark.usefixtures("require_uml")
def test_linux_prints_the_same_tables() -> None:
    # Flows and queues, every digit that is shown.
    assert sum(bool(re.match(r" (reno|cubic|westwood|htcp|veno) ", line)) for line in printed()) == 10
    assert printed("--backend", "uml") == printed()
